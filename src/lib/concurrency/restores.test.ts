import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Restores } from './restores.ts'

const nothing = (): void => undefined

test('work that began before a restore of the database is outdated after the restore, and later work is not', async () => {
  const restores = new Restores()
  const { promise: restored, resolve } = Promise.withResolvers<void>()
  const early = restores.begin(async () => {
    assert.equal(restores.isOutdated, false)
    await restored
    return restores.isOutdated
  })
  await restores.restore(nothing)
  resolve()
  assert.equal(await early, true)
  assert.equal(await restores.begin(() => restores.isOutdated), false)
  // Work that begins inside other work gets its own fencing token.
  assert.equal(await restores.begin(() => restores.begin(() => restores.isOutdated)), false)
  assert.equal(restores.isOutdated, false)
})

test('Restores.current returns the instance of the current server, and code outside of `begin` does not count as work', async () => {
  const [one, other] = [new Restores(), new Restores()]
  assert.equal(Restores.current(), undefined)
  await one.within(async () => {
    assert.equal(Restores.current(), one)
    await other.within(async () => assert.equal(Restores.current(), other))
    await turn()
    assert.equal(Restores.current(), one)
    await one.restore(nothing)
    assert.equal(one.isOutdated, false)
    assert.equal(Restores.isWorking(), false)
    await one.begin(() => assert.equal(Restores.isWorking(), true))
  })
})

test('a restore waits until all listeners have caught up, including listeners that are added during the restore', async () => {
  const restores = new Restores()
  const calls: string[] = []
  let tries = 0
  const ending = restores.follow({
    latest: async () => {
      calls.push('ending')
      throw new Error('its resource is gone')
    },
  })
  restores.follow({
    latest: async () => {
      calls.push('slow')
      if (++tries === 1) throw new Error('not yet')
    },
  })
  restores.follow({
    changesFollowers: true,
    latest: async () => {
      calls.push('kinds')
      ending[Symbol.dispose]()
      restores.follow({ latest: async () => void calls.push('new') })
    },
  })
  await restores.restore(() => void calls.push('write'))
  assert.deepEqual(calls, ['write', 'kinds', 'slow', 'new', 'slow'])
})

test('a restore of the database fails if a listener cannot catch up, and work then continues', async () => {
  const restores = new Restores()
  const following = restores.follow({ latest: () => Promise.reject(new Error('never')) })
  await assert.rejects(restores.restore(nothing), { message: 'never' })
  assert.equal(await restores.begin(() => restores.isOutdated), false)
  following[Symbol.dispose]()
  await restores.restore(nothing)
})

test('restores of the database run one after another, and work waits for them', async () => {
  const restores = new Restores()
  const order: string[] = []
  restores.follow({
    latest: async () => {
      await turn()
      order.push('followed')
    },
  })
  const first = restores.restore(() => void order.push('first'))
  const second = restores.restore(() => void order.push('second'))
  await restores.begin(() => void order.push('work'))
  await Promise.all([first, second])
  assert.deepEqual(order, ['first', 'followed', 'second', 'followed', 'work'])
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Restores } from './restores.ts'
import { WorkQueue } from './work-queue.ts'

const silent = (): void => undefined

test('a key whose processing fails is logged and retried until it succeeds', async () => {
  const logged: string[] = []
  let tries = 0
  const { promise: done, resolve } = Promise.withResolvers<void>()
  await using queue = new WorkQueue({
    name: 'the work',
    workersMax: 1,
    work: async () => {
      if (++tries < 3) throw new Error(`try ${tries}`)
      resolve()
      return undefined
    },
    log: (_, message, fields) => logged.push(`${message} ${String(fields?.['error'])}`),
  })
  queue.add('a')
  await done
  assert.deepEqual(logged, [
    'the work failed; retrying Error: try 1',
    'the work failed; retrying Error: try 2',
  ])
})

test('the number of keys that are processed concurrently is limited, and a key is never processed twice at the same time', async () => {
  const running: string[] = []
  const finished: string[] = []
  let most = 0
  await using queue = new WorkQueue({
    name: 'the work',
    workersMax: 2,
    work: async (key) => {
      assert.ok(!running.includes(key))
      running.push(key)
      most = Math.max(most, running.length)
      await sleep(1)
      running.splice(running.indexOf(key), 1)
      finished.push(key)
      return undefined
    },
    log: silent,
  })
  for (const key of ['a', 'a', 'b', 'c', 'a', 'd']) queue.add(key)
  while (finished.length < 5) await sleep(1)
  await sleep(5)
  assert.equal(most, 2)
  assert.deepEqual(finished.toSorted(), ['a', 'a', 'b', 'c', 'd'])
})

test('a key that is dropped from the queue is not processed, and its timer is removed', async () => {
  const begun: string[] = []
  const { promise: end, resolve } = Promise.withResolvers<undefined>()
  const work = (key: string): Promise<undefined> => (begun.push(key), end)
  await using queue = new WorkQueue({ name: 'the work', workersMax: 1, work, log: silent })
  for (const key of ['runs', 'waits', 'next']) queue.add(key)
  queue.addAfter('later', 1_000_000)
  assert.equal(queue.size, 4)
  for (const key of ['waits', 'later', 'unknown']) queue.drop(key)
  assert.equal(queue.size, 2)
  resolve(undefined)
  while (queue.size > 0) await sleep(1)
  assert.deepEqual(begun, ['runs', 'next'])
})

test('a key whose processing is incomplete is processed again, but not after the queue is disposed of', async () => {
  let looks = 0
  const queue = new WorkQueue({
    name: 'the work',
    workersMax: 1,
    work: async () => (looks++, 1),
    log: silent,
  })
  queue.add('a')
  while (looks < 3) await sleep(1)
  await queue[Symbol.asyncDispose]()
  const seen = looks
  await sleep(5)
  assert.equal(looks, seen)
})

test('a key whose processing overlaps a restore of the database is processed again, and its failure is not logged', async () => {
  const restores = new Restores()
  const [begun, restored, done] = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
  assert.ok(begun !== undefined && restored !== undefined && done !== undefined)
  const runs: string[] = []
  const work = async (key: string): Promise<undefined> => {
    if (runs.push(key) > 2) {
      if (runs.length === 4) done.resolve()
      assert.equal(restores.isOutdated, false)
      return
    }
    if (runs.length === 2) begun.resolve()
    await restored.promise
    assert.equal(restores.isOutdated, true)
    if (key === 'fails') throw new Error('its write was refused')
  }
  const log = (): void => void runs.push('a log line')
  await using queue = restores.within(
    () => new WorkQueue({ name: 'the work', workersMax: 2, work, log }),
  )
  queue.add('fails')
  queue.add('ends')
  await begun.promise
  await restores.restore(() => undefined)
  restored.resolve()
  await done.promise
  assert.deepEqual(runs.toSorted(), ['ends', 'ends', 'fails', 'fails'])
})

test('a key that is added while it is being processed is processed again after all waiting keys', async () => {
  const begun: string[] = []
  await using queue = new WorkQueue({
    name: 'the work',
    workersMax: 1,
    work: async (key) => {
      const isFirst = begun.push(key) === 1
      await sleep(1)
      if (isFirst) for (const again of ['a', 'a', 'c']) queue.add(again)
      return undefined
    },
    log: silent,
  })
  queue.add('a')
  queue.add('b')
  while (queue.size > 0) await sleep(1)
  assert.deepEqual(begun, ['a', 'b', 'c', 'a'])
})

test('the time to process keys is proportional to their number', async () => {
  const count = 100_000
  const { promise: done, resolve } = Promise.withResolvers<void>()
  let processed = 0
  await using queue = new WorkQueue({
    name: 'the work',
    workersMax: 20,
    work: async () => {
      if (++processed === count) resolve()
      return undefined
    },
    log: silent,
  })
  const startCpu = process.threadCpuUsage()
  for (let at = 0; at < count; at++) queue.add(`key-${at}`)
  await done
  const { user: userMicros } = process.threadCpuUsage(startCpu)
  assert.ok(userMicros < 1_500_000, `${userMicros} µs`)
})

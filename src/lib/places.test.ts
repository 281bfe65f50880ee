import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Places } from './places.ts'

test('no more run at once than there are places, in the order of coming, and failures give theirs back', async () => {
  const places = new Places(2)
  const ends: (() => void)[] = []
  const began: number[] = []
  const work = (at: number) => async (): Promise<number> => {
    began.push(at)
    await new Promise<void>((resolve) => ends.push(resolve))
    if (at === 1) throw new Error('failed')
    return at
  }
  const all = Promise.allSettled(Array.from({ length: 5 }, (_, at) => places.run(work(at))))
  assert.deepEqual([began, places.waiting], [[0, 1], 3])
  for (let at = 0; at < 5; at++) {
    ends[at]?.()
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(began.length, Math.min(5, at + 3))
  }
  assert.deepEqual(
    (await all).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
  )
  assert.deepEqual(began, [0, 1, 2, 3, 4])
})

test('who is aborted leaves the line, and nobody waits for him', async () => {
  const places = new Places(1)
  const first = Promise.withResolvers<void>()
  const running = places.run(() => first.promise)
  const leaving = new AbortController()
  const gone = places.run(async () => assert.fail('it was aborted'), leaving.signal)
  const last = places.run(async () => 'served', new AbortController().signal)
  assert.equal(places.waiting, 2)
  leaving.abort(new Error('gone'))
  await assert.rejects(gone, /gone/)
  assert.equal(places.waiting, 1)
  first.resolve()
  await running
  assert.equal(await last, 'served')
  await assert.rejects(
    places.run(async () => undefined, leaving.signal),
    /gone/,
  )
  assert.equal(await places.run(async () => 'free'), 'free')
})

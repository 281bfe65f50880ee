import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Semaphore } from './semaphore.ts'

test('calls run in the order of arrival, at most one per permit, and a failed call releases its permit', async () => {
  const semaphore = new Semaphore(2)
  const ends: (() => void)[] = []
  const began: number[] = []
  const work = (at: number) => async (): Promise<number> => {
    began.push(at)
    await new Promise<void>((resolve) => ends.push(resolve))
    if (at === 1) throw new Error('failed')
    return at
  }
  const all = Promise.allSettled(Array.from({ length: 5 }, (_, at) => semaphore.run(work(at))))
  assert.deepEqual([began, semaphore.waiting], [[0, 1], 3])
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

test('an aborted caller leaves the queue and does not delay others', async () => {
  const semaphore = new Semaphore(1)
  const first = Promise.withResolvers<void>()
  const running = semaphore.run(() => first.promise)
  const leaving = new AbortController()
  const gone = semaphore.run(async () => assert.fail('it was aborted'), leaving.signal)
  const last = semaphore.run(async () => 'served', new AbortController().signal)
  assert.equal(semaphore.waiting, 2)
  leaving.abort(new Error('gone'))
  await assert.rejects(gone, /gone/)
  assert.equal(semaphore.waiting, 1)
  first.resolve()
  await running
  assert.equal(await last, 'served')
  await assert.rejects(
    semaphore.run(async () => undefined, leaving.signal),
    /gone/,
  )
  assert.equal(await semaphore.run(async () => 'free'), 'free')
})

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

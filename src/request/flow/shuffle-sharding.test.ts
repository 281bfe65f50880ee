import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { handOf, hashOfFlow } from './shuffle-sharding.ts'

test('the hand of a flow consists of distinct queues, and the hands of many flows together contain every queue', () => {
  for (const [queues, handSize] of [
    [64, 6],
    [128, 6],
    [16, 4],
    [8, 8],
    [1, 1],
  ] as const) {
    const dealt = new Set<number>()
    for (let flow = 0; flow < 500; flow++) {
      const hand = handOf(hashOfFlow('schema', `user-${flow}`), { queues, handSize })
      assert.equal(new Set(hand.queues).size, handSize)
      for (const queue of hand.queues) {
        assert.ok(queue >= 0 && queue < queues)
        dealt.add(queue)
      }
    }
    assert.equal(dealt.size, queues)
  }
})

test('the cards of a hand, which are queues, are drawn one by one from the remaining cards', () => {
  // The first card is at position 12 % 5 = 2 of 0, 1, 2, 3, 4, so it is 2. The quotient of 12 and 5
  // is 2. The second card is therefore at position 2 of 0, 1, 3, 4, so it is 3. The third card is
  // at position 0 of 0, 1, 4, so it is 0.
  assert.deepEqual(handOf(12n, { queues: 5, handSize: 3 }).queues, [2, 3, 0])
  assert.deepEqual(handOf(0n, { queues: 5, handSize: 3 }).queues, [0, 1, 2])
})

test('flows with different flow schemas or distinguishers have different hashes', () => {
  assert.notEqual(hashOfFlow('a', 'bc'), hashOfFlow('ab', 'c'))
  assert.equal(
    hashOfFlow('a', 'b'),
    createHash('sha256').update('a\0b').digest().readBigUInt64LE(0),
  )
})

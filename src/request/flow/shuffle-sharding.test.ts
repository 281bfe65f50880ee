import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { handOf, hashOfFlow } from './shuffle-sharding.ts'

test('a hand has distinct queues, and all hands together cover the deck', () => {
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

test('cards are dealt from what is left of the deck', () => {
  // 12 is 2 + 5 * 2. So position 2 of 5 comes first, then position 2 of 0, 1, 3, 4, which is 3,
  // then position 0 of 0, 1, 4.
  assert.deepEqual(handOf(12n, { queues: 5, handSize: 3 }).queues, [2, 3, 0])
  assert.deepEqual(handOf(0n, { queues: 5, handSize: 3 }).queues, [0, 1, 2])
})

test('schema and distinguisher identify a flow', () => {
  assert.notEqual(hashOfFlow('a', 'bc'), hashOfFlow('ab', 'c'))
  assert.equal(
    hashOfFlow('a', 'b'),
    createHash('sha256').update('a\0b').digest().readBigUInt64LE(0),
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldBytes } from '../../../test/support/harness/held-bytes.ts'
import { RefusedLists } from './refused-lists.ts'

test('the amount of memory that a refused list would need is remembered for a few seconds', () => {
  let nowMs = 0
  const refused = new RefusedLists({ monotonicMs: () => nowMs })
  const range = { from: '/registry/configmaps/', to: '/registry/configmaps0' }
  assert.equal(refused.needs(range, 0), 0)
  refused.refuse(range, 0, 30)
  refused.refuse(range, 0, 40)
  // If several concurrent lists are refused, only the largest amount of memory is recorded.
  refused.refuse(range, 0, 20)
  assert.equal(refused.needs(range, 0), 40)
  assert.equal(refused.needs(range, 5), 0, 'a page of it may fit')
  assert.equal(refused.needs({ ...range, from: '/registry/configmaps/default/' }, 0), 0)
  nowMs = 6_000
  assert.equal(refused.needs(range, 0), 0, 'the list is tried again')
})

test('the record of a refused list with a long start key takes no more memory than other records', async () => {
  const refused = new RefusedLists({ monotonicMs: () => 0 })
  const held = await heldBytes(() => {
    for (let at = 0; at < 20; at++) {
      const from = `/registry/configmaps/${at}${Buffer.alloc(1 << 20, 'a').toString('latin1')}`
      refused.refuse({ from, to: '/registry/configmaps0' }, 0, 30)
      assert.equal(refused.needs({ from, to: '/registry/configmaps0' }, 0), 30)
    }
  })
  assert.ok(held < 5 << 20, `${held} bytes are held`)
})

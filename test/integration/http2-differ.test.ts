/**
 * Ours and nghttp2 on the same frames, from fixed seeds. `node test/chaos/hostile/http2-differ.ts
 * --minutes N` goes on for longer.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { differ } from '../chaos/hostile/http2-differ/differ.ts'

test('the same verdict on right and wrong frames', { timeout: 300_000 }, async () => {
  const { passed, failures } = await differ(20_261_115, { count: 60 })
  assert.deepEqual(failures, [])
  assert.equal(passed, 60)
})

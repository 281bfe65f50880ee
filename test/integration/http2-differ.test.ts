/**
 * Sends the same frames, generated from a fixed seed, to our server and to nghttp2 and compares the
 * reactions. `node test/chaos/hostile/http2-differ.ts --minutes N` runs longer.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { differ } from '../chaos/hostile/http2-differ/differ.ts'

test('our HTTP/2 server and nghttp2 respond in the same way to valid and invalid frames', {
  timeout: 300_000,
}, async () => {
  const { passed, failures } = await differ(20_261_115, { count: 60 })
  assert.deepEqual(failures, [])
  assert.equal(passed, 60)
})

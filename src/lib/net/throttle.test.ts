import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { throttle } from './throttle.ts'

test('a throttled stream passes on all bytes in order, and not faster than the rate limit', async () => {
  const sent = Buffer.from(Array.from({ length: 2500 }, (_, at) => at % 251))
  const slow = throttle(5_000)
  const startMs = performance.now()
  const received = buffer(slow)
  slow.write(sent.subarray(0, 700))
  slow.end(sent.subarray(700))
  assert.deepEqual(await received, sent)
  // The stream passes on the data for a tenth of a second without a delay.
  assert.ok(performance.now() - startMs >= 390, `${performance.now() - startMs} ms`)
})

test('a throttled stream closes without waiting when it is destroyed', async () => {
  const slow = throttle(1)
  slow.on('error', () => undefined)
  slow.write(Buffer.alloc(10))
  slow.resume()
  slow.destroy()
  await new Promise((resolve) => slow.on('close', resolve))
  assert.ok(slow.destroyed)
})

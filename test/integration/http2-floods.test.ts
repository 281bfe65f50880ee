/** Floods of frames that cost their sender nothing: each ends its own connection, and costs the server and others little. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Handler } from '../../src/api/request.ts'
import { measureFootprint } from '../harness/leaks.ts'
import { END_HEADERS, FRAME, frame, headers, RawHttp2, request } from '../harness/raw-http2.ts'
import { startListener } from './listener-under-attack.ts'

const ENHANCE_YOUR_CALM = 11
const never: Handler = () => new Promise(() => undefined)
const readsBody: Handler = async (call) => {
  await call.body().catch(() => undefined)
  return never(call)
}

describe('DATA', () => {
  test('a body in frames of one byte takes about as much memory as the body', async () => {
    const BODY_BYTES = 200_000
    const GROWTH_BYTES_MAX = 4_000_000
    await using server = await startListener(readsBody, { controlsBurst: 2 * BODY_BYTES })
    using client = await RawHttp2.open(server.port)
    await client.send(headers(1, request('POST', '/'), END_HEADERS))
    const before = measureFootprint()
    const batch = Buffer.concat(Array.from({ length: 1000 }, () => frame(FRAME.DATA, 0, 1, Buffer.from('a'))))
    for (let sent = 0; sent < BODY_BYTES; sent += 1000) await client.send(batch)
    // Its window was opened again: the bytes have come.
    assert.ok(await client.until(({ type, stream }) => type === FRAME.WINDOW_UPDATE && stream === 1))
    const grownBytes = measureFootprint().memoryBytes - before.memoryBytes
    assert.ok(grownBytes < GROWTH_BYTES_MAX, `${grownBytes} bytes for a body of ${BODY_BYTES}`)
  })

  test('a flood of frames of one byte ends its connection', async () => {
    await using server = await startListener(readsBody)
    using client = await RawHttp2.open(server.port)
    await client.send(headers(1, request('POST', '/'), END_HEADERS))
    for (let round = 0; round < 3000 && !client.isOver; round += 100) {
      await client.send(...Array.from({ length: 100 }, () => frame(FRAME.DATA, 0, 1, Buffer.from('a'))))
    }
    assert.equal(await client.goawayCode(), ENHANCE_YOUR_CALM)
    assert.deepEqual(server.connectionErrors, ['ENHANCE_YOUR_CALM too many small DATA frames'])
  })
})

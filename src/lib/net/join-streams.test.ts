import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { portOf } from '../../../test/support/harness/port-of.ts'
import { until } from '../../../test/support/harness/until.ts'
import { join } from './join-streams.ts'

/** A connection, as the pair of its two ends. */
async function pair(): Promise<{ near: Socket; far: Socket } & Disposable> {
  const listener = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const accepted = once(listener, 'connection')
  const far = connect(portOf(listener), '127.0.0.1')
  const [near]: Socket[] = await accepted
  assert.ok(near)
  for (const one of [near, far]) one.on('error', () => undefined)
  listener.close()
  return {
    near,
    far,
    [Symbol.dispose]() {
      near.destroy()
      far.destroy()
    },
  }
}

for (const [how, bytesPerSecond] of [
  ['a rate', 500_000],
  ['no limit', 0],
] as const) {
  test(`joined streams with ${how}: data that one end sent before it closed reaches the other end, which then closes`, async () => {
    using client = await pair()
    using server = await pair()
    join(client.near, server.near, bytesPerSecond)
    let got = 0
    client.far.on('data', (chunk: Buffer) => (got += chunk.length))
    server.far.end(Buffer.alloc(250_000))
    server.far.resume()
    await once(client.far, 'close')
    assert.equal(got, 250_000)
    await until(() => client.near.destroyed && server.near.destroyed, 'both are closed')
  })

  test(`joined streams with ${how}: a reset of one end closes the other end`, async () => {
    using client = await pair()
    using server = await pair()
    join(client.near, server.near, bytesPerSecond)
    client.far.resume()
    server.far.resetAndDestroy()
    await once(client.far, 'close')
  })
}

test('joined streams copy data in both directions, and an end that has sent everything can still receive', async () => {
  using client = await pair()
  using server = await pair()
  join(client.near, server.near, 0)
  server.far.pipe(server.far)
  client.far.end('hello')
  let got = ''
  for await (const chunk of client.far) got += String(chunk)
  assert.equal(got, 'hello')
})

test('if one of two joined streams is already closed, the other one is closed', async () => {
  using client = await pair()
  using server = await pair()
  server.near.destroy()
  join(client.near, server.near, 0)
  client.far.resume()
  await once(client.far, 'close')
})

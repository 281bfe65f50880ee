import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { TLSSocket } from 'node:tls'
import { IDLE_MS, TlsAgent } from './tls-agent.ts'

test('a connection that was opened to detect the protocol is not used after its idle timeout has expired', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const [first, next] = [new TLSSocket(new Socket()), new TLSSocket(new Socket())]
  const agent = new TlsAgent(async () => next)
  agent.offer(first)
  context.mock.timers.tick(IDLE_MS)
  assert.ok(first.destroyed)
  // The `close` event is emitted in a later tick of the event loop.
  const { promise, resolve } = Promise.withResolvers<unknown>()
  agent.createConnection({}, (_error, stream) => resolve(stream))
  assert.equal(await promise, next)
  next.destroy()
})

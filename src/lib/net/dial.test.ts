import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { text } from 'node:stream/consumers'
import { dialDirect } from './dial.ts'

test('a signal aborts a connection attempt, but not an open connection', async () => {
  const server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const { port } = address
  const controller = new AbortController()
  const socket = await dialDirect('127.0.0.1', port, controller.signal)
  controller.abort()
  socket.end('still here')
  assert.equal(await text(socket), 'still here')
  await assert.rejects(dialDirect('127.0.0.1', port, controller.signal), { name: 'AbortError' })
  server.close()
})

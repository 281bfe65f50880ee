import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { portOf } from '../../../test/harness/port-of.ts'
import { forward } from './forward.ts'

test('a backend that switches to another protocol, unasked, fails the request', async () => {
  const backend = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    )
  })
  backend.listen(0, '127.0.0.1')
  await once(backend, 'listening')
  const url = new URL(`http://127.0.0.1:${portOf(backend)}/logs`)
  const { signal } = new AbortController()
  await assert.rejects(forward({ url, method: 'GET', headers: {}, signal }), {
    message: 'unexpected response: 101 Switching Protocols',
  })
  backend.close()
})

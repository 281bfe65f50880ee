import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { portOf } from '../../../../test/support/harness/port-of.ts'
import { until } from '../../../../test/support/harness/until.ts'
import { type ForwardOptions, forward } from './forward.ts'
import { tunnel } from './tunnel.ts'

type Answer = (socket: Socket, asked: number) => void

/**
 * Starts a backend that calls `answer` for the requests on its connections, one after the other.
 */
async function start(
  answer: Answer,
): Promise<{ to: ForwardOptions; asked: () => number } & Disposable> {
  let asked = 0
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.on('data', () => answer(socket, ++asked))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    to: {
      url: new URL(`http://127.0.0.1:${portOf(server)}/`),
      method: 'GET',
      headers: {},
      signal: new AbortController().signal,
    },
    asked: () => asked,
    [Symbol.dispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const switched =
  'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n'

async function statusOf(to: ForwardOptions, pipeBody?: () => Promise<void>): Promise<number> {
  const message = await forward(to, pipeBody)
  message.resume()
  await once(message, 'end')
  // The connection is returned to the agent's pool in a later tick of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
  return message.statusCode ?? 0
}

test('if a kept-alive connection is lost when it is reused, a read is sent again, but a write is not', async () => {
  using backend = await start((socket, asked) =>
    asked % 2 === 1 ? socket.write(ok) : socket.destroy(),
  )
  assert.deepEqual([await statusOf(backend.to), await statusOf(backend.to)], [200, 200])
  assert.equal(backend.asked(), 3)
  await assert.rejects(statusOf({ ...backend.to, method: 'DELETE' }), /hang up|ECONNRESET/)
  assert.equal(backend.asked(), 4)
})

test('a request with an announced but empty body is also sent again if its reused connection is lost', async () => {
  using backend = await start((socket, asked) =>
    asked % 2 === 1 ? socket.write(ok) : socket.destroy(),
  )
  assert.deepEqual([await statusOf(backend.to), await statusOf(backend.to, nothing)], [200, 200])
  assert.equal(backend.asked(), 3)
})

test('a request fails if the backend switches protocols although the request is not an upgrade', async () => {
  using backend = await start((socket) => socket.write(switched))
  await assert.rejects(statusOf(backend.to), /101 Switching Protocols/)
})

test("if the backend resets its connection before the tunnel is set up, only the client's connection is closed", async () => {
  let far: Socket | undefined
  using backend = await start((socket) => {
    far = socket
    socket.write(switched)
  })
  const { url, method, signal } = backend.to
  const http = {
    method: 'GET',
    path: '/',
    query: new URLSearchParams(),
    signal,
    headers: { connection: 'upgrade', upgrade: 'websocket' },
    remoteAddress: '127.0.0.1',
    hasBody: false,
    body: () => Promise.resolve(Buffer.alloc(0)),
    pipeBody: () => Promise.resolve(),
    peerCertificate: () => undefined,
  }
  const answer = await tunnel(http, { url, method, bytesPerSecondMax: 0 })
  assert.equal(answer.status, 101)
  far?.resetAndDestroy()
  using client = await start(() => undefined)
  const near = await connected(client.to.url)
  // Wait until the connection to the backend has failed. Joining the tunnel then closes the
  // client's connection.
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.ok('tunnel' in answer)
  answer.tunnel(near)
  await until(() => near.destroyed, 'the client is closed')
})

async function connected({ port }: URL): Promise<Socket> {
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  return socket.on('error', () => undefined)
}

const nothing = (): Promise<void> => Promise.resolve()

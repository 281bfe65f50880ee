/**
 * A fake kubelet with the features that an API server uses: logs, a path that returns the request,
 * and connections that echo their input.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { createSelfSigned } from '../../../src/lib/x509/certificates.ts'

export type Kubelet = AsyncDisposable & {
  readonly port: number
  /** The received requests, each in the form `GET /path?query`. */
  readonly asked: readonly string[]
  /** The headers of the received upgrade requests. */
  readonly upgrades: readonly IncomingHttpHeaders[]
}

/** GUID that a WebSocket server appends to the client's key (RFC 6455, section 4.2.2). */
const WEBSOCKET_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Delay of the responses at `/late`. It is longer than the request timeout of the test server. */
const LATE_MS = 2_000

/**
 * Responds with the number of bytes in the body. Sends each digit separately, so that the response
 * arrives in several chunks.
 */
function count(request: IncomingMessage, response: ServerResponse): void {
  let bytes = 0
  request.on('data', (chunk: Buffer) => (bytes += chunk.length))
  request.on('end', () => {
    for (const digit of `${bytes}`) response.write(digit)
    response.end()
  })
}

/**
 * Whether a request is treated as an upgrade. Upgrade requests for `/refused` are treated as
 * ordinary requests on a persistent connection.
 */
const shouldUpgradeCallback = ({ url }: IncomingMessage): boolean => url !== '/refused'

export async function startKubelet(): Promise<Kubelet> {
  const asked: string[] = []
  const upgrades: IncomingHttpHeaders[] = []
  const note = ({ method, url }: IncomingMessage): void => void asked.push(`${method} ${url}`)
  const { certificatePem, keyPem } = createSelfSigned('kubelet', ['127.0.0.1'], Date.now())
  const server = createServer(
    { cert: certificatePem, key: keyPem, shouldUpgradeCallback },
    (request, response) => {
      note(request)
      const { pathname } = new URL(request.url ?? '', 'https://kubelet')
      if (pathname.startsWith('/containerLogs/'))
        return void response.end('first line\nsecond line\n')
      if (pathname === '/count') return count(request, response)
      if (pathname === '/late') return void setTimeout(() => response.end('late'), LATE_MS)
      // Do not read the body. A client can then send only as much data as fits into the buffers
      // between the client and this kubelet.
      if (pathname === '/deaf') return
      if (pathname === '/moved')
        return void response.writeHead(302, { location: '/there?a=b' }).end()
      response.writeHead(418, {
        'x-kubelet': 'yes',
        'access-control-allow-origin': '*',
        'content-type': 'text/plain',
      })
      response.end(`${request.method} ${request.url} ${request.headers.authorization ?? 'nobody'}`)
    },
  )
  const sockets = new Set<Duplex>()
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    note(request)
    upgrades.push(request.headers)
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    const key = request.headers['sec-websocket-key'] ?? ''
    const accept = createHash('sha1').update(`${key}${WEBSOCKET_GUID}`).digest('base64')
    const lines = [
      'HTTP/1.1 101 Switching Protocols',
      'Connection: Upgrade',
      `Upgrade: ${request.headers.upgrade}`,
    ]
    socket.write(`${[...lines, `Sec-WebSocket-Accept: ${accept}`].join('\r\n')}\r\n\r\n`)
    socket.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    port,
    asked,
    upgrades,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

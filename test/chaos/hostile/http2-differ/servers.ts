/**
 * Starts Keelson's HTTP/2 server and the HTTP/2 server of Node.js (nghttp2). Both have the same
 * handler. It responds with 200 and a short body when the request body is complete.
 */
import { once } from 'node:events'
import { createSecureServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { Listener } from '../../../../src/net/http/listener.ts'
import { createSelfSigned } from '../../../../src/lib/x509/certificates.ts'

export type Servers = AsyncDisposable & {
  readonly ours: number
  readonly theirs: number
  /**
   * Returns the RFC 9113 error code with which the Node.js server closed the connection from a
   * client port. Node.js closes most connections without GOAWAY.
   */
  readonly theirCode: (clientPort: number) => number | undefined
}

/** RFC 9113 error codes, by nghttp2's error number. */
const codes: ReadonlyMap<number, number> = new Map([
  [-505, 1],
  [-510, 5],
  [-522, 6],
  [-523, 9],
  [-524, 3],
  [-537, 11],
])

export async function startServers(): Promise<Servers> {
  const certificate = createSelfSigned('differ', ['127.0.0.1'], Date.now())
  const listener = new Listener({
    tls: certificate,
    handler: async (request) => {
      await request.body()
      return { status: 200, headers: {}, body: Buffer.from('ok') }
    },
    log: () => undefined,
  })
  await listener.listen(0, '127.0.0.1')
  const oracle = createSecureServer({ cert: certificate.certificatePem, key: certificate.keyPem })
  oracle.on('stream', (stream) => respond(stream))
  const theirCodes = new Map<number, number>()
  oracle.on('session', (session) => {
    const { remotePort = 0 } = session.socket
    session.on('error', (error: NodeJS.ErrnoException) => {
      theirCodes.set(remotePort, codes.get(error.errno ?? 0) ?? error.errno ?? -1)
    })
  })
  oracle.on('sessionError', () => undefined)
  oracle.listen(0, '127.0.0.1')
  await once(oracle, 'listening')
  const address: AddressInfo | string | null = oracle.address()
  return {
    ours: listener.port,
    theirs: typeof address === 'object' && address !== null ? address.port : 0,
    theirCode: (clientPort) => theirCodes.get(clientPort),
    [Symbol.asyncDispose]: async () => {
      await listener[Symbol.asyncDispose]()
      oracle.close()
    },
  }
}

function respond(stream: ServerHttp2Stream): void {
  stream.on('error', () => undefined)
  stream.resume()
  stream.on('end', () => {
    if (stream.destroyed || stream.closed) return
    stream.respond({ ':status': 200 })
    stream.end('ok')
  })
}

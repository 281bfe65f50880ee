/**
 * Ours and Node's (nghttp2) with the same handler: 200 with a short body, once the request's own
 * body is whole.
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
   * Why theirs ended the connection from that port, as a code of RFC 9113: Node cuts off most of
   * them without GOAWAY.
   */
  readonly theirCode: (clientPort: number) => number | undefined
}

/** By the number of nghttp2's error. */
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

/** Unary gRPC on Node's own HTTP/2 behind a Unix domain socket, in bytes written by hand. */
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2'

const OK = 0
const UNKNOWN = 2
const UNIMPLEMENTED = 12

type Call = {
  readonly path: string
  readonly message: Buffer
  /** Whether the client has gone away. */
  readonly isGone: () => boolean
}

/**
 * The answer to a message; undefined: there is no such method. What it throws is told to the
 * client.
 */
export type AnswerCall = (call: Call) => Buffer | undefined | Promise<Buffer | undefined>

/** To be told where to listen. */
export function createGrpcService(answer: AnswerCall): Http2Server {
  const server = createServer()
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    // A message has a byte for its compression and four for its length before it.
    stream.on('end', () => {
      const path = headers[':path'] ?? ''
      const message = Buffer.concat(chunks).subarray(5)
      void reply(stream, () => answer({ path, message, isGone: () => stream.destroyed }))
    })
    stream.on('error', () => undefined)
  })
  return server
}

async function reply(
  stream: ServerHttp2Stream,
  answer: () => ReturnType<AnswerCall>,
): Promise<void> {
  const trailers: { [name: string]: string } = { 'grpc-status': `${OK}` }
  let message: Buffer | undefined
  try {
    message = await answer()
    if (message === undefined) trailers['grpc-status'] = `${UNIMPLEMENTED}`
  } catch (error) {
    trailers['grpc-status'] = `${UNKNOWN}`
    trailers['grpc-message'] = error instanceof Error ? error.message : String(error)
  }
  if (stream.destroyed) return
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers(trailers))
  if (message === undefined) return void stream.end()
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  stream.end(Buffer.concat([head, message]))
}

export const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))]

export const bytesField = (field: number, value: Uint8Array | string): Buffer => {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([field * 8 + 2, ...varint(bytes.length)]), bytes])
}

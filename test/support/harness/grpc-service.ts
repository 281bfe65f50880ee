/**
 * A gRPC service with unary methods on a Unix domain socket, with Node's own HTTP/2 and
 * hand-written messages.
 */
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2'

const OK = 0
const UNKNOWN = 2
const UNIMPLEMENTED = 12

type Call = {
  readonly path: string
  readonly message: Buffer
  /** Whether the client has disconnected. */
  readonly isGone: () => boolean
}

/**
 * Returns the response to a message, or undefined if the method does not exist. If this function
 * throws an error, the client receives the message of the error.
 */
export type AnswerCall = (call: Call) => Buffer | undefined | Promise<Buffer | undefined>

/** Creates a server. The caller must call `listen`. */
export function createGrpcService(answer: AnswerCall): Http2Server {
  const server = createServer()
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    // A message is preceded by one byte for the compression and four bytes for the length.
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

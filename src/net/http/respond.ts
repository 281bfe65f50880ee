/** Writes a response to a socket, no faster than the client reads it. */
import type { ApiResponse, Headers, LazyBody } from '../../api/request.ts'
import { GZIP_BYTES_MIN, GZIP_HELD_BYTES, Gzip } from './gzip.ts'
import { type Outgoing, write } from './outgoing.ts'

const NO_CONTENT = 204

export class Responder {
  /** The compressor. Undefined if responses are never compressed. */
  readonly #gzip: Gzip | undefined

  constructor({ compresses = true }: { readonly compresses?: boolean } = {}) {
    this.#gzip = compresses ? new Gzip() : undefined
  }

  /**
   * Writes a response. The promise resolves when the whole response has been passed to the socket,
   * or when the client has disconnected. Returns undefined if the response is already complete.
   */
  respond(
    outgoing: Outgoing,
    response: Exclude<ApiResponse, { tunnel: unknown }>,
  ): Promise<void> | undefined {
    if (outgoing.isGone) {
      if ('frames' in response) response.frames.close()
      else if ('stream' in response) void leave(response.stream)
      else if ('body' in response && 'chunks' in response.body) response.body.close?.()
      return undefined
    }
    if ('frames' in response) return pumpFrames(outgoing, response)
    if ('stream' in response) return respondStream(outgoing, response)
    return this.#respondBody(outgoing, response)
  }

  #respondBody(
    outgoing: Outgoing,
    { status, headers, body, isEncoded = false }: Extract<ApiResponse, { body: unknown }>,
  ): Promise<void> | undefined {
    const length = lengthOf(body)
    if (
      length > GZIP_BYTES_MIN &&
      this.#gzip !== undefined &&
      !isEncoded &&
      outgoing.takesBody &&
      outgoing.takesGzip() &&
      // If the memory budget has no room for compression, the body is sent uncompressed.
      outgoing.hold?.(GZIP_HELD_BYTES) !== false
    ) {
      const tag = 'chunks' in body ? body.tag?.() : undefined
      return this.#gzip.respond(outgoing, { status, headers, chunks: chunksOf(body), length, tag })
    }
    const isEnd = !outgoing.takesBody || length === 0
    // RFC 9110, section 8.6: a response with status 204 has no Content-Length.
    outgoing.writeHead(status, headers, status === NO_CONTENT ? { isEnd } : { length, isEnd })
    if (isEnd) return undefined
    if ('chunks' in body) return writeChunks(outgoing, body.chunks)
    outgoing.end(Buffer.isBuffer(body) ? [body] : body)
    return undefined
  }
}

async function writeChunks(outgoing: Outgoing, chunks: LazyBody['chunks']): Promise<void> {
  for await (const parts of chunks) {
    const written = write(outgoing, parts)
    // `await` is used only for promises. For other values, it would cost a microtask per chunk.
    if (!(typeof written === 'boolean' ? written : await written)) return
  }
  outgoing.end()
}

function lengthOf(body: Buffer | readonly Buffer[] | LazyBody): number {
  if (Buffer.isBuffer(body) || 'chunks' in body) return body.length
  let bytes = 0
  for (const part of body) bytes += part.length
  return bytes
}

function chunksOf(body: Buffer | readonly Buffer[] | LazyBody): LazyBody['chunks'] {
  if (Buffer.isBuffer(body)) return [[body]]
  return 'chunks' in body ? body.chunks : [body]
}

/**
 * Ends a stream whose data is not needed. Never rejects. A generator that has not started skips its
 * `finally` block, which updates the count of open streams. So the generator is started first.
 */
export async function leave(stream: AsyncIterable<readonly Buffer[]>): Promise<void> {
  try {
    for await (const _ of stream) return
  } catch {
    // The error cannot be reported, because the client has disconnected.
  }
}

async function respondStream(
  outgoing: Outgoing,
  { status, headers, stream }: Extract<ApiResponse, { stream: unknown }>,
): Promise<void> {
  begin(outgoing, status, headers)
  for await (const parts of stream) {
    if (parts.length > 0 && !(await write(outgoing, parts))) return
  }
  outgoing.end()
}

function begin(outgoing: Outgoing, status: number, headers: Headers): void {
  outgoing.writeHead(status, headers, {})
  outgoing.flushHead()
}

/**
 * Sends frames until their source ends. One batch is written at a time. Frames that arrive in the
 * meantime form the next batch.
 */
function pumpFrames(
  outgoing: Outgoing,
  { status, headers, frames, trailers }: Extract<ApiResponse, { frames: unknown }>,
): Promise<void> {
  outgoing.onClose(() => frames.close())
  return new Promise((resolve, reject) => {
    let hasBegun = false
    const pump = (): void => {
      try {
        if (!hasBegun) begin(outgoing, status, headers)
        hasBegun = true
        for (;;) {
          const parts = frames.take()
          if (parts === undefined) {
            const last = trailers?.()
            if (last === undefined) outgoing.end()
            else outgoing.endWith(last)
            return resolve()
          }
          // After the client has disconnected, read and drop all frames until the source ends.
          if (parts.length === 0 || outgoing.isGone) return frames.onReady(pump)
          if (!outgoing.write(parts, pump)) return
        }
      } catch (error) {
        frames.close()
        reject(error)
      }
    }
    pump()
  })
}

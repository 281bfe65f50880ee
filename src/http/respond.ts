/** Writes an answer to a socket no faster than the client reads it. */
import type { ApiResponse, FrameSource, Headers, LazyBody } from '../api/request.ts'
import { BLOCK_BYTES, Blocks } from './blocks.ts'
import { GZIP_BYTES_MIN, Gzip } from './gzip.ts'
import { end, type Outgoing, write } from './outgoing.ts'

type Chunks = LazyBody['chunks']

/** A part of this size is as good as a block: it need not be copied into one. */
const DIRECT_BYTES_MIN = 32 * 1024

export class Responder {
  readonly #blocks = new Blocks()
  readonly #gzip = new Gzip()

  /** Comes back when all has been handed to the socket, or the client has gone away; at once if that is so already. */
  respond(outgoing: Outgoing, response: ApiResponse): Promise<void> | undefined {
    if (outgoing.writable.destroyed) {
      if ('frames' in response) response.frames.close()
      return undefined
    }
    if ('frames' in response) return pumpFrames(outgoing, response)
    if ('stream' in response) return respondStream(outgoing, response)
    return this.#respondBody(outgoing, response)
  }

  #respondBody(
    outgoing: Outgoing,
    { status, headers, body }: Extract<ApiResponse, { body: unknown }>,
  ): Promise<void> | undefined {
    const length = lengthOf(body)
    if (length > GZIP_BYTES_MIN && outgoing.takesBody && outgoing.takesGzip()) {
      const tag = 'chunks' in body ? body.tag : undefined
      return this.#gzip.respond(outgoing, { status, headers, chunks: chunksOf(body), length, tag })
    }
    outgoing.writeHead(status, headers, length)
    if (!outgoing.takesBody || length === 0) {
      end(outgoing)
      return undefined
    }
    if (length <= BLOCK_BYTES && !('chunks' in body)) {
      end(outgoing, Buffer.isBuffer(body) ? body : Buffer.concat(body, length))
      return undefined
    }
    return this.#writeBlocks(outgoing, chunksOf(body))
  }

  /** Parts are gathered in one block, which is filled again when the socket has taken it. */
  async #writeBlocks(outgoing: Outgoing, chunks: Chunks): Promise<void> {
    const block = this.#blocks.take()
    let filled = 0
    // Awaiting what is no promise costs a turn of the microtasks per chunk, and a chunk has many parts.
    for await (const parts of chunks) {
      for (const part of parts) {
        if (filled === 0 && part.length >= DIRECT_BYTES_MIN && part.length <= BLOCK_BYTES) {
          if (!(await write(outgoing, part))) return
          continue
        }
        for (let at = 0; at < part.length; ) {
          const copied = part.copy(block, filled, at)
          at += copied
          filled += copied
          if (filled < BLOCK_BYTES) continue
          // A block that the socket may still read from is left to the garbage collector.
          if (!(await write(outgoing, block))) return
          filled = 0
        }
      }
    }
    const isTaken = filled === 0 || (await write(outgoing, block.subarray(0, filled)))
    end(outgoing)
    if (isTaken) this.#blocks.give(block)
  }
}

function lengthOf(body: Buffer | readonly Buffer[] | LazyBody): number {
  if (Buffer.isBuffer(body) || 'chunks' in body) return body.length
  let bytes = 0
  for (const part of body) bytes += part.length
  return bytes
}

function chunksOf(body: Buffer | readonly Buffer[] | LazyBody): Chunks {
  if (Buffer.isBuffer(body)) return [[body]]
  return 'chunks' in body ? body.chunks : [body]
}

async function respondStream(
  outgoing: Outgoing,
  { status, headers, stream }: Extract<ApiResponse, { stream: unknown }>,
): Promise<void> {
  begin(outgoing, status, headers)
  for await (const parts of stream) {
    if (!(await writeTogether(outgoing, parts))) return
  }
  end(outgoing)
}

function begin(outgoing: Outgoing, status: number, headers: Headers): void {
  outgoing.writeHead(status, headers, undefined)
  outgoing.flushHead()
}

/** Comes back when the source has ended. Only one batch is with the socket at a time; what happens meanwhile is the next. */
function pumpFrames(
  outgoing: Outgoing,
  { status, headers, frames }: { readonly status: number; readonly headers: Headers; readonly frames: FrameSource },
): Promise<void> {
  begin(outgoing, status, headers)
  outgoing.onClose(() => frames.close())
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      end(outgoing)
      resolve()
    }
    const onWritten = (): void => {
      outgoing.isWriting = false
      outgoing.writes++
      pump()
    }
    const pump = (): void => {
      try {
        const parts = frames.take()
        if (parts === undefined) return finish()
        if (parts.length === 0) return frames.onReady(pump)
        // Nobody reads any more: what there is is taken and dropped until the source has seen its own end.
        if (outgoing.writable.destroyed) return frames.onReady(pump)
        outgoing.isWriting = true
        outgoing.writable.write(together(parts), onWritten)
      } catch (error) {
        frames.close()
        reject(error)
      }
    }
    pump()
  })
}

const together = (parts: readonly Buffer[]): Buffer => {
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)
}

async function writeTogether(outgoing: Outgoing, parts: readonly Buffer[]): Promise<boolean> {
  return parts.length === 0 || write(outgoing, together(parts))
}

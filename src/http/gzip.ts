/**
 * Compressed answers. zlib compresses in Node's thread pool; this thread only hands over blocks. Lists that many clients request at
 * once (after a restart, say) are the same bytes, so they are compressed once for all, and kept until newer ones need the room.
 */
import { constants, createGzip, type Gzip as GzipStream } from 'node:zlib'
import type { Headers, LazyBody } from '../api/request.ts'
import { type Outgoing, write } from './outgoing.ts'

/** Bodies up to this are sent as they are; as kube-apiserver. */
export const GZIP_BYTES_MIN = 128 * 1024
/** What one step of the thread pool compresses: large enough that the cost of handing it over does not matter. */
const INPUT_BYTES = 256 * 1024
const OUTPUT_BYTES = 64 * 1024
/** What it takes to compress an answer: zlib's own state, the block that it reads, and what waits to be sent. */
export const GZIP_HELD_BYTES = 1024 * 1024
/** Longer bodies are not shared: each is sent to its client while it is compressed. */
const SHARED_BODY_BYTES_MAX = 64 * 1024 * 1024
/** The size of all shared bodies together, with their tags. */
const SHARED_BYTES_MAX = 32 * 1024 * 1024
/** A tag contains the query, which may be far longer than the list. Such a list is not requested by many clients. */
const TAG_CHARACTERS_MAX = 4096
/** The overhead of an entry, besides its bytes and its tag. */
const ENTRY_BYTES = 500

type Compressed = { readonly parts: readonly Buffer[]; readonly bytes: number }

/** `bytes` is zero until the body is compressed. */
type Shared = { readonly compressed: Promise<Compressed>; bytes: number }

type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly chunks: LazyBody['chunks']
  readonly length: number
  readonly tag: string | undefined
}

export class Gzip {
  /** The shared bodies by tag, the least recently used one first. */
  readonly #shared = new Map<string, Shared>()
  #sharedBytes = 0

  async respond(outgoing: Outgoing, answer: Answer): Promise<void> {
    const { tag, length } = answer
    const headers = { ...answer.headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' }
    if (tag !== undefined && tag.length <= TAG_CHARACTERS_MAX && length <= SHARED_BODY_BYTES_MAX) {
      const { parts, bytes } = await this.#share(tag, answer.chunks)
      outgoing.writeHead(answer.status, headers, { length: bytes })
      outgoing.end(parts)
    } else {
      outgoing.writeHead(answer.status, headers, {})
      for await (const part of this.#compress(answer.chunks)) if (!(await write(outgoing, [part]))) return
      outgoing.end()
    }
  }

  #share(tag: string, chunks: LazyBody['chunks']): Promise<Compressed> {
    const known = this.#shared.get(tag)
    if (known !== undefined) {
      this.#shared.delete(tag)
      this.#shared.set(tag, known)
      return known.compressed
    }
    const compressed = this.#collect(tag, chunks)
    this.#shared.set(tag, { compressed, bytes: 0 })
    return compressed
  }

  async #collect(tag: string, chunks: LazyBody['chunks']): Promise<Compressed> {
    try {
      const parts: Buffer[] = []
      let bytes = 0
      for await (const part of this.#compress(chunks)) {
        parts.push(alone(part))
        bytes += part.length
      }
      this.#keep(tag, bytes)
      return { parts, bytes }
    } catch (error) {
      this.#shared.delete(tag)
      throw error
    }
  }

  #keep(tag: string, bytes: number): void {
    const made = this.#shared.get(tag)
    if (made === undefined) return
    made.bytes = bytes + tag.length + ENTRY_BYTES
    this.#sharedBytes += made.bytes
    // Entries that are still being compressed have no size yet: dropping them would free nothing.
    for (const [other, { bytes: freed }] of this.#shared) {
      if (this.#sharedBytes <= SHARED_BYTES_MAX) return
      if (freed === 0) continue
      this.#shared.delete(other)
      this.#sharedBytes -= freed
    }
  }

  async *#compress(chunks: LazyBody['chunks']): AsyncGenerator<Buffer, void, void> {
    const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: OUTPUT_BYTES })
    const feeding = feed(gzip, chunks)
    // The reader of the stream gets the failure, too; this keeps it from being an unhandled rejection.
    feeding.catch((error: unknown) => gzip.destroy(error instanceof Error ? error : new Error(String(error))))
    try {
      for await (const part of gzip) yield part
      await feeding
    } finally {
      gzip.destroy()
    }
  }
}

/** Copies a short part, which would keep the whole buffer alive that zlib was given for it. */
function alone(part: Buffer): Buffer {
  if (part.length === part.buffer.byteLength) return part
  const copy = Buffer.allocUnsafeSlow(part.length)
  part.copy(copy)
  return copy
}

/** The buffer is filled again only when zlib has read it. */
async function feed(gzip: GzipStream, chunks: LazyBody['chunks']): Promise<void> {
  const block = Buffer.allocUnsafeSlow(INPUT_BYTES)
  let filled = 0
  for await (const parts of chunks) {
    for (const part of parts) {
      for (let at = 0; at < part.length; ) {
        const copied = part.copy(block, filled, at)
        at += copied
        filled += copied
        if (filled < INPUT_BYTES) continue
        if (!(await consumed(gzip, block))) return
        filled = 0
      }
    }
  }
  gzip.end(block.subarray(0, filled))
}

function consumed(gzip: GzipStream, block: Buffer): Promise<boolean> {
  if (gzip.destroyed) return Promise.resolve(false)
  return new Promise((resolve) => {
    const onClose = (): void => resolve(false)
    gzip.once('close', onClose)
    gzip.write(block, () => {
      gzip.off('close', onClose)
      resolve(!gzip.destroyed)
    })
  })
}

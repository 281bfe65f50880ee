/**
 * Compresses responses in Node's thread pool, so that the main thread only passes blocks to zlib.
 * If many clients request the same list, for example after a restart, the list is compressed once
 * for all of them. Compressed lists stay cached until newer ones need the memory.
 */
import { constants, createGzip, type Gzip as GzipStream } from 'node:zlib'
import type { Headers, LazyBody } from '../../api/request.ts'
import { type Outgoing, write } from './outgoing.ts'

/** Bodies up to this size are sent uncompressed, as in kube-apiserver. */
export const GZIP_BYTES_MIN = 128 * 1024
/**
 * Number of bytes that the thread pool compresses in one step. With larger blocks, compression is
 * not noticeably faster.
 */
const INPUT_BYTES = 256 * 1024
const OUTPUT_BYTES = 64 * 1024
/**
 * Memory used to compress a response: zlib's internal state, the block that it reads, and the
 * output that waits to be sent.
 */
export const GZIP_HELD_BYTES = 1024 * 1024
/**
 * Maximum length of a body that is compressed once for several clients. A longer body is compressed
 * for each client while it is sent.
 */
const SHARED_BODY_BYTES_MAX = 64 * 1024 * 1024
/**
 * Maximum total size of the bodies that are compressed for several clients, with their tags. It
 * includes bodies that are cached, being compressed or being sent. If a body would exceed this
 * maximum, it is compressed while it is sent, for one client only.
 */
const SHARED_BYTES_MAX = 32 * 1024 * 1024
/**
 * Maximum length of the tag, the key by which clients share a compressed body. A tag contains the
 * query of the request, which can be much longer than the list. With a longer tag, the list is
 * compressed for each client.
 */
const TAG_CHARACTERS_MAX = 4096
/** Memory of a cached body in addition to its bytes and its tag. */
const ENTRY_BYTES = 500

/**
 * A body that is compressed for several clients. While it is being compressed, it is incomplete.
 */
class SharedBody {
  readonly tag: string
  parts: Buffer[] = []
  bytes: number
  /**
   * Number of clients that are receiving the body or waiting for it. The first client's request
   * compresses it.
   */
  clients = 1
  isWhole = false
  readonly #end = Promise.withResolvers<boolean>()

  constructor(tag: string) {
    this.tag = tag
    this.bytes = tag.length + ENTRY_BYTES
    // Prevents an unhandled rejection if no client waits for this promise.
    this.#end.promise.catch(() => undefined)
  }

  /**
   * Resolves with true when the whole body is compressed. Resolves with false if the body would
   * exceed the memory limit.
   */
  get whole(): Promise<boolean> {
    return this.#end.promise
  }

  end(isWhole: boolean): void {
    this.isWhole = isWhole
    this.#end.resolve(isWhole)
  }

  fail(error: unknown): void {
    this.#end.reject(error)
  }
}

type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly chunks: LazyBody['chunks']
  readonly length: number
  readonly tag: string | undefined
}

export class Gzip {
  /** The bodies that several clients share, by tag. The least recently used body comes first. */
  readonly #shared = new Map<string, SharedBody>()
  #sharedBytes = 0

  async respond(outgoing: Outgoing, answer: Answer): Promise<void> {
    const { tag, length } = answer
    const isShared =
      tag !== undefined && tag.length <= TAG_CHARACTERS_MAX && length <= SHARED_BODY_BYTES_MAX
    if (!isShared) return this.#stream(outgoing, answer)
    const known = this.#shared.get(tag)
    if (known === undefined) return this.#share(outgoing, answer, tag)
    this.#shared.delete(tag)
    this.#shared.set(tag, known)
    known.clients++
    try {
      if (await known.whole) return await send(outgoing, answer, known)
    } finally {
      known.clients--
    }
    return this.#stream(outgoing, answer)
  }

  /** Compresses a body while it is sent to one client. */
  async #stream(outgoing: Outgoing, answer: Answer): Promise<void> {
    begin(outgoing, answer)
    for await (const part of this.#compress(answer.chunks))
      if (!(await write(outgoing, [part]))) return
    outgoing.end()
  }

  /**
   * Compresses a body for several clients, and then sends it to the first one. If the body exceeds
   * the memory limit, the rest is compressed while it is sent.
   */
  async #share(outgoing: Outgoing, answer: Answer, tag: string): Promise<void> {
    const shared = new SharedBody(tag)
    this.#shared.set(tag, shared)
    this.#sharedBytes += shared.bytes
    let hasRoom = true
    try {
      for await (const part of this.#compress(answer.chunks)) {
        if (hasRoom) {
          if (this.#add(shared, alone(part))) continue
          hasRoom = false
          this.#shared.delete(tag)
          shared.end(false)
          begin(outgoing, answer)
          if (!(await write(outgoing, shared.parts))) return
          this.#drop(shared)
        } else if (!(await write(outgoing, [part]))) return
      }
      if (!hasRoom) return outgoing.end()
      shared.end(true)
      await send(outgoing, answer, shared)
    } catch (error) {
      shared.fail(error)
      throw error
    } finally {
      shared.clients--
      if (!shared.isWhole) this.#drop(shared)
    }
  }

  /**
   * Adds a compressed part to a body. If this exceeds the memory limit, removes other bodies that
   * no client is receiving. Returns false if the limit is still exceeded.
   */
  #add(shared: SharedBody, part: Buffer): boolean {
    shared.parts.push(part)
    shared.bytes += part.length
    this.#sharedBytes += part.length
    for (const other of this.#shared.values()) {
      if (this.#sharedBytes <= SHARED_BYTES_MAX) return true
      if (other.clients === 0) this.#drop(other)
    }
    return this.#sharedBytes <= SHARED_BYTES_MAX
  }

  #drop(shared: SharedBody): void {
    this.#sharedBytes -= shared.bytes
    shared.bytes = 0
    shared.parts = []
    if (this.#shared.get(shared.tag) === shared) this.#shared.delete(shared.tag)
  }

  async *#compress(chunks: LazyBody['chunks']): AsyncGenerator<Buffer, void, void> {
    const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: OUTPUT_BYTES })
    const feeding = feed(gzip, chunks)
    // Prevents an unhandled rejection. The code that reads the compressed stream gets the same
    // error.
    feeding.catch((error: unknown) =>
      gzip.destroy(error instanceof Error ? error : new Error(String(error))),
    )
    try {
      for await (const part of gzip) yield part
      await feeding
    } finally {
      gzip.destroy()
    }
  }
}

function begin(outgoing: Outgoing, { status, headers }: Answer, length?: number): void {
  outgoing.writeHead(
    status,
    { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' },
    { length },
  )
}

/** Sends a compressed body. Resolves when the client has accepted it or has disconnected. */
async function send(outgoing: Outgoing, answer: Answer, { parts }: SharedBody): Promise<void> {
  begin(
    outgoing,
    answer,
    parts.reduce((sum, { length }) => sum + length, 0),
  )
  if (await write(outgoing, parts)) outgoing.end()
}

/**
 * Copies a part that is shorter than its memory. Otherwise zlib's whole output buffer would stay in
 * memory with it.
 */
function alone(part: Buffer): Buffer {
  if (part.length === part.buffer.byteLength) return part
  const copy = Buffer.allocUnsafeSlow(part.length)
  part.copy(copy)
  return copy
}

/** Writes a body to zlib in blocks. The memory of a block is reused when zlib has read it. */
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

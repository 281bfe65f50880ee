/**
 * Buffers the body of a remote server's response on its way to the client. Data that has arrived
 * since the client last read is copied into reusable blocks. Therefore, a long response creates no
 * garbage, and many small chunks use no more memory than their bytes.
 *
 * The origin (the connection to the remote server) limits how much data arrives before the client
 * reads, for example with the window of an HTTP/2 stream. An origin without such a limit is paused.
 */
import { CutOffAnswer } from '../../api/errors.ts'
import { BLOCK_BYTES, type Blocks } from '../../lib/bytes/blocks.ts'

/**
 * Number of buffered bytes at which the connection to the remote server is paused, if it can be
 * paused.
 */
const HELD_BYTES_MAX = 64 * 1024
/**
 * A first chunk of up to this size is copied into its own buffer instead of a reusable block. Most
 * responses consist of one chunk.
 */
const SHORT_BYTES_MAX = 8 * 1024

/** The connection from which the body arrives. */
export type BodyOrigin = {
  /**
   * Pauses the connection. Absent if the connection itself limits how many bytes arrive before
   * `giveBack` is called.
   */
  readonly pause?: () => void
  readonly resume?: () => void
  /** Called with the number of bytes that have been sent to the client. */
  readonly giveBack?: (bytes: number) => void
  /** Called when the rest of the body is not needed. */
  readonly cancel: () => void
}

export class AnswerBody {
  readonly #origin: BodyOrigin
  readonly #blocks: Blocks
  #held: Buffer[] = []
  #heldBytes = 0
  /** The block that is currently filled, and the number of bytes in this block. */
  #block: Buffer | undefined
  #filled = 0
  /** Blocks with buffered data, and blocks with the data that was read last and is being sent. */
  #heldBlocks: Buffer[] = []
  #sentBlocks: Buffer[] = []
  #sentBytes = 0
  #isPaused = false
  #hasEnded = false
  #failure: Error | undefined
  /** Number of bytes that are still expected. Infinity if this number is unknown. */
  #left = Infinity
  #onReady: (() => void) | undefined
  #willNotify = false
  #onEnd: (() => void) | undefined

  constructor(origin: BodyOrigin, blocks: Blocks) {
    this.#origin = origin
    this.#blocks = blocks
  }

  /**
   * Sets the length from the Content-Length header. If the body is longer or shorter than this,
   * reading it fails. Otherwise, the client would look for the next response at the wrong position
   * of its connection.
   */
  expect(length: string | readonly string[] | undefined): void {
    if (length !== undefined)
      this.#left = typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : 0
  }

  /** Adds a chunk. The chunk is copied, so its memory can be reused. */
  push(chunk: Buffer): void {
    if (this.#hasEnded) return
    if (chunk.length > this.#left) {
      this.#origin.cancel()
      return this.fail(new Error('the response is longer than its length'))
    }
    this.#left -= chunk.length
    this.#heldBytes += chunk.length
    const isFirst = this.#heldBytes === chunk.length
    if (isFirst && chunk.length <= SHORT_BYTES_MAX) this.#held.push(Buffer.from(chunk))
    else this.#copy(chunk)
    if (this.#heldBytes >= HELD_BYTES_MAX && !this.#isPaused) {
      this.#isPaused = true
      this.#origin.pause?.()
    }
    if (this.#heldBytes >= BLOCK_BYTES) this.#notify()
    else this.#notifySoon()
  }

  end(): void {
    if (this.#hasEnded) return
    if (this.#left !== Infinity && this.#left > 0) return this.fail(new Error('unexpected EOF'))
    this.#setEnded()
  }

  /** Calls `ended` when the body has ended, or immediately if it has already ended. */
  onEnd(ended: () => void): void {
    if (this.#hasEnded) ended()
    else this.#onEnd = ended
  }

  /** Ends the body early. `take` returns the data that has arrived before, and then fails. */
  fail(error: Error): void {
    if (this.#hasEnded) return
    this.#failure = error
    this.#setEnded()
  }

  /**
   * Returns the whole body if all of it has arrived, as for most responses. The memory then belongs
   * to the caller.
   */
  takeWhole(): readonly Buffer[] | undefined {
    return this.#hasEnded && this.#failure === undefined ? (this.takeForGood() ?? []) : undefined
  }

  /** Like `take`, but the caller may keep the returned memory. */
  takeForGood(): readonly Buffer[] | undefined {
    const taken = this.take()
    this.#blocks.drop(this.#sentBlocks.length)
    this.#sentBlocks = []
    return taken
  }

  /**
   * Returns the data that has arrived, or undefined at the end. The next call reuses the memory.
   * Fails if the remote server ended the response early.
   */
  take(): readonly Buffer[] | undefined {
    for (const block of this.#sentBlocks) this.#blocks.give(block)
    this.#sentBlocks = this.#heldBlocks
    this.#heldBlocks = []
    const sentBytes = this.#sentBytes
    this.#sentBytes = this.#heldBytes
    const held = this.#held
    if (this.#block !== undefined) held.push(this.#block.subarray(0, this.#filled))
    this.#held = []
    this.#heldBytes = 0
    this.#block = undefined
    const wasPaused = this.#isPaused
    this.#isPaused = false
    if (sentBytes > 0) this.#origin.giveBack?.(sentBytes)
    if (wasPaused) this.#origin.resume?.()
    if (held.length > 0) return held
    if (this.#failure !== undefined)
      throw new CutOffAnswer(this.#failure.message, { cause: this.#failure })
    return this.#hasEnded ? undefined : held
  }

  onReady(ready: () => void): void {
    if (this.#heldBytes > 0 || this.#hasEnded) queueMicrotask(ready)
    else this.#onReady = ready
  }

  /**
   * Discards the body. The data that was read last might still be in use, so the blocks with this
   * data are not reused.
   */
  close(): void {
    this.#blocks.drop(this.#sentBlocks.length)
    for (const block of this.#heldBlocks) this.#blocks.give(block)
    this.#sentBlocks = []
    this.#heldBlocks = []
    this.#held = []
    this.#heldBytes = 0
    this.#block = undefined
    if (this.#hasEnded) return
    this.#setEnded()
    this.#origin.cancel()
  }

  #copy(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      const block = (this.#block ??= this.#next())
      const copied = chunk.copy(block, this.#filled, at)
      at += copied
      this.#filled += copied
      if (this.#filled < BLOCK_BYTES) continue
      this.#held.push(block)
      this.#block = undefined
    }
  }

  #next(): Buffer {
    const block = this.#blocks.take()
    this.#heldBlocks.push(block)
    this.#filled = 0
    return block
  }

  #setEnded(): void {
    this.#hasEnded = true
    const ended = this.#onEnd
    this.#onEnd = undefined
    ended?.()
    this.#notify()
  }

  /**
   * Notifies the reader later. TLS delivers its records one by one, so the reader is notified once
   * for all chunks that arrive together.
   */
  #notifySoon(): void {
    if (this.#onReady === undefined || this.#willNotify) return
    this.#willNotify = true
    setImmediate(() => {
      this.#willNotify = false
      this.#notify()
    })
  }

  #notify(): void {
    const ready = this.#onReady
    this.#onReady = undefined
    ready?.()
  }
}

/**
 * The body of a remote server's response, on its way to the client. It holds what arrived since the
 * last pull, copied into blocks that are reused. So a long response creates no garbage, and one
 * that arrives byte by byte takes no more than its bytes. How much arrives before it is pulled is
 * limited by the origin, such as by the window of a stream. An origin without a limit is paused.
 */
import { CutOffAnswer } from '../../api/errors.ts'
import { BLOCK_BYTES, type Blocks } from '../../lib/bytes/blocks.ts'

/** Number of held bytes at which the origin is paused, if that is possible. */
const HELD_BYTES_MAX = 64 * 1024
/** Maximum size of a first part that gets memory of its own. Most responses have only one part. */
const SHORT_BYTES_MAX = 8 * 1024

/** Where the body comes from. */
export type BodyOrigin = {
  /** Absent if the origin sends no more than it gets back. */
  readonly pause?: () => void
  readonly resume?: () => void
  /** Called when this many bytes have been sent on. */
  readonly giveBack?: (bytes: number) => void
  /** Called when the rest is not needed. */
  readonly cancel: () => void
}

export class AnswerBody {
  readonly #origin: BodyOrigin
  readonly #blocks: Blocks
  #held: Buffer[] = []
  #heldBytes = 0
  /** The block that is being filled, and how far it is filled. */
  #block: Buffer | undefined
  #filled = 0
  /** Blocks of what is held, and of what was pulled last, which is being sent. */
  #heldBlocks: Buffer[] = []
  #sentBlocks: Buffer[] = []
  #sentBytes = 0
  #isPaused = false
  #hasEnded = false
  #failure: Error | undefined
  /** Number of bytes that are still to come. Infinity if it is unknown. */
  #left = Infinity
  #onReady: (() => void) | undefined
  #willNotify = false
  #onEnd: (() => void) | undefined

  constructor(origin: BodyOrigin, blocks: Blocks) {
    this.#origin = origin
    this.#blocks = blocks
  }

  /**
   * Sets the length that was announced. A longer or shorter body fails, because another response
   * must not begin where this one should have ended.
   */
  expect(length: string | readonly string[] | undefined): void {
    if (length !== undefined)
      this.#left = typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : 0
  }

  /** Adds a chunk. Its memory may be reused. */
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

  /** Calls back once nothing more can arrive, immediately if that is already so. */
  onEnd(ended: () => void): void {
    if (this.#hasEnded) ended()
    else this.#onEnd = ended
  }

  /** Ends the body early. `take` fails after it has returned what arrived. */
  fail(error: Error): void {
    if (this.#hasEnded) return
    this.#failure = error
    this.#setEnded()
  }

  /**
   * Returns the whole body, if all of it has arrived: most responses are short. The memory then
   * belongs to the caller.
   */
  takeWhole(): readonly Buffer[] | undefined {
    return this.#hasEnded && this.#failure === undefined ? (this.takeForGood() ?? []) : undefined
  }

  /** Like `take`, but the memory then belongs to the caller. */
  takeForGood(): readonly Buffer[] | undefined {
    const taken = this.take()
    this.#blocks.drop(this.#sentBlocks.length)
    this.#sentBlocks = []
    return taken
  }

  /**
   * Returns what has arrived, or undefined at the end. The memory is reused by the next call. Fails
   * if the remote server ended the response early.
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

  /** Drops the body. The bytes pulled last may still be read, so their blocks are not reused. */
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
   * Notifies the reader later, once for all chunks that arrive together: TLS delivers its records
   * one by one.
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

/**
 * The body of a remote server's answer, on its way to whoever pulls it. It holds what came since
 * the last pull, copied into blocks that are used again: a long answer leaves no garbage, and one
 * that comes byte by byte takes no more than its bytes. How much may come before it is pulled is
 * decided by its origin (the window of a stream), or it pauses that.
 */
import { CutOffAnswer } from '../../api/errors.ts'
import { BLOCK_BYTES, type Blocks } from '../../lib/bytes/blocks.ts'

/** What is held before an origin that can be paused is paused. */
const HELD_BYTES_MAX = 64 * 1024
/** A shorter first part gets memory of its own: most answers have no other. */
const SHORT_BYTES_MAX = 8 * 1024

/** What the body comes from. */
export type BodyOrigin = {
  /** Absent: it sends no more than it is given back. */
  readonly pause?: () => void
  readonly resume?: () => void
  /** So many bytes have been sent on. */
  readonly giveBack?: (bytes: number) => void
  /** Nobody wants the rest. */
  readonly cancel: () => void
}

export class AnswerBody {
  readonly #origin: BodyOrigin
  readonly #blocks: Blocks
  #held: Buffer[] = []
  #heldBytes = 0
  /** The block that is being filled, and up to where. */
  #block: Buffer | undefined
  #filled = 0
  /** Blocks of what is held, and of what was pulled last, which is being sent. */
  #heldBlocks: Buffer[] = []
  #sentBlocks: Buffer[] = []
  #sentBytes = 0
  #isPaused = false
  #hasEnded = false
  #failure: Error | undefined
  /** Bytes that are still to come; Infinity: nobody said how many there are. */
  #left = Infinity
  #onReady: (() => void) | undefined
  #willNotify = false
  #onEnd: (() => void) | undefined

  constructor(origin: BodyOrigin, blocks: Blocks) {
    this.#origin = origin
    this.#blocks = blocks
  }

  /**
   * The length that was announced. A body that is longer, or shorter, fails: another answer must
   * not begin where this one should have ended.
   */
  expect(length: string | readonly string[] | undefined): void {
    if (length !== undefined)
      this.#left = typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : 0
  }

  /** The memory of the chunk may be reused. */
  push(chunk: Buffer): void {
    if (this.#hasEnded) return
    if (chunk.length > this.#left) {
      this.#origin.cancel()
      return this.fail(new Error('the answer is longer than its length'))
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

  /** Called once nothing more can come; at once if that is so. */
  onEnd(ended: () => void): void {
    if (this.#hasEnded) ended()
    else this.#onEnd = ended
  }

  /** The rest will not come: `take` fails when it has returned what did. */
  fail(error: Error): void {
    if (this.#hasEnded) return
    this.#failure = error
    this.#setEnded()
  }

  /** The whole body, if all of it is here: most answers are short. It is taken then, for good. */
  takeWhole(): readonly Buffer[] | undefined {
    return this.#hasEnded && this.#failure === undefined ? (this.takeForGood() ?? []) : undefined
  }

  /** As `take`, and the memory is the caller's. */
  takeForGood(): readonly Buffer[] | undefined {
    const taken = this.take()
    this.#blocks.drop(this.#sentBlocks.length)
    this.#sentBlocks = []
    return taken
  }

  /**
   * Its memory is reused by the next call. Fails if the remote server ended the answer before its
   * end.
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

  /** What was pulled last may still be read: its blocks are not used again. */
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

  /** TLS hands over its records one by one: those that came together are told together. */
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

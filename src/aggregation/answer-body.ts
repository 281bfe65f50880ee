/**
 * The body of a remote server's answer, on its way to whoever pulls it. It holds what came since the last pull, and pauses the remote server
 * when that is enough: a client that reads slowly does not make it grow.
 */
import { CutOffAnswer } from '../api/errors.ts'
/** What is held before the remote server is paused: some frames of HTTP/2, or reads of a socket. */
const HELD_BYTES_MAX = 64 * 1024
/** What a chunk costs besides its bytes: of chunks of one byte, too, only some are held. */
const CHUNK_BYTES = 512

/** What the body comes from. */
export type BodyOrigin = {
  readonly pause: () => void
  readonly resume: () => void
  /** Nobody wants the rest. */
  readonly cancel: () => void
}

export class AnswerBody {
  readonly #origin: BodyOrigin
  #held: Buffer[] = []
  #heldBytes = 0
  #isPaused = false
  #hasEnded = false
  #failure: Error | undefined
  /** Bytes that are still to come; Infinity: nobody said how many there are. */
  #left = Infinity
  #onReady: (() => void) | undefined
  #onEnd: (() => void) | undefined

  constructor(origin: BodyOrigin) {
    this.#origin = origin
  }

  /** The length that was announced. A body that is longer, or shorter, fails: another answer must not begin where this one should have ended. */
  expect(length: string | readonly string[] | undefined): void {
    if (length !== undefined) this.#left = typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : 0
  }

  push(chunk: Buffer): void {
    if (this.#hasEnded) return
    if (chunk.length > this.#left) {
      this.#origin.cancel()
      return this.fail(new Error('the answer is longer than its length'))
    }
    this.#left -= chunk.length
    this.#held.push(chunk)
    this.#heldBytes += chunk.length + CHUNK_BYTES
    if (this.#heldBytes >= HELD_BYTES_MAX && !this.#isPaused) {
      this.#isPaused = true
      this.#origin.pause()
    }
    this.#tell()
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

  /** The whole body, if all of it is here: most answers are short. It is taken then. */
  takeWhole(): readonly Buffer[] | undefined {
    if (!this.#hasEnded || this.#failure !== undefined) return undefined
    const whole = this.#held
    this.#held = []
    return whole
  }

  /** Fails if the remote server ended the answer before its end. */
  take(): readonly Buffer[] | undefined {
    const held = this.#held
    if (held.length > 0) {
      this.#held = []
      this.#heldBytes = 0
      const wasPaused = this.#isPaused
      this.#isPaused = false
      if (wasPaused) this.#origin.resume()
      return held
    }
    if (this.#failure !== undefined) throw new CutOffAnswer(this.#failure.message, { cause: this.#failure })
    return this.#hasEnded ? undefined : held
  }

  onReady(ready: () => void): void {
    if (this.#held.length > 0 || this.#hasEnded) queueMicrotask(ready)
    else this.#onReady = ready
  }

  close(): void {
    this.#held = []
    if (this.#hasEnded) return
    this.#setEnded()
    this.#origin.cancel()
  }

  #setEnded(): void {
    this.#hasEnded = true
    const ended = this.#onEnd
    this.#onEnd = undefined
    ended?.()
    this.#tell()
  }

  #tell(): void {
    const ready = this.#onReady
    this.#onReady = undefined
    ready?.()
  }
}

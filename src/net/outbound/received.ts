/**
 * The webhook responses that are being received. They share one budget. If it is exceeded, the
 * longest response fails, so that calls to other webhooks do not fail because of a webhook with an
 * endless response.
 */
import { GrowingBuffer } from '../../lib/bytes/growing-buffer.ts'

/**
 * Maximum size of one response, which is parsed in one tick of the event loop. A review usually
 * contains up to about 288 KB of objects. A single object can be larger, because etcd accepts
 * objects of 1.5 MB.
 */
const ANSWER_BYTES_MAX = 16 << 20
/** Maximum size of all responses together. The buffers that contain them can be twice as large. */
const BYTES_MAX = 64 << 20

/**
 * Reason why a response fails. `answer`: the response is too large. `all`: all responses together
 * are too large, and this one is the longest.
 */
export type TooLarge = 'answer' | 'all'

export type ReceivedLimits = { readonly answerBytesMax: number; readonly bytesMax: number }

export class ReceivedAnswers {
  readonly #limits: ReceivedLimits
  readonly #open = new Set<ReceivedAnswer>()
  #bytes = 0

  constructor(limits: ReceivedLimits = { answerBytesMax: ANSWER_BYTES_MAX, bytesMax: BYTES_MAX }) {
    this.#limits = limits
  }

  /** Total size of all responses that are being received. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Begins a response. `giveUp` must make the call fail. `bytesMax` is the limit for this response,
   * if it is lower than the general one. The caller must call `take` or `close` on the response.
   */
  begin(giveUp: (why: TooLarge) => void, bytesMax = this.#limits.answerBytesMax): ReceivedAnswer {
    const answer = new ReceivedAnswer(this, giveUp, bytesMax)
    this.#open.add(answer)
    return answer
  }

  /** Called by a response when it has grown by `bytes`. */
  recordGrowth(answer: ReceivedAnswer, bytes: number): void {
    this.#bytes += bytes
    if (answer.length > answer.bytesMax) answer.giveUp('answer')
    while (this.#bytes > this.#limits.bytesMax) longestOf(this.#open)?.giveUp('all')
  }

  /** Called by a response when it has released its data. */
  ended(answer: ReceivedAnswer): void {
    if (this.#open.delete(answer)) this.#bytes -= answer.length
  }
}

class ReceivedAnswer {
  readonly bytesMax: number
  readonly #all: ReceivedAnswers
  readonly #giveUp: (why: TooLarge) => void
  readonly #collected = new GrowingBuffer()
  #length = 0
  #isOpen = true

  constructor(all: ReceivedAnswers, giveUp: (why: TooLarge) => void, bytesMax: number) {
    this.#all = all
    this.#giveUp = giveUp
    this.bytesMax = bytesMax
  }

  get length(): number {
    return this.#length
  }

  append(piece: Buffer): void {
    if (!this.#isOpen) return
    this.#length += piece.length
    this.#all.recordGrowth(this, piece.length)
    if (this.#isOpen) this.#collected.append(piece)
  }

  take(): Buffer {
    const bytes = this.#collected.take()
    this.close()
    return bytes
  }

  close(): void {
    this.#isOpen = false
    this.#all.ended(this)
    this.#collected.take()
  }

  giveUp(why: TooLarge): void {
    this.close()
    this.#giveUp(why)
  }
}

function longestOf(answers: Iterable<ReceivedAnswer>): ReceivedAnswer | undefined {
  let longest: ReceivedAnswer | undefined
  for (const answer of answers)
    if (longest === undefined || answer.length > longest.length) longest = answer
  return longest
}

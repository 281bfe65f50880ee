/**
 * The responses that webhooks are sending at the moment. They share one memory budget. If they
 * exceed it, the call with the longest response fails. Therefore, a webhook with an endless
 * response does not make calls to other webhooks fail.
 */
import { GrowingBuffer } from '../../lib/bytes/growing-buffer.ts'

/**
 * Maximum size of one response, which is parsed in one tick of the event loop. A review usually
 * contains up to about 288 KB of objects. A single object can be larger, because etcd accepts
 * objects of 1.5 MB.
 */
const ANSWER_BYTES_MAX = 16 << 20
/**
 * Maximum size of all responses together. The buffers for them can use twice this amount of memory.
 */
const BYTES_MAX = 64 << 20

/**
 * Why a response was aborted. `answer`: it exceeds the limit for one response. `all`: all responses
 * together exceed the budget, and it is the longest.
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
   * Registers a new response. If the response must be aborted, `giveUp` is called and must make the
   * call fail. `bytesMax` can set a lower size limit for this response. The caller must call `take`
   * or `close` on the returned object.
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

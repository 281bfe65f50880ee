/**
 * Matches expensive regular expressions on a worker thread. The thread is started on demand, and
 * terminated when it has been idle for some time. It performs one match at a time, because such
 * matches are rare.
 */
import type { Worker } from 'node:worker_threads'
import { tooManyRequests } from '../../api/errors.ts'
import { startOwnThread } from '../../lib/process/own-files.ts'
import type { PatternQuestion } from './regex.ts'
import { ArrayList, CelError, type Result } from './values.ts'

/**
 * Maximum CPU time for one match. CPU time does not depend on the load of the machine, unlike
 * elapsed time, so neither does the result. kube-apiserver has no such limit: its cost limits bound
 * the length of the text and the pattern, and Go is several times as fast.
 */
const ANSWER_CPU_MS_MAX = 2_000
/**
 * Maximum elapsed time for one match. It limits how long other matches wait if the thread gets too
 * little CPU time.
 */
const ANSWER_MS_MAX = 20_000
const LOOK_MS_MIN = 20
const UNUSED_MS = 30_000
/**
 * Maximum number of matches that wait for the thread. Each of them can refer to a text of up to 3
 * MB.
 */
const WAITING_MAX = 16

export type AnswerPattern = (question: PatternQuestion) => Promise<Result>

/**
 * The message that the thread sends back after a match. It contains the result as JSON, or an error
 * message.
 */
export type PatternAnswer =
  | { readonly value: boolean | string | readonly string[] }
  | { readonly fault: string }

export class PatternThread implements AsyncDisposable {
  #worker: Worker | undefined
  #unused: NodeJS.Timeout | undefined
  /** Ends the wait for the current match. Called with undefined if the thread has exited. */
  #resolve: (answer: PatternAnswer | undefined) => void = () => {}
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #isEnded = false

  /** Matches a pattern on the thread. Throws a 429 error if too many matches are waiting. */
  async answer(question: PatternQuestion): Promise<Result> {
    if (this.#waiting >= WAITING_MAX)
      throw tooManyRequests('too many long-running patterns are being matched, try again later', 1)
    this.#waiting++
    const before = this.#last
    const answered = (async () => {
      await before
      return this.#ask(question)
    })()
    this.#last = answered
    try {
      return await answered
    } finally {
      this.#waiting--
    }
  }

  /** Terminates the thread. Pending matches fail. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true
    this.#resolve(undefined)
    await this.#end()
  }

  async #ask({ pattern, text, use }: PatternQuestion): Promise<Result> {
    clearTimeout(this.#unused)
    if (this.#isEnded) return new CelError('the server is shutting down')
    const worker = (this.#worker ??= this.#start())
    const { promise, resolve } = Promise.withResolvers<PatternAnswer | undefined>()
    this.#resolve = resolve
    const limit = limitOf(worker, () => resolve(undefined))
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage({ pattern, text, use })
    const answer = await promise
    limit.close()
    if (answer === undefined) {
      await this.#end()
      return new CelError(
        text === ''
          ? 'the pattern takes too long to compile'
          : 'the text is too long for the pattern',
      )
    }
    this.#unused = setTimeout(() => void this.#end(), UNUSED_MS)
    this.#unused.unref()
    return 'fault' in answer ? new CelError(answer.fault) : resultOf(answer.value)
  }

  #start(): Worker {
    const worker = startOwnThread('./pattern-worker', import.meta.url)
    worker.unref()
    worker.on('message', (answer: PatternAnswer) => this.#resolve(answer))
    // No action is needed here, because the thread also emits `exit` after an error.
    worker.on('error', () => undefined)
    worker.on('exit', () => {
      if (this.#worker !== worker) return
      // The thread exited unexpectedly. The next match starts a new thread.
      this.#worker = undefined
      this.#resolve(undefined)
    })
    return worker
  }

  async #end(): Promise<void> {
    clearTimeout(this.#unused)
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }
}

/** Calls `stop` if the next match of the thread exceeds its time limit. */
function limitOf(worker: Worker, stop: () => void): { close(): void } {
  const before = cpuMsOf(worker)
  let isOver = false
  const look = async (): Promise<void> => {
    const leftMs = ANSWER_CPU_MS_MAX - ((await cpuMsOf(worker)) - (await before))
    if (isOver) return
    if (leftMs <= 0) stop()
    else soft = lookAfter(Math.max(leftMs, LOOK_MS_MIN))
  }
  const lookAfter = (ms: number): NodeJS.Timeout => setTimeout(() => void look(), ms)
  let soft = lookAfter(ANSWER_CPU_MS_MAX)
  const hard = setTimeout(stop, ANSWER_MS_MAX)
  return {
    close: () => {
      isOver = true
      clearTimeout(soft)
      clearTimeout(hard)
    },
  }
}

/**
 * Returns the CPU time of the thread. Returns 0 if the thread is not running yet, or if it has
 * exited, which other code handles.
 */
async function cpuMsOf(worker: Worker): Promise<number> {
  try {
    const { user, system } = await worker.cpuUsage()
    return (user + system) / 1000
  } catch {
    return 0
  }
}

const resultOf = (value: boolean | string | readonly string[]): Result =>
  typeof value === 'boolean' || typeof value === 'string' ? value : new ArrayList([...value])

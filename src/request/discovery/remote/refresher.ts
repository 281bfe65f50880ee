/**
 * Repeatedly requests a document from each remote server: immediately when its APIService changes,
 * then once a minute, and with increasing delays while requests fail. Each server receives one
 * request at a time. Several servers are queried concurrently, so a server that does not respond
 * does not delay the others.
 */
import { systemTimers, type Timer, type Timers } from '../../../lib/time/timers.ts'

/** Interval between refreshes, as in kube-apiserver. */
const PERIOD_MS = 60_000
/**
 * Delay after the first failure. The delay doubles with each further failure, up to `retryMsMax`.
 */
const RETRY_MS_FIRST = 1_000

export type RefresherOptions = {
  /** Refreshes a document, and returns whether that succeeded. Must not reject. */
  readonly refresh: (name: string, signal: AbortSignal) => Promise<boolean>
  /** Maximum number of concurrent refreshes. */
  readonly workersMax: number
  /** Maximum delay after a failure. */
  readonly retryMsMax: number
  readonly timers?: Timers
}

type RefreshState = {
  timer: Timer | undefined
  isRunning: boolean
  /** Whether `mark` was called during the current refresh. */
  isMarked: boolean
  failures: number
}

export class Refresher implements AsyncDisposable {
  readonly #options: RefresherOptions
  readonly #timers: Timers
  readonly #known = new Map<string, RefreshState>()
  readonly #waiting = new Set<string>()
  readonly #running = new Set<Promise<void>>()
  readonly #stopping = new AbortController()

  constructor(options: RefresherOptions) {
    this.#options = options
    this.#timers = options.timers ?? systemTimers
  }

  /** Refreshes an APIService immediately, because it is new or has changed. */
  mark(name: string): void {
    const known = this.#known.get(name) ?? {
      timer: undefined,
      isRunning: false,
      isMarked: false,
      failures: 0,
    }
    this.#known.set(name, known)
    known.failures = 0
    known.timer?.close()
    if (known.isRunning) known.isMarked = true
    else this.#waiting.add(name)
    this.#start()
  }

  /** Stops refreshing an APIService, because it was deleted. */
  drop(name: string): void {
    this.#known.get(name)?.timer?.close()
    this.#known.delete(name)
    this.#waiting.delete(name)
  }

  get names(): Iterable<string> {
    return this.#known.keys()
  }

  #start(): void {
    for (const name of this.#waiting) {
      if (this.#running.size >= this.#options.workersMax || this.#stopping.signal.aborted) return
      this.#waiting.delete(name)
      const run = this.#run(name)
      this.#running.add(run)
      void run.then(() => {
        this.#running.delete(run)
        this.#start()
      })
    }
  }

  async #run(name: string): Promise<void> {
    const known = this.#known.get(name)
    if (known === undefined) return
    known.isRunning = true
    const isDone = await this.#options.refresh(name, this.#stopping.signal)
    known.isRunning = false
    if (this.#known.get(name) !== known || this.#stopping.signal.aborted) return
    if (known.isMarked) {
      known.isMarked = false
      this.#waiting.add(name)
      return
    }
    known.failures = isDone ? 0 : known.failures + 1
    const retryMs = Math.min(RETRY_MS_FIRST * 2 ** (known.failures - 1), this.#options.retryMsMax)
    known.timer = this.#timers.after(isDone ? PERIOD_MS : retryMs, () => {
      this.#waiting.add(name)
      this.#start()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    for (const { timer } of this.#known.values()) timer?.close()
    await Promise.all(this.#running)
  }
}

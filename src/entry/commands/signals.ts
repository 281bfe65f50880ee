import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { FAILURE, type Stopping } from './parts.ts'

export type SignalsParts = {
  readonly log: Log
  readonly exit: (code: number) => void
  readonly fail: (code: number, reasons: readonly string[]) => void
}

/** The first signal stops the server gracefully, a second one exits at once. A signal during the start is not lost. */
export class Signals implements Stopping {
  readonly #aborting = new AbortController()
  readonly signal = this.#aborting.signal
  readonly #parts: SignalsParts
  #stop: (() => Promise<void>) | undefined

  constructor(parts: SignalsParts) {
    this.#parts = parts
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => this.#on(signal))
  }

  /** A shell that ends and the kernel may both send one: the second does not hasten anything. */
  stopOnHangup(): void {
    process.on('SIGHUP', () => {
      // What is told from now on finds no terminal.
      for (const out of [process.stdout, process.stderr]) out.on('error', () => undefined)
      if (!this.isStopping) this.#on('SIGHUP')
    })
  }

  get isStopping(): boolean {
    return this.signal.aborted
  }

  stopWith(stop: () => Promise<void>): void {
    this.#stop = stop
    if (this.isStopping) this.#run(stop)
  }

  #on(signal: NodeJS.Signals): void {
    if (this.isStopping) return this.#parts.exit(FAILURE)
    this.#parts.log('info', 'stopping', { signal })
    this.#aborting.abort()
    if (this.#stop !== undefined) this.#run(this.#stop)
  }

  #run(stop: () => Promise<void>): void {
    const { exit, fail } = this.#parts
    stop().then(
      () => exit(0),
      (error: unknown) => fail(FAILURE, [`not everything stopped in order: ${messageOf(error)}`]),
    )
  }
}

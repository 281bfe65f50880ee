import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { FAILURE, type Stopping } from './command-context.ts'

export type SignalsOptions = {
  readonly log: Log
  readonly exit: (code: number) => void
  readonly fail: (code: number, reasons: readonly string[]) => void
  /** Called before a second signal ends the process. */
  readonly onForced?: (() => void) | undefined
}

/**
 * Handles signals. The first one stops the server gracefully, even while the server is starting. A
 * second one ends the process immediately.
 */
export class Signals implements Stopping {
  readonly #aborting = new AbortController()
  readonly signal = this.#aborting.signal
  readonly #options: SignalsOptions
  #stop: (() => Promise<void>) | undefined

  constructor(options: SignalsOptions) {
    this.#options = options
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => this.#on(signal))
  }

  /**
   * Makes SIGHUP stop the server. The shell and the kernel may both send SIGHUP when a terminal is
   * closed, so a second SIGHUP does not end the process immediately.
   */
  stopOnHangup(): void {
    process.on('SIGHUP', () => {
      // Ignore errors of writes to the terminal, which is closed after SIGHUP.
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
    if (this.isStopping) {
      this.#options.onForced?.()
      return this.#options.exit(FAILURE)
    }
    this.#options.log('info', 'stopping', { signal })
    this.#aborting.abort()
    if (this.#stop !== undefined) this.#run(this.#stop)
  }

  #run(stop: () => Promise<void>): void {
    const { exit, fail } = this.#options
    stop().then(
      () => exit(0),
      (error: unknown) => fail(FAILURE, [`the server did not stop cleanly: ${messageOf(error)}`]),
    )
  }
}

/**
 * Consistent reads without a request to the database for each. A proof is the revision of the last
 * write acknowledged before the proof was requested. All callers of one turn of the event loop, and
 * all that come while another proof is under way, share the next one: it is requested after they
 * came, so it holds for all of them.
 */
import type { Timers } from '../lib/time/timers.ts'
import type { Revision } from './engine.ts'

export class Prover {
  readonly #ask: () => Promise<Revision>
  readonly #timers: Timers
  /** Resolves when the proof under way has ended; never rejects. */
  #running: Promise<unknown> = Promise.resolve()
  #next: Promise<Revision> | undefined

  constructor(ask: () => Promise<Revision>, timers: Timers) {
    this.#ask = ask
    this.#timers = timers
  }

  /** The revision of the last change acknowledged to any client before this call. */
  prove(): Promise<Revision> {
    this.#next ??= this.#start()
    return this.#next
  }

  async #start(): Promise<Revision> {
    await this.#running
    // Requests that arrived together are handled in this turn of the event loop, so they share the
    // proof.
    await new Promise<void>((resolve) => this.#timers.defer(resolve, 'ask'))
    this.#next = undefined
    const proof = this.#ask()
    this.#running = proof.catch(() => undefined)
    return proof
  }
}

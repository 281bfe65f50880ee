/**
 * Consistent reads without asking the database for each. A proof is the revision of everything acknowledged before it was
 * asked for. All callers of one turn of the event loop, and all that come while another proof is on its way, share the next
 * one: it starts after they came, so it is good for all of them.
 */
import type { Timers } from '../lib/timers.ts'
import type { Revision } from './engine.ts'

export class Prover {
  readonly #ask: () => Promise<Revision>
  readonly #timers: Timers
  /** Ends with the proof that is on its way; never fails. */
  #running: Promise<unknown> = Promise.resolve()
  #next: Promise<Revision> | undefined

  constructor(ask: () => Promise<Revision>, timers: Timers) {
    this.#ask = ask
    this.#timers = timers
  }

  /** The revision of the last change acknowledged to anybody before this call. */
  prove(): Promise<Revision> {
    this.#next ??= this.#start()
    return this.#next
  }

  async #start(): Promise<Revision> {
    await this.#running
    // The requests that arrived together are handled one after the other in this turn.
    await new Promise<void>((resolve) => this.#timers.soon(resolve))
    this.#next = undefined
    const proof = this.#ask()
    this.#running = proof.catch(() => undefined)
    return proof
  }
}

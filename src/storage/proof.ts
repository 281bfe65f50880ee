/**
 * Consistent reads without a database request for each. A proof is the revision of the last write
 * acknowledged before the proof was requested. All callers in one tick of the event loop share a
 * proof, and so do all callers that arrive while another proof is in progress. Their proof is
 * requested after they arrived, so it holds for all of them.
 */
import type { Timers } from '../lib/time/timers.ts'
import type { Revision } from './engine.ts'

export class Prover {
  readonly #ask: () => Promise<Revision>
  readonly #timers: Timers
  /** Resolves when the proof in progress has ended; never rejects. */
  #running: Promise<unknown> = Promise.resolve()
  #next: Promise<Revision> | undefined

  constructor(ask: () => Promise<Revision>, timers: Timers) {
    this.#ask = ask
    this.#timers = timers
  }

  /** Returns the revision of the last change acknowledged to any client before this call. */
  prove(): Promise<Revision> {
    this.#next ??= this.#start()
    return this.#next
  }

  async #start(): Promise<Revision> {
    await this.#running
    // Requests that arrived together are handled in this tick of the event loop, so they share the
    // proof.
    await new Promise<void>((resolve) => this.#timers.defer(resolve, 'ask'))
    this.#next = undefined
    const proof = this.#ask()
    this.#running = proof.catch(() => undefined)
    return proof
  }
}

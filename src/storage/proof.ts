/**
 * Allows consistent reads without a database request for each. A proof is the revision of the last
 * write that was acknowledged before the proof was requested. All callers in one tick of the event
 * loop share a proof. Callers that arrive while a proof is being requested share the next one. That
 * proof is requested after they arrived, and is therefore valid for all of them.
 */
import type { Timers } from '../lib/time/timers.ts'
import type { Revision } from './engine.ts'

export class Prover {
  readonly #ask: () => Promise<Revision>
  readonly #timers: Timers
  /** Resolves when the request in progress has ended. Never rejects. */
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
    // Wait for the end of the tick, because requests that arrive together are all handled in one
    // tick. They then share one database request.
    await new Promise<void>((resolve) => this.#timers.defer(resolve, 'ask'))
    this.#next = undefined
    const proof = this.#ask()
    this.#running = proof.catch(() => undefined)
    return proof
  }
}

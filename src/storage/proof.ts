/**
 * Consistent reads without asking the database for each. A proof is the revision of everything acknowledged before it was
 * asked for. All callers that come while one proof is on its way share the next one: it starts after they came, so it is
 * good for all of them.
 */
import type { Revision } from './engine.ts'

export class Prover {
  readonly #ask: () => Promise<Revision>
  #running: Promise<unknown> | undefined
  #next: Promise<Revision> | undefined

  constructor(ask: () => Promise<Revision>) {
    this.#ask = ask
  }

  /** The revision of the last change acknowledged to anybody before this call. */
  prove(): Promise<Revision> {
    if (this.#running === undefined) return this.#start()
    this.#next ??= this.#running.then(() => {
      this.#next = undefined
      return this.#start()
    })
    return this.#next
  }

  #start(): Promise<Revision> {
    const proof = this.#ask()
    // The failure is the callers'; for the queue only the end matters.
    const ended = proof.then(
      () => undefined,
      () => undefined,
    )
    this.#running = ended
    void ended.then(() => {
      if (this.#running === ended) this.#running = undefined
    })
    return proof
  }
}

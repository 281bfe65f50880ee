/**
 * Which webhooks, or which policies, are to be invoked again in the second round of mutating
 * plugins.
 */
import type { KubeObject } from '../api/object.ts'

export class Reinvocations {
  /** Those that ask for it and have seen the object since the last change. */
  readonly #invoked = new Set<string>()
  readonly #required = new Set<string>()
  /** The object as they left it. */
  lastOutput: KubeObject | undefined

  isRequired(id: string): boolean {
    return this.#required.has(id)
  }

  invoked(id: string): void {
    this.#invoked.add(id)
  }

  /** The object has changed. */
  require(): void {
    for (const id of this.#invoked) this.#required.add(id)
    this.#invoked.clear()
  }
}

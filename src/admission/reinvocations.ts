/**
 * Tracks which webhooks, or which policies, have to be invoked again in the second round of
 * mutating plugins.
 */
import type { KubeObject } from '../api/object.ts'

export class Reinvocations {
  /**
   * Ids of the webhooks or policies with reinvocationPolicy IfNeeded that were invoked since the
   * last change of the object.
   */
  readonly #invoked = new Set<string>()
  readonly #required = new Set<string>()
  /** The object after the last invocation in the first round. */
  lastOutput: KubeObject | undefined

  isRequired(id: string): boolean {
    return this.#required.has(id)
  }

  invoked(id: string): void {
    this.#invoked.add(id)
  }

  /**
   * Called when the object has changed. The webhooks or policies that were invoked before the
   * change must be invoked again.
   */
  require(): void {
    for (const id of this.#invoked) this.#required.add(id)
    this.#invoked.clear()
  }
}

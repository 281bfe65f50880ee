/**
 * Records the writes whose usage was added to the quotas of a namespace, and that have not
 * finished. Their objects may not be stored yet. The quota controller therefore waits for these
 * writes before it counts the stored objects.
 */
export class OpenCharges {
  readonly #byNamespace = new Map<string, Set<Promise<void>>>()

  /**
   * Records that a write is being charged. Call this before a quota is changed, and call the
   * returned function when the write is stored or has failed.
   */
  begin(namespace: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    const open = this.#byNamespace.get(namespace) ?? new Set()
    this.#byNamespace.set(namespace, open.add(promise))
    return () => {
      resolve()
      open.delete(promise)
      if (open.size === 0 && this.#byNamespace.get(namespace) === open)
        this.#byNamespace.delete(namespace)
    }
  }

  /** Resolves when all writes that were charged before the call have finished. */
  async settled(namespace: string): Promise<void> {
    await Promise.all([...(this.#byNamespace.get(namespace) ?? [])])
  }
}

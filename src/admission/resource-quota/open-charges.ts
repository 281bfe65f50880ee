/**
 * Writes that were charged to the quotas of a namespace and have not ended. Their charges are in
 * the status of the quotas, but a count of the stored objects may miss them. The quota controller
 * therefore waits for them before it counts.
 */
export class OpenCharges {
  readonly #byNamespace = new Map<string, Set<Promise<void>>>()

  /**
   * Opens a charge. Call it before a quota is changed, and call the result when the write is stored
   * or has failed.
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

  /** Resolves when all writes have ended that were charged before the call. */
  async settled(namespace: string): Promise<void> {
    await Promise.all([...(this.#byNamespace.get(namespace) ?? [])])
  }
}

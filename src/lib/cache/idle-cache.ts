/**
 * Caches whose values expire when they have not been read for a while. A timer drops each value, so
 * that the memory of large values is released even if the cache is never used again. TtlCache, in
 * contrast, has no timers, and reading an entry does not extend its lifetime.
 */

/** A cache for any number of values by key. */
export class IdleCache<K, V> {
  readonly #idleMsMax: number
  readonly #entries = new Map<K, { readonly value: V; readonly timer: NodeJS.Timeout }>()

  constructor(idleMsMax: number) {
    this.#idleMsMax = idleMsMax
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    entry?.timer.refresh()
    return entry?.value
  }

  set(key: K, value: V): void {
    this.delete(key)
    const timer = setTimeout(() => this.#entries.delete(key), this.#idleMsMax)
    timer.unref()
    this.#entries.set(key, { value, timer })
  }

  delete(key: K): void {
    clearTimeout(this.#entries.get(key)?.timer)
    this.#entries.delete(key)
  }
}

/**
 * A cache for a single value, which is created on demand and expires when it has not been read for
 * a while.
 */
export class LazyValue<V extends object> {
  readonly #create: () => V
  readonly #idleMsMax: number
  #entry: { readonly value: V; readonly timer: NodeJS.Timeout } | undefined

  constructor(create: () => V, idleMsMax: number) {
    this.#create = create
    this.#idleMsMax = idleMsMax
  }

  get isCreated(): boolean {
    return this.#entry !== undefined
  }

  get value(): V {
    if (this.#entry !== undefined) {
      this.#entry.timer.refresh()
      return this.#entry.value
    }
    return this.set(this.#create())
  }

  /** Replaces the value with one that the caller has created. */
  set(value: V): V {
    this.clear()
    const timer = setTimeout(() => {
      this.#entry = undefined
    }, this.#idleMsMax)
    timer.unref()
    this.#entry = { value, timer }
    return value
  }

  /** Drops the value. The next read creates a new one. */
  clear(): void {
    clearTimeout(this.#entry?.timer)
    this.#entry = undefined
  }
}

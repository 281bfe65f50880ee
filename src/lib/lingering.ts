/** A cache whose entries expire when they have not been read for a while. */
export class Lingering<K, V> {
  readonly #ms: number
  readonly #entries = new Map<K, { readonly value: V; readonly timer: NodeJS.Timeout }>()

  constructor(ms: number) {
    this.#ms = ms
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    entry?.timer.refresh()
    return entry?.value
  }

  set(key: K, value: V): void {
    this.delete(key)
    const timer = setTimeout(() => this.#entries.delete(key), this.#ms)
    timer.unref()
    this.#entries.set(key, { value, timer })
  }

  delete(key: K): void {
    clearTimeout(this.#entries.get(key)?.timer)
    this.#entries.delete(key)
  }
}

/** A value that is created on demand and expires when it has not been read for a while. */
export class Remade<V extends object> {
  readonly #make: () => V
  readonly #ms: number
  #made: { readonly value: V; readonly timer: NodeJS.Timeout } | undefined

  constructor(make: () => V, ms: number) {
    this.#make = make
    this.#ms = ms
  }

  get isMade(): boolean {
    return this.#made !== undefined
  }

  get value(): V {
    if (this.#made !== undefined) {
      this.#made.timer.refresh()
      return this.#made.value
    }
    return this.keep(this.#make())
  }

  /** Stores a value that was created in another way. */
  keep(value: V): V {
    this.drop()
    const timer = setTimeout(() => {
      this.#made = undefined
    }, this.#ms)
    timer.unref()
    this.#made = { value, timer }
    return value
  }

  /** The next reader gets a new value. */
  drop(): void {
    clearTimeout(this.#made?.timer)
    this.#made = undefined
  }
}

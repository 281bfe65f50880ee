/**
 * The last values that were set or asked for, between half and all of `sizeMax`. The older half is forgotten at once: a Map from which the
 * first entry is taken again and again gets slow, since it steps over all that were taken before.
 */
export class Recent<Key, Value> {
  readonly #halfMax: number
  #newer = new Map<Key, Value>()
  #older = new Map<Key, Value>()

  constructor(sizeMax: number) {
    this.#halfMax = Math.ceil(sizeMax / 2)
  }

  get(key: Key): Value | undefined {
    const found = this.#newer.get(key)
    if (found !== undefined) return found
    const older = this.#older.get(key)
    if (older !== undefined) this.set(key, older)
    return older
  }

  set(key: Key, value: Value): void {
    if (this.#newer.size >= this.#halfMax && !this.#newer.has(key)) {
      this.#older = this.#newer
      this.#newer = new Map()
    }
    this.#newer.set(key, value)
  }

  delete(key: Key): void {
    this.#newer.delete(key)
    this.#older.delete(key)
  }

  clear(): void {
    this.#newer.clear()
    this.#older.clear()
  }
}

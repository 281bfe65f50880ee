/**
 * A cache with a limited number of entries, in two generations. It keeps the entries that were set
 * or read most recently: at least half of `sizeMax`, and at most `sizeMax`. When the newer
 * generation is full, the older one is dropped as a whole.
 *
 * TtlCache can also limit time and weight, and always evicts the least recently used entry. A read
 * of a TtlCache takes four times as long, because it moves the entry. Therefore, hot paths whose
 * entries do not expire use this class. A key may be a substring of a long string: it is copied, so
 * that it does not keep the long string in memory.
 */
import { ownText } from '../text/own-text.ts'

export class LruCache<Value> {
  readonly #halfMax: number
  #newer = new Map<string, Value>()
  #older = new Map<string, Value>()

  constructor(sizeMax: number) {
    this.#halfMax = Math.ceil(sizeMax / 2)
  }

  get(key: string): Value | undefined {
    const found = this.#newer.get(key)
    if (found !== undefined) return found
    const older = this.#older.get(key)
    if (older !== undefined) this.set(key, older)
    return older
  }

  set(key: string, value: Value): void {
    const isNew = !this.#newer.has(key)
    if (isNew && this.#newer.size >= this.#halfMax) {
      this.#older = this.#newer
      this.#newer = new Map()
    }
    this.#newer.set(isNew ? ownText(key) : key, value)
  }

  delete(key: string): void {
    this.#newer.delete(key)
    this.#older.delete(key)
  }

  clear(): void {
    this.#newer.clear()
    this.#older.clear()
  }
}

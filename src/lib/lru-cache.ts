/**
 * The last values that were set or asked for, between half and all of `sizeMax`. The older half is forgotten at once: a Map from which the
 * first entry is taken again and again gets slow, since it steps over all that were taken before. Keys may be parts of longer texts.
 */
import { ownText } from './own-text.ts'

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

/**
 * What can be made again but is likely to be asked for again soon: framed events, objects in other forms. It is kept within
 * a budget of bytes; the oldest goes first, asked for or not.
 */
import { Deque } from '../lib/deque.ts'

/** Something on a shelf. `drop` lets go of it and says how many bytes that were. */
export type Dropped = { drop(): number }

export class Shelf {
  readonly #bytesMax: number
  readonly #entries = new Deque<Dropped>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  add(entry: Dropped, bytes: number): void {
    this.#entries.push(entry)
    this.#bytes += bytes
    while (this.#bytes > this.#bytesMax) this.#bytes -= this.#entries.shift()?.drop() ?? this.#bytes
  }
}

/** One form of each of many things, made when it is first asked for. */
export class Shelved<K extends WeakKey, V> {
  readonly #shelf: Shelf
  readonly #make: (key: K) => V
  readonly #bytesOf: (value: V) => number
  readonly #entries = new WeakMap<K, Entry<V>>()

  constructor(shelf: Shelf, make: (key: K) => V, bytesOf: (value: V) => number) {
    this.#shelf = shelf
    this.#make = make
    this.#bytesOf = bytesOf
  }

  of(key: K): V {
    const known = this.#entries.get(key)?.value
    if (known !== undefined) return known
    const value = this.#make(key)
    const bytes = this.#bytesOf(value)
    const entry = new Entry(value, bytes)
    this.#entries.set(key, entry)
    this.#shelf.add(entry, bytes)
    return value
  }
}

class Entry<V> implements Dropped {
  value: V | undefined
  readonly #bytes: number

  constructor(value: V, bytes: number) {
    this.value = value
    this.#bytes = bytes
  }

  drop(): number {
    this.value = undefined
    return this.#bytes
  }
}

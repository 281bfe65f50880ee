/**
 * What can be had again but is likely to be asked for again soon: framed events, objects in other forms, the recent past of
 * resources. It is kept within a budget of bytes and for 80 seconds; the oldest goes first, asked for or not.
 */
import { Deque } from '../lib/deque.ts'

/** How many turns of the housekeeper a thing stays, if there is room: 80 s, a little longer than states stay with upstream. */
export const TURNS_KEPT = 8
/** In one turn, which takes some milliseconds then; what is left goes in the next ones. */
const TIDIED_MAX = 20_000

/** Something on a shelf. `drop` lets go of it. */
export type Dropped = { drop(): void }

type Entry = { readonly thing: Dropped; readonly bytes: number; readonly turn: number }

export class Shelf {
  readonly #bytesMax: number
  readonly #entries = new Deque<Entry>()
  #bytes = 0
  #turn = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  add(thing: Dropped, bytes: number): void {
    this.#entries.push({ thing, bytes, turn: this.#turn })
    this.#bytes += bytes
    while (this.#bytes > this.#bytesMax) this.#dropOldest()
  }

  /** Ends a turn: what has been here for long goes, so that a burst does not cost memory for good. */
  tidy(): void {
    const oldest = ++this.#turn - TURNS_KEPT
    for (let dropped = 0; dropped < TIDIED_MAX; dropped++) {
      if ((this.#entries.at(0)?.turn ?? oldest) >= oldest) return
      this.#dropOldest()
    }
  }

  #dropOldest(): void {
    const entry = this.#entries.shift()
    this.#bytes -= entry?.bytes ?? this.#bytes
    entry?.thing.drop()
  }
}

/** One form of each of many things, made when it is first asked for. */
export class Shelved<K extends WeakKey, V> {
  readonly #shelf: Shelf
  readonly #make: (key: K) => V
  readonly #bytesOf: (value: V) => number
  readonly #entries = new WeakMap<K, { value: V | undefined }>()

  constructor(shelf: Shelf, make: (key: K) => V, bytesOf: (value: V) => number) {
    this.#shelf = shelf
    this.#make = make
    this.#bytesOf = bytesOf
  }

  of(key: K): V {
    const known = this.#entries.get(key)?.value
    if (known !== undefined) return known
    const value = this.#make(key)
    const entry = new Made(value)
    this.#entries.set(key, entry)
    this.#shelf.add(entry, this.#bytesOf(value))
    return value
  }
}

class Made<V> implements Dropped {
  value: V | undefined

  constructor(value: V) {
    this.value = value
  }

  drop(): void {
    this.value = undefined
  }
}

/**
 * What can be had again but is likely to be asked for again soon: framed events, objects in other forms, the recent past of
 * resources. It is kept within a budget of bytes and for 80 seconds; the oldest goes first, but other forms that were asked for since get
 * another round.
 */
import { Deque } from '../lib/deque.ts'
import { type Slabs, Slot } from './slabs.ts'

/** How many turns of the housekeeper a thing stays, if there is room: 80 s, a little longer than states stay with upstream. */
export const TURNS_KEPT = 8
/** In one turn, which takes some milliseconds then; what is left goes in the next ones. */
const TIDIED_MAX = 20_000

/** Where all are in use, so many get another round before one goes. */
const SPARED_MAX = 1_000

/** What has no room beyond this is left to who asks for it. */
const FULL_SHARE = 0.9

/** Something on a shelf. `drop` lets go of it. `isUsed`: whether it was asked for since the shelf last looked. */
export type Dropped = { drop(): void; isUsed?: boolean }

type Entry = { readonly thing: Dropped; readonly bytes: number; readonly turn: number }

export class Shelf {
  readonly #bytesMax: number
  readonly #entries = new Deque<Entry>()
  #bytes = 0
  #turn = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** More would push out what came before. */
  get isFull(): boolean {
    return this.#bytes >= this.#bytesMax * FULL_SHARE
  }

  add(thing: Dropped, bytes: number): void {
    this.#entries.push({ thing, bytes, turn: this.#turn })
    this.#bytes += bytes
    for (let passed = 0; this.#bytes > this.#bytesMax; passed++) this.#passOldest(passed < SPARED_MAX)
  }

  /** Ends a turn: what has been here for long goes, so that a burst does not cost memory for good. */
  tidy(): void {
    const oldest = ++this.#turn - TURNS_KEPT
    for (let passed = 0; passed < TIDIED_MAX; passed++) {
      if ((this.#entries.at(0)?.turn ?? oldest) >= oldest) return
      this.#passOldest()
    }
  }

  /** Drops it, or gives it another round, in which it must be asked for again, if it may. */
  #passOldest(maySpare = true): void {
    const entry = this.#entries.shift()
    if (maySpare && entry?.thing.isUsed === true) {
      entry.thing.isUsed = false
      this.#entries.push({ ...entry, turn: this.#turn })
      return
    }
    this.#bytes -= entry?.bytes ?? this.#bytes
    entry?.thing.drop()
  }
}

/** What is on a shelf besides its bytes: an entry there, an entry in a map, a slot. */
export const ENTRY_BYTES = 250

/** One form of each of many things, in bytes, made when it is first asked for. */
export class ShelvedBytes<K extends WeakKey> {
  readonly #shelf: Shelf
  readonly #slabs: Slabs
  readonly #make: (key: K) => Buffer
  readonly #entries = new WeakMap<K, MadeBytes>()

  constructor({ shelf, slabs }: MadeParts, make: (key: K) => Buffer) {
    this.#shelf = shelf
    this.#slabs = slabs
    this.#make = make
  }

  of(key: K): Buffer {
    const known = this.#entries.get(key)
    if (known?.slab !== undefined) {
      known.isUsed = true
      return this.#slabs.view(known)
    }
    const bytes = this.#make(key)
    const made = new MadeBytes(this.#slabs)
    this.#slabs.put(made, bytes)
    this.#entries.set(key, made)
    this.#shelf.add(made, bytes.length + ENTRY_BYTES)
    return bytes
  }
}

/** Where forms are kept. In slabs of their own: a small Buffer is a part of one of 64 KB, all of which it would hold on to. */
export type MadeParts = { readonly shelf: Shelf; readonly slabs: Slabs }

class MadeBytes extends Slot implements Dropped {
  isUsed = false
  readonly #slabs: Slabs

  constructor(slabs: Slabs) {
    super()
    this.#slabs = slabs
  }

  /** Whoever has a view has the slab; the entry must not, since it stays for as long as its object. */
  drop(): void {
    this.#slabs.release(this)
    this.slab = undefined
  }
}

/** The same for what is no single piece of bytes. */
export class Shelved<K extends WeakKey, V> {
  readonly #shelf: Shelf
  readonly #make: (key: K) => V
  readonly #bytesOf: (value: V) => number
  readonly #entries = new WeakMap<K, Made<V>>()

  constructor(shelf: Shelf, make: (key: K) => V, bytesOf: (value: V) => number) {
    this.#shelf = shelf
    this.#make = make
    this.#bytesOf = bytesOf
  }

  of(key: K): V {
    const known = this.#entries.get(key)
    if (known?.value !== undefined) {
      known.isUsed = true
      return known.value
    }
    const value = this.#make(key)
    const entry = new Made(value)
    this.#entries.set(key, entry)
    this.#shelf.add(entry, this.#bytesOf(value) + ENTRY_BYTES)
    return value
  }
}

class Made<V> implements Dropped {
  value: V | undefined
  isUsed = false

  constructor(value: V) {
    this.value = value
  }

  drop(): void {
    this.value = undefined
  }
}

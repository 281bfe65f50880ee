/**
 * The keys of a resource's current objects by the value of a field, such as pods by node, or of a label. An index is made in slices: of
 * a field that the kind declares, when it is first asked for; of a label, when scans for it have looked at many objects in vain. It
 * follows the ring: it takes up events when it is asked again, so that it costs nothing until then. Where it cannot answer in this
 * turn, nobody waits: all objects are looked at, as for most states of the past.
 */
import { Slices, type SlicesTime } from '../lib/slices.ts'
import type { Key } from '../storage/engine.ts'
import type { KeyRange } from '../storage/keys.ts'
import type { ObjectChange } from './event.ts'
import { type Facts, FactsReader, Sought } from './facts.ts'
import type { Item } from './item.ts'
import type { Ring } from './ring.ts'
import { type IndexedValue, type KeySet, newKeySet, type Tree, walk } from './tree.ts'

/** Sweeps of the cache, one each 10 s, without a lookup after which an index is dropped: five minutes. */
const UNUSED_SWEEPS = 30
/** What is taken up in the turn of a question, in events of known facts: about a millisecond. */
const EVENTS_AT_ONCE = 500
/** What the decoding of an object that has no facts yet counts. */
const DECODE_EVENTS = 20
/** To find an object by its key takes about twice as long as to look at it in a scan: an index that leads to half of all saves nothing, but for so few. */
const FEW = 100
/** Any client can ask for any label. An index takes 15 bytes of each object that has the label, and 100 more where no two have the same value. */
const LABELS_MAX = 2
/** Labels whose scans are counted at the same time; with more, one is forgotten. */
const LABELS_COUNTED = 32
/** Objects looked at in vain between two sweeps, which are ten seconds apart, before an index is built: some milliseconds' work. */
const LOOKS_MIN = 10_000

/** The resource as it is now. */
type Current = { readonly tree: Tree; readonly ring: Ring; readonly range: KeyRange }

type ValueOf = (item: Item) => string | undefined

/** `looksMin`: for tests, which have few objects. */
export type IndexLimits = { readonly looksMin?: number | undefined }

/** Names an index. Neither a field nor a label has a blank in its name. */
export const indexOf = (by: IndexedValue): string => ('field' in by ? by.field : `label ${by.label}`)

export class FieldIndexes {
  readonly #facts: Facts
  readonly #current: () => Current
  readonly #time: SlicesTime
  readonly #looksMin: number
  readonly #indexes = new Map<string, FieldIndex>()
  /** Objects that scans for a label have looked at in vain since the last sweep. */
  readonly #looks = new Map<string, number>()
  readonly #none = newKeySet()
  readonly #reader = new FactsReader()

  constructor(facts: Facts, current: () => Current, time: SlicesTime, { looksMin = LOOKS_MIN }: IndexLimits = {}) {
    this.#facts = facts
    this.#current = current
    this.#time = time
    this.#looksMin = looksMin
  }

  /**
   * The fewest keys that lead to all objects that have these values now; undefined if no index can tell in this turn, or a scan is
   * quicker. The set changes: clone it.
   */
  find(asked: readonly IndexedValue[]): KeySet | undefined {
    let least: KeySet | undefined
    let used: FieldIndex | undefined
    for (const by of asked) {
      const index = this.#indexOf(by)
      if (index === undefined || index.isBusy || !this.#isCaughtUp(index)) continue
      const found = index.find(by.value) ?? this.#none
      if (least !== undefined && found.size >= least.size) continue
      least = found
      used = index
    }
    if (used !== undefined) used.unusedSweeps = 0
    return least !== undefined && least.size > Math.max(FEW, this.#current().tree.size / 2) ? undefined : least
  }

  /** A scan for these values has looked at so many objects in vain. */
  noteScan(asked: readonly IndexedValue[], looks: number): void {
    for (const by of asked) {
      if ('field' in by || this.#indexes.has(indexOf(by))) continue
      const sum = (this.#looks.get(by.label) ?? 0) + looks
      const wanted = Math.max(this.#looksMin, this.#current().tree.size)
      if (sum > wanted && this.#makeRoom()) {
        this.#looks.delete(by.label)
        this.#begin(by)
      } else {
        this.#count(by.label, sum)
      }
    }
  }

  /** How to read a value; undefined for a field that is not kept. */
  readerOf(by: IndexedValue): ValueOf | undefined {
    if ('label' in by) {
      const key = new Sought(by.label)
      let changes = 0
      return (item) => {
        // That may give words a number, or another one: before they are looked up.
        if (item.tailBytes === 0) item.settle()
        if (changes !== this.#facts.changes) {
          changes = this.#facts.changes
          this.#facts.lookUp(key)
        }
        return this.#labelOf(item, key)
      }
    }
    const place = this.#facts.placeOf(by.field)
    return place === undefined ? undefined : (item) => this.#fieldOf(item, place)
  }

  /** Drops indexes that nobody uses; those in use take up new events before the ring evicts them. */
  onSweep(): void {
    this.#looks.clear()
    for (const [name, index] of this.#indexes) {
      if (++index.unusedSweeps > UNUSED_SWEEPS || index.ring !== this.#current().ring) this.#indexes.delete(name)
      else if (!index.isBusy) this.#isCaughtUp(index)
    }
  }

  clear(): void {
    this.#indexes.clear()
  }

  /** Of the state that the resource shows now. Of a field it is begun if there is none. */
  #indexOf(by: IndexedValue): FieldIndex | undefined {
    const known = this.#indexes.get(indexOf(by))
    if (known?.ring === this.#current().ring) return known
    return known !== undefined || 'field' in by ? this.#begin(by) : undefined
  }

  /** Undefined: the field is not kept. */
  #begin(by: IndexedValue): FieldIndex | undefined {
    const { ring, tree, range } = this.#current()
    const valueOf = this.readerOf(by)
    if (valueOf === undefined) return undefined
    const index = new FieldIndex(ring, valueOf, 'label' in by)
    this.#indexes.set(indexOf(by), index)
    void this.#fill(index, tree.clone(), range)
    return index
  }

  /** False: no other label may have an index. One that was used since the last sweep is not dropped for it. */
  #makeRoom(): boolean {
    const labels = [...this.#indexes].filter(([, index]) => index.isOfLabel)
    if (labels.length < LABELS_MAX) return true
    const unused = labels.find(([, index]) => index.unusedSweeps > 0 && !index.isBusy)
    return unused !== undefined && this.#indexes.delete(unused[0])
  }

  #count(label: string, looks: number): void {
    if (this.#looks.size === LABELS_COUNTED && !this.#looks.has(label)) {
      const [oldest = label] = this.#looks.keys()
      this.#looks.delete(oldest)
    }
    this.#looks.set(label, looks)
  }

  #fieldOf(item: Item, place: number): string {
    const slab = this.#slabOf(item)
    if (slab === undefined) return this.#facts.readField(this.#decoded(item), place)
    this.#reader.openField(this.#facts, slab.bytes, { at: item.at + item.length, place })
    return this.#reader.text(this.#facts)
  }

  #labelOf(item: Item, key: Sought): string | undefined {
    const slab = this.#slabOf(item)
    if (slab === undefined) {
      const { labels } = this.#decoded(item).metadata
      return labels !== undefined && Object.hasOwn(labels, key.text) ? labels[key.text] : undefined
    }
    const hasIt = this.#reader.openLabel(this.#facts, slab.bytes, { at: item.at + item.length, key })
    return hasIt ? this.#reader.text(this.#facts) : undefined
  }

  /** Where the facts of the item are; undefined: it has none, or none that can be read. */
  #slabOf(item: Item): Item['slab'] {
    if (item.tailBytes === 0) item.settle()
    return item.hasFacts ? item.slab : undefined
  }

  #decoded(item: Item): ReturnType<Item['peek']> {
    const object = item.peek()
    item.noteFacts(object)
    return object
  }

  /** False: it is not, or no more; what is missing is taken up in slices. */
  #isCaughtUp(index: FieldIndex): boolean {
    try {
      if (index.follow(EVENTS_AT_ONCE)) return true
    } catch {
      this.#forget(index)
      return false
    }
    void this.#followInSlices(index)
    return false
  }

  async #fill(index: FieldIndex, tree: Tree, range: KeyRange): Promise<void> {
    index.isBusy = true
    try {
      await walk(tree, range, this.#time, (item) => {
        index.add(item)
        return true
      })
    } catch {
      this.#forget(index)
      return
    }
    await this.#followInSlices(index)
  }

  async #followInSlices(index: FieldIndex): Promise<void> {
    index.isBusy = true
    const slices = new Slices(this.#time)
    try {
      while (!index.follow(1)) {
        if (index.isLost) return this.#forget(index)
        if (slices.isOver) await slices.turn()
      }
      index.isBusy = false
    } catch {
      this.#forget(index)
    }
  }

  /** Who asks then looks at the objects themselves, and is told what is wrong with one. */
  #forget(index: FieldIndex): void {
    for (const [name, one] of this.#indexes) if (one === index) this.#indexes.delete(name)
  }
}

class FieldIndex {
  readonly ring: Ring
  readonly isOfLabel: boolean
  /** A key alone where it is the only one: values may be as many as objects. */
  readonly #values = new Map<string, Key | KeySet>()
  /** While it is made, or takes up many events. */
  isBusy = false
  unusedSweeps = 0
  readonly #valueOf: ValueOf
  /** The first event of the ring that is not in it. */
  #position: number

  constructor(ring: Ring, valueOf: ValueOf, isOfLabel: boolean) {
    this.ring = ring
    this.isOfLabel = isOfLabel
    this.#position = ring.end
    this.#valueOf = valueOf
  }

  /** The ring has forgotten what comes next. */
  get isLost(): boolean {
    return this.#position < this.ring.first
  }

  find(value: string): KeySet | undefined {
    const found = this.#values.get(value)
    return typeof found === 'string' ? keySetOf(found) : found
  }

  add(item: Item): void {
    const value = this.#valueOf(item)
    if (value !== undefined) this.#set(value, item.key)
  }

  /** Takes up events; false if there are more than it may take, or they are gone. */
  follow(eventsMax: number): boolean {
    let left = eventsMax
    while (this.#position < this.ring.end) {
      if (left <= 0) return false
      const change = this.ring.at(this.#position)
      if (change === undefined) return false
      left -= change.item?.hasFacts === false ? DECODE_EVENTS : 1
      this.#apply(change)
      this.#position++
    }
    return true
  }

  #apply({ key, item, previous }: ObjectChange): void {
    const before = previous && this.#valueOf(previous)
    const after = item && this.#valueOf(item)
    if (before === after) return
    if (before !== undefined) this.#delete(before, key)
    if (after !== undefined) this.#set(after, key)
  }

  #set(value: string, key: Key): void {
    const known = this.#values.get(value)
    if (known === undefined || known === key) this.#values.set(value, key)
    else if (typeof known === 'string') this.#values.set(value, keySetOf(known, key))
    else known.set(key, undefined)
  }

  #delete(value: string, key: Key): void {
    const known = this.#values.get(value)
    if (known === key) this.#values.delete(value)
    if (known === undefined || typeof known === 'string') return
    known.delete(key)
    if (known.size === 0) this.#values.delete(value)
  }
}

function keySetOf(...keys: readonly Key[]): KeySet {
  const set = newKeySet()
  for (const key of keys) set.set(key, undefined)
  return set
}

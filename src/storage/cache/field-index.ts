/**
 * Indexes of a resource's current objects by the value of a field, such as pods by node, or of a
 * label. An index maps each value to the keys of the objects that have it. It is built in slices.
 * The index of a selectable field is built at the first query, and that of a label when scans for
 * the label have rejected many objects. The index applies the events of the event ring at each
 * query and at each periodic cleanup. If it cannot answer in the current tick of the event loop,
 * the query scans all objects instead of waiting. Most queries of past states also scan.
 */
import { ownText } from '../../lib/text/own-text.ts'
import { Slices, type SlicesTime } from '../../lib/scheduling/slices.ts'
import type { Key } from '../engine.ts'
import type { KeyRange } from '../keys.ts'
import type { ObjectChange } from './event.ts'
import { type Facts, FactsReader, SoughtText } from './facts.ts'
import type { Item } from './item.ts'
import type { Ring } from './ring.ts'
import { type IndexedValue, type KeySet, newKeySet, type Tree, walk } from './tree.ts'

/**
 * Number of periodic cleanups without a lookup after which an index is dropped. There is one
 * cleanup every 10 s, so the index is dropped after five minutes.
 */
const UNUSED_SWEEPS = 30
/**
 * Maximum number of events that are applied before a query is answered. This takes about a
 * millisecond if no object has to be decoded.
 */
const EVENTS_AT_ONCE = 500
/**
 * Weight of an event whose object must be decoded, because its labels and fields are not stored in
 * encoded form (facts.ts). Other events have weight 1.
 */
const DECODE_EVENTS = 20
/**
 * An index is used in any case if it finds at most this many keys. With more keys, it is used only
 * if it finds at most half of all objects. Looking up an object by key takes about twice as long as
 * matching it in a scan.
 */
const FEW = 100
/**
 * Maximum number of labels that have an index. Without a limit, clients could cause many indexes,
 * because they can select by any label. An index takes 15 bytes per object with the label, and 100
 * bytes more if all values differ.
 */
const LABELS_MAX = 2
/**
 * Maximum number of labels whose scans are counted. If there are more, the oldest count is dropped.
 */
const LABELS_COUNTED = 32
/**
 * Minimum number of objects that scans for a label must reject between two periodic cleanups (ten
 * seconds) before an index is built. Rejecting this many takes a few milliseconds.
 */
const LOOKS_MIN = 10_000

/** Returns the current contents of the resource. */
type Current = { readonly tree: Tree; readonly ring: Ring; readonly range: KeyRange }

type ValueOf = (item: Item) => string | undefined

/** Limits of the indexes. `looksMin` is smaller in tests. */
export type IndexLimits = { readonly looksMin?: number | undefined }

/**
 * Returns the name of an index. Names are unique, because names of fields and labels do not contain
 * spaces.
 */
export const indexOf = (by: IndexedValue): string =>
  'field' in by ? by.field : `label ${by.label}`

export class FieldIndexes {
  readonly #facts: Facts
  readonly #current: () => Current
  readonly #time: SlicesTime
  readonly #looksMin: number
  readonly #indexes = new Map<string, FieldIndex>()
  /** Number of objects that scans for each label have rejected since the last periodic cleanup. */
  readonly #looks = new Map<string, number>()
  readonly #none = newKeySet()
  readonly #reader = new FactsReader()

  constructor(
    facts: Facts,
    current: () => Current,
    time: SlicesTime,
    { looksMin = LOOKS_MIN }: IndexLimits = {},
  ) {
    this.#facts = facts
    this.#current = current
    this.#time = time
    this.#looksMin = looksMin
  }

  /**
   * Returns the smallest set of keys that contains all objects with these values. Returns undefined
   * if no index can answer in this tick of the event loop, or if a scan is faster. The set changes
   * later, so callers must clone it.
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
    return least !== undefined && least.size > Math.max(FEW, this.#current().tree.size / 2)
      ? undefined
      : least
  }

  /**
   * Records that a scan for these values has rejected `looks` objects. Starts to build an index if
   * such scans have become expensive.
   */
  recordScan(asked: readonly IndexedValue[], looks: number): void {
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

  /**
   * Returns a function that reads a value from an item. Returns undefined if the value is a field
   * that is not encoded (facts.ts).
   */
  readerOf(by: IndexedValue): ValueOf | undefined {
    if ('label' in by) {
      const key = new SoughtText(ownText(by.label))
      let changes = 0
      return (item) => {
        // `settle` can change the number of a string in the vocabulary (table of shared strings),
        // so look up the key afterwards.
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

  /**
   * Drops unused indexes, and makes the others apply new events before the event ring evicts them.
   */
  onSweep(): void {
    this.#looks.clear()
    for (const [name, index] of this.#indexes) {
      if (++index.unusedSweeps > UNUSED_SWEEPS || index.ring !== this.#current().ring)
        this.#indexes.delete(name)
      else if (!index.isBusy) this.#isCaughtUp(index)
    }
  }

  clear(): void {
    this.#indexes.clear()
  }

  /**
   * Returns the index of the current contents. If there is none, starts to build it for a field,
   * and for a label that had an index before the resource was listed again.
   */
  #indexOf(by: IndexedValue): FieldIndex | undefined {
    const known = this.#indexes.get(indexOf(by))
    if (known?.ring === this.#current().ring) return known
    return known !== undefined || 'field' in by ? this.#begin(by) : undefined
  }

  /** Starts to build an index. Returns undefined if the field is not encoded (facts.ts). */
  #begin(by: IndexedValue): FieldIndex | undefined {
    const { ring, tree, range } = this.#current()
    const valueOf = this.readerOf(by)
    if (valueOf === undefined) return undefined
    const index = new FieldIndex(ring, valueOf, 'label' in by)
    this.#indexes.set(ownText(indexOf(by)), index)
    void this.#fill(index, tree.clone(), range)
    return index
  }

  /**
   * Makes room for the index of another label. Returns false if there is no room because all label
   * indexes are being built or were used since the last periodic cleanup.
   */
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
    // Copies the label, because it is a slice of a selector, which can be a megabyte long.
    this.#looks.set(this.#looks.has(label) ? label : ownText(label), looks)
  }

  #fieldOf(item: Item, place: number): string {
    const slab = this.#slabOf(item)
    // Copies the value, because it may be a slice of the object's text, which the index would keep
    // in memory.
    if (slab === undefined) return ownText(this.#facts.readField(this.#decoded(item), place))
    this.#reader.openField(this.#facts, slab.bytes, { at: item.at + item.length, place })
    return this.#reader.text(this.#facts)
  }

  #labelOf(item: Item, key: SoughtText): string | undefined {
    const slab = this.#slabOf(item)
    if (slab === undefined) {
      const { labels } = this.#decoded(item).metadata
      const value =
        labels !== undefined && Object.hasOwn(labels, key.text) ? labels[key.text] : undefined
      return value && ownText(value)
    }
    const hasIt = this.#reader.openLabel(this.#facts, slab.bytes, {
      at: item.at + item.length,
      key,
    })
    return hasIt ? this.#reader.text(this.#facts) : undefined
  }

  /**
   * Returns the slab (large buffer) that contains the encoded labels and fields of the item
   * (facts.ts). Returns undefined if these cannot be read.
   */
  #slabOf(item: Item): Item['slab'] {
    if (item.tailBytes === 0) item.settle()
    return item.hasFacts ? item.slab : undefined
  }

  #decoded(item: Item): ReturnType<Item['peek']> {
    const object = item.peek()
    item.recordFacts(object)
    return object
  }

  /**
   * Returns true if the index has applied all events. Otherwise lets it catch up in slices, or
   * drops it after an error.
   */
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

  /**
   * Drops an index. Later queries scan the objects, and report the error if an object cannot be
   * decoded.
   */
  #forget(index: FieldIndex): void {
    for (const [name, one] of this.#indexes) if (one === index) this.#indexes.delete(name)
  }
}

class FieldIndex {
  readonly ring: Ring
  readonly isOfLabel: boolean
  /**
   * Keys of objects by indexed value. A single key is stored without a set to save memory, because
   * there may be as many values as objects.
   */
  readonly #values = new Map<string, Key | KeySet>()
  /** Whether the index is being built or is applying many events. */
  isBusy = false
  unusedSweeps = 0
  readonly #valueOf: ValueOf
  /** Position of the first event that has not been applied yet. */
  #position: number

  constructor(ring: Ring, valueOf: ValueOf, isOfLabel: boolean) {
    this.ring = ring
    this.isOfLabel = isOfLabel
    this.#position = ring.end
    this.#valueOf = valueOf
  }

  /** Whether the event ring has evicted the next event that the index must apply. */
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

  /**
   * Applies events. Returns false if there are more than `eventsMax`, or if the event ring has
   * evicted them.
   */
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

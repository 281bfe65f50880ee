/**
 * The current objects of a resource by the value of a field, such as pods by node. An index is made when it is first asked for,
 * in slices, and follows the ring: it takes up events when it is asked again, so that it costs nothing until then. Where it
 * cannot answer in this turn, nobody waits: all objects are looked at, as for states of the past.
 */
import { Slices, type SlicesTime } from '../lib/slices.ts'
import type { KeyRange } from '../storage/keys.ts'
import type { Change } from './event.ts'
import { type Facts, FactsReader } from './facts.ts'
import { Item } from './item.ts'
import type { Ring } from './ring.ts'
import { type FieldValue, newTree, type Tree, walk } from './tree.ts'

/** Turns of the housekeeper without a question after which an index goes: five minutes. */
const UNUSED_TURNS = 30
/** What is taken up in the turn of a question, in events of known facts: about a millisecond. */
const EVENTS_AT_ONCE = 500
/** What the decoding of an object that has no facts yet counts. */
const DECODE_EVENTS = 20

/** The resource as it is now. */
type Current = { readonly tree: Tree; readonly ring: Ring; readonly range: KeyRange }

export class FieldIndexes {
  readonly #facts: Facts
  readonly #current: () => Current
  readonly #time: SlicesTime
  readonly #indexes = new Map<string, FieldIndex>()
  readonly #none = newTree()
  readonly #reader = new FactsReader()

  constructor(facts: Facts, current: () => Current, time: SlicesTime) {
    this.#facts = facts
    this.#current = current
    this.#time = time
  }

  /** The objects that have the value now; undefined if the index cannot tell in this turn. The tree changes: clone it. */
  find({ field, value }: FieldValue): Tree | undefined {
    const index = this.#indexOf(field)
    if (index === undefined || index.isBusy) return undefined
    index.unusedTurns = 0
    if (!this.#isCaughtUp(index)) return undefined
    return index.find(value) ?? this.#none
  }

  /** How to read a field; undefined for one that is not kept. */
  readerOf(field: string): ((item: Item) => string) | undefined {
    const place = this.#facts.placeOf(field)
    return place === undefined ? undefined : (item) => this.#valueOf(item, place)
  }

  /** Of the housekeeper: an index that nobody asks goes, and one that is asked does not fall behind the ring. */
  endTurn(): void {
    for (const [field, index] of this.#indexes) {
      if (++index.unusedTurns > UNUSED_TURNS || index.ring !== this.#current().ring) this.#indexes.delete(field)
      else if (!index.isBusy) this.#isCaughtUp(index)
    }
  }

  clear(): void {
    this.#indexes.clear()
  }

  /** Of the state that the resource shows now; begun if there is none. Undefined: the field is not kept. */
  #indexOf(field: string): FieldIndex | undefined {
    const known = this.#indexes.get(field)
    const { ring, tree, range } = this.#current()
    if (known?.ring === ring) return known
    const valueOf = this.readerOf(field)
    if (valueOf === undefined) return undefined
    const index = new FieldIndex(ring, valueOf)
    this.#indexes.set(field, index)
    void this.#fill(index, tree.clone(), range)
    return index
  }

  #valueOf(item: Item, place: number): string {
    if (item.tailBytes === 0) item.settle()
    const { slab, tailBytes } = item
    if (tailBytes > 0 && slab !== undefined) {
      this.#reader.openField(slab.bytes, item.at + item.length, place)
      return this.#reader.text(this.#facts)
    }
    const object = item.peek()
    item.noteFacts(object)
    return this.#facts.readField(object, place)
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
    for (const [field, one] of this.#indexes) if (one === index) this.#indexes.delete(field)
  }
}

class FieldIndex {
  readonly ring: Ring
  /** An item alone where it is the only one: values may be as many as objects. */
  readonly #values = new Map<string, Item | Tree>()
  /** While it is made, or takes up many events. */
  isBusy = false
  unusedTurns = 0
  readonly #valueOf: (item: Item) => string
  /** The first event of the ring that is not in it. */
  #position: number

  constructor(ring: Ring, valueOf: (item: Item) => string) {
    this.ring = ring
    this.#position = ring.end
    this.#valueOf = valueOf
  }

  /** The ring has forgotten what comes next. */
  get isLost(): boolean {
    return this.#position < this.ring.first
  }

  find(value: string): Tree | undefined {
    const found = this.#values.get(value)
    return found instanceof Item ? treeOf(found) : found
  }

  add(item: Item): void {
    this.#set(this.#valueOf(item), item)
  }

  /** Takes up events; false if there are more than it may take, or they are gone. */
  follow(eventsMax: number): boolean {
    let left = eventsMax
    while (this.#position < this.ring.end) {
      if (left <= 0) return false
      const change = this.ring.at(this.#position)
      if (change === undefined) return false
      left -= change.item?.tailBytes === 0 ? DECODE_EVENTS : 1
      this.#apply(change)
      this.#position++
    }
    return true
  }

  #apply({ key, item, previous }: Change): void {
    const before = previous && this.#valueOf(previous)
    const after = item && this.#valueOf(item)
    if (before !== undefined && before !== after) this.#delete(before, key)
    if (item !== undefined && after !== undefined) this.#set(after, item)
  }

  #set(value: string, item: Item): void {
    const known = this.#values.get(value)
    if (known === undefined || (known instanceof Item && known.key === item.key)) this.#values.set(value, item)
    else if (known instanceof Item) this.#values.set(value, treeOf(known, item))
    else known.set(item.key, item)
  }

  #delete(value: string, key: Item['key']): void {
    const known = this.#values.get(value)
    if (known instanceof Item) {
      if (known.key === key) this.#values.delete(value)
      return
    }
    known?.delete(key)
    if (known?.size === 0) this.#values.delete(value)
  }
}

function treeOf(...items: readonly Item[]): Tree {
  const tree = newTree()
  for (const item of items) tree.set(item.key, item)
  return tree
}

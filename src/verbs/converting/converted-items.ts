/**
 * Objects that webhooks have converted, as bytes, for all resources together: who reads one again, or watches, does not make the webhook
 * work again. Those that were used last stay, within a budget.
 */
import { Item } from '../../cache/item.ts'
import type { Key } from '../../storage/engine.ts'

/** Some hundred thousand objects of usual size. */
const BYTES_MAX = 128 << 20
/** What an entry takes besides the bytes of its object. */
const ENTRY_BYTES = 250

/** A resource in one version, as one definition has it: its items by key; what was used last stands last. */
export class Owner {
  readonly items = new Map<Key, Kept>()
  isGone = false
}

/** Of each object its current revision, and the one before, which watchers with a selector compare it with, if it was seen. */
type Kept = Item | readonly [Item, Item]

export class ConvertedItems {
  readonly #bytesMax: number
  readonly #release: (item: Item) => void
  /** Those that have items; what was used last stands last. */
  readonly #owners = new Set<Owner>()
  #bytes = 0

  /** `release`: the bytes of the item are not needed any longer. */
  constructor(release: (item: Item) => void, bytesMax = BYTES_MAX) {
    this.#release = release
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  get(owner: Owner, { key, revision }: Pick<Item, 'key' | 'revision'>): Item | undefined {
    const kept = owner.items.get(key)
    if (kept === undefined) return undefined
    this.#set(owner, key, kept)
    return revisionsOf(kept).find((item) => item.revision === revision)
  }

  add(owner: Owner, item: Item): void {
    if (owner.isGone) return
    const before = owner.items.get(item.key)
    const known = before === undefined ? [] : revisionsOf(before)
    const all = [...known.filter(({ revision }) => revision !== item.revision), item]
    const [last = item, previous] = all.toSorted((one, other) => other.revision - one.revision)
    this.#set(owner, item.key, previous === undefined ? last : [previous, last])
    this.#bytes += item.length + ENTRY_BYTES
    for (const one of [...known, item]) if (one !== last && one !== previous) this.#drop(one)
    while (this.#bytes > this.#bytesMax && this.#dropOldest());
  }

  /** Nobody will ask for what it has any longer. */
  deleteAll(owner: Owner): void {
    owner.isGone = true
    for (const key of owner.items.keys()) this.#delete(owner, key)
  }

  #set(owner: Owner, key: Key, kept: Kept): void {
    owner.items.delete(key)
    owner.items.set(key, kept)
    this.#owners.delete(owner)
    this.#owners.add(owner)
  }

  /** Of the resource that nobody has used for longest. */
  #dropOldest(): boolean {
    for (const owner of this.#owners) {
      for (const key of owner.items.keys()) {
        this.#delete(owner, key)
        return true
      }
    }
    return false
  }

  #delete(owner: Owner, key: Key): void {
    const kept = owner.items.get(key)
    owner.items.delete(key)
    if (owner.items.size === 0) this.#owners.delete(owner)
    for (const item of kept === undefined ? [] : revisionsOf(kept)) this.#drop(item)
  }

  #drop(item: Item): void {
    this.#bytes -= item.length + ENTRY_BYTES
    this.#release(item)
  }
}

const revisionsOf = (kept: Kept): readonly Item[] => (kept instanceof Item ? [kept] : kept)

/**
 * Caches objects that webhooks have converted, as bytes, so that further reads and watches do not
 * call the webhook again. All resources share one size limit.
 *
 * When the limit is exceeded, the clock algorithm evicts items that were not used since its last
 * round. LRU is not used, because hundreds of watches can read each object. With LRU, each read
 * would move an entry to the end of a Map. V8 rebuilds a Map, in the old generation, after as many
 * moves as the Map has entries.
 */
import { Item } from '../../../storage/cache/item.ts'
import type { Key } from '../../../storage/engine.ts'

/** Size limit, enough for about 100,000 objects of 1 KB. */
const BYTES_MAX = 128 << 20
/** Memory of a cached item in addition to the bytes of its object. */
const ENTRY_BYTES = 250
/**
 * Maximum number of items that are skipped because they were used recently. After that, an item is
 * evicted even if it was used recently.
 */
const SPARED_MAX = 1_000

/**
 * The latest requested revision of an object. `previous` is the preceding revision, if it was
 * converted. Watches with a selector compare the two revisions.
 */
export class ConvertedItem extends Item {
  previous: ConvertedItem | undefined
  /** Whether the item was requested since the last round of the clock algorithm. */
  isUsed = true
}

/**
 * The owner of converted items: a resource in one version, for one state of its
 * CustomResourceDefinition.
 */
export class Owner {
  readonly items = new Map<Key, ConvertedItem>()
  isGone = false
}

export class ConvertedItems {
  readonly #bytesMax: number
  readonly #release: (item: Item) => void
  /** The owners (resources in one version) of the items that are currently cached. */
  readonly #owners = new Set<Owner>()
  /**
   * Iterates over all items in rounds. The iteration advances only while there are items. Items can
   * be added and deleted during the iteration, because the iterators of Map and Set allow this.
   */
  readonly #rounds = this.#goRound()
  #bytes = 0

  /** Calls `release` to free the bytes of an item when it is evicted or deleted. */
  constructor(release: (item: Item) => void, bytesMax = BYTES_MAX) {
    this.#release = release
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  get(owner: Owner, { key, revision }: Pick<Item, 'key' | 'revision'>): ConvertedItem | undefined {
    const last = owner.items.get(key)
    if (last === undefined) return undefined
    last.isUsed = true
    if (last.revision === revision) return last
    return last.previous?.revision === revision ? last.previous : undefined
  }

  /**
   * Adds an item. If `isLasting` is false, or if the owner accepts no more items, the item is not
   * cached. It is then only returned to the requests that already wait for it.
   */
  add(owner: Owner, item: ConvertedItem, isLasting: boolean): void {
    if (owner.isGone || !isLasting) {
      this.#release(item)
      return
    }
    const last = owner.items.get(item.key)
    this.#bytes += item.length + ENTRY_BYTES
    if (last === undefined || last.revision <= item.revision) {
      owner.items.set(item.key, item)
      this.#owners.add(owner)
      if (last !== undefined) this.#follow(item, last)
    } else this.#follow(last, item)
    for (let spared = 0; this.#bytes > this.#bytesMax; spared++) this.#passOne(spared < SPARED_MAX)
  }

  /** Deletes the items of an owner. The owner then accepts no more items. */
  end(owner: Owner): void {
    owner.isGone = true
    this.deleteAll(owner)
  }

  deleteAll(owner: Owner): void {
    for (const item of owner.items.values()) this.#delete(owner, item)
  }

  /**
   * Sets the previous revision of the latest item. Only the newest of the earlier revisions is
   * retained.
   */
  #follow(last: ConvertedItem, item: ConvertedItem): void {
    const others = [last.previous, item, item.previous].filter((one) => one !== undefined)
    item.previous = undefined
    last.previous = undefined
    for (const one of others) {
      const { previous } = last
      if (
        one.revision === last.revision ||
        (previous !== undefined && one.revision < previous.revision)
      )
        this.#drop(one)
      else {
        last.previous = one
        if (previous !== undefined) this.#drop(previous)
      }
    }
  }

  /**
   * Visits the next item of the round, and evicts the item, unless it was used recently and
   * `maySpare` is true.
   */
  #passOne(maySpare: boolean): void {
    const { owner, item } = this.#rounds.next().value
    if (maySpare && item.isUsed) item.isUsed = false
    else this.#delete(owner, item)
  }

  *#goRound(): Generator<{ readonly owner: Owner; readonly item: ConvertedItem }, never, void> {
    for (;;)
      for (const owner of this.#owners)
        for (const item of owner.items.values()) yield { owner, item }
  }

  #delete(owner: Owner, item: ConvertedItem): void {
    owner.items.delete(item.key)
    if (owner.items.size === 0) this.#owners.delete(owner)
    if (item.previous !== undefined) this.#drop(item.previous)
    this.#drop(item)
  }

  #drop(item: Item): void {
    this.#bytes -= item.length + ENTRY_BYTES
    this.#release(item)
  }
}

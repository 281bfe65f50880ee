/**
 * Objects that webhooks have converted, as bytes, for all resources together: who reads one again, or watches, does not make the webhook
 * work again. They are kept within a budget; beyond it those go that nobody has asked for since the last round over all of them.
 *
 * A round instead of an order by last use: hundreds of watchers ask for each object, and to move an entry of a Map to its end has the Map
 * built anew, in the old generation, after as many times as it has entries.
 */
import { Item } from '../../cache/item.ts'
import type { Key } from '../../storage/engine.ts'

/** Some hundred thousand objects of usual size. */
const BYTES_MAX = 128 << 20
/** What an entry takes besides the bytes of its object. */
const ENTRY_BYTES = 250
/** Where all are in use, so many are passed over before one goes all the same. */
const SPARED_MAX = 1_000

/** The latest revision that was asked for, and the one before, which watchers with a selector compare it with, if it was seen. */
export class ConvertedItem extends Item {
  previous: ConvertedItem | undefined
  /** Whether it was asked for since the last round. */
  isUsed = true
}

/** A resource in one version, as one definition has it: its items by key. */
export class Owner {
  readonly items = new Map<Key, ConvertedItem>()
  isGone = false
}

export class ConvertedItems {
  readonly #bytesMax: number
  readonly #release: (item: Item) => void
  /** Those that have items. */
  readonly #owners = new Set<Owner>()
  /** Asked only while there are items. Those that come and go meanwhile are no matter to the iterators of Map and Set. */
  readonly #rounds = this.#goRound()
  #bytes = 0

  /** `release`: the bytes of the item are not needed any longer. */
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

  /** `isLasting`: others may be given it, too. What is not, or comes after the end, is only for who waits for it. */
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

  /** Nobody will ask for what it has any longer. */
  end(owner: Owner): void {
    owner.isGone = true
    this.deleteAll(owner)
  }

  deleteAll(owner: Owner): void {
    for (const item of owner.items.values()) this.#delete(owner, item)
  }

  /** Of two revisions besides the latest the later one stays. */
  #follow(last: ConvertedItem, item: ConvertedItem): void {
    const others = [last.previous, item, item.previous].filter((one) => one !== undefined)
    item.previous = undefined
    last.previous = undefined
    for (const one of others) {
      const { previous } = last
      if (one.revision === last.revision || (previous !== undefined && one.revision < previous.revision))
        this.#drop(one)
      else {
        last.previous = one
        if (previous !== undefined) this.#drop(previous)
      }
    }
  }

  /** Drops the next one of the round, or spares it, if it was asked for. */
  #passOne(maySpare: boolean): void {
    const { owner, item } = this.#rounds.next().value
    if (maySpare && item.isUsed) item.isUsed = false
    else this.#delete(owner, item)
  }

  *#goRound(): Generator<{ readonly owner: Owner; readonly item: ConvertedItem }, never, void> {
    for (;;) for (const owner of this.#owners) for (const item of owner.items.values()) yield { owner, item }
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

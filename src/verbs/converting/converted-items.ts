/**
 * Objects that webhooks have converted, as bytes, for all resources together: who reads one again, or watches, does not make the webhook
 * work again. Those that were used last stay, within a budget.
 */
import type { Item } from '../../cache/item.ts'

/** Some hundred thousand objects of usual size. */
const BYTES_MAX = 128 << 20
/** What an entry takes besides the bytes of its object. */
const ENTRY_BYTES = 400
/** Of each object: its current revision, and the one before, which watchers with a selector compare it with. */
const REVISIONS_MAX = 2

/** Stands for a resource in one version, as one definition has it. */
export type Owner = { readonly id: number; isGone: boolean }

export class ConvertedItems {
  readonly #bytesMax: number
  readonly #release: (item: Item) => void
  /** By owner and key, revisions in order; what was used last stands last. */
  readonly #entries = new Map<string, readonly Item[]>()
  #bytes = 0
  #owners = 0

  /** `release`: the bytes of the item are not needed any longer. */
  constructor(release: (item: Item) => void, bytesMax = BYTES_MAX) {
    this.#release = release
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  newOwner(): Owner {
    return { id: this.#owners++, isGone: false }
  }

  get(owner: Owner, { key, revision }: Pick<Item, 'key' | 'revision'>): Item | undefined {
    const id = idOf(owner, key)
    const revisions = this.#entries.get(id)
    if (revisions === undefined) return undefined
    this.#entries.delete(id)
    this.#entries.set(id, revisions)
    return revisions.find((item) => item.revision === revision)
  }

  add(owner: Owner, item: Item): void {
    if (owner.isGone) return
    const id = idOf(owner, item.key)
    const before = this.#entries.get(id) ?? []
    const all = [...before.filter(({ revision }) => revision !== item.revision), item]
    const kept = all.toSorted((one, other) => one.revision - other.revision).slice(-REVISIONS_MAX)
    this.#entries.delete(id)
    this.#entries.set(id, kept)
    this.#bytes += item.length + ENTRY_BYTES
    for (const one of [...before, item]) if (!kept.includes(one)) this.#drop(one)
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) break
      this.#delete(oldest)
    }
  }

  /** Nobody will ask for what it has any longer. */
  deleteAll(owner: Owner): void {
    owner.isGone = true
    const start = idOf(owner, '')
    for (const id of this.#entries.keys()) if (id.startsWith(start)) this.#delete(id)
  }

  #delete(id: string): void {
    for (const item of this.#entries.get(id) ?? []) this.#drop(item)
    this.#entries.delete(id)
  }

  #drop(item: Item): void {
    this.#bytes -= item.length + ENTRY_BYTES
    this.#release(item)
  }
}

const idOf = ({ id }: Owner, key: string): string => `${id} ${key}`

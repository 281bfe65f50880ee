/**
 * The objects of a resource whose values cannot be decrypted. They are in neither the tree nor the ring: whoever accepts any state reads
 * the resource without them, as upstream; whoever wants the latest is told.
 */
import type { Key } from '../storage/engine.ts'
import { StorageError } from '../storage/errors.ts'
import { type KeyRange, toText } from '../storage/keys.ts'
import type { Unreadable } from '../storage/store.ts'

type Entry = Unreadable & {
  /** Whether the resource was listed with it. Upstream's cache cannot start then. */
  readonly isListed: boolean
}

export class UnreadableObjects {
  readonly #entries = new Map<Key, Entry>()

  constructor(listed: readonly Unreadable[] = []) {
    for (const one of listed) this.#entries.set(one.key, { ...one, isListed: true })
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: Key): Unreadable | undefined {
    return this.#entries.get(key)
  }

  add(one: Unreadable): void {
    this.#entries.set(one.key, { ...one, isListed: false })
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }

  /** Any one of them; another with each call, so that none is asked for in vain all the time. */
  next(): Unreadable | undefined {
    for (const [key, entry] of this.#entries) {
      this.#entries.delete(key)
      this.#entries.set(key, entry)
      return entry
    }
    return undefined
  }

  /** The keys and their revisions, for a comparison that takes a while. */
  revisions(): ReadonlyMap<Key, number> {
    return new Map([...this.#entries].map(([key, { revision }]) => [key, revision]))
  }

  /**
   * Why a range cannot be listed; undefined: nothing in it is unreadable, or it does not matter. `isLatest`: the list must be complete.
   * `kind`: what upstream calls the objects.
   */
  listFault(
    range: KeyRange,
    { isLatest, kind }: { readonly isLatest: boolean; readonly kind: string },
  ): StorageError | undefined {
    let first: Entry | undefined
    for (const entry of this.#entries.values()) {
      const isIn = entry.key >= range.from && entry.key < range.to
      if (isIn && (isLatest || entry.isListed) && (first === undefined || entry.key < first.key)) first = entry
    }
    if (first === undefined) return undefined
    // All of them, for who names them.
    const unread = (): readonly Unreadable[] =>
      [...this.#entries.values()]
        .filter(({ key, isListed }) => key >= range.from && key < range.to && (isLatest || isListed))
        .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    const message = `unable to transform key ${JSON.stringify(toText(first.key))}: ${first.error.message}`
    if (!first.isListed) return new StorageError('corrupt', message, { cause: first.error, unread })
    return new StorageError('busy', `storage is (re)initializing: failed to list ${kind}: ${message}`, {
      cause: first.error,
    })
  }
}

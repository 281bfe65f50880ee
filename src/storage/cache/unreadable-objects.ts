/**
 * The objects of a resource whose values cannot be decrypted. They are in neither the tree nor the
 * ring: whoever accepts any state reads the resource without those that were never there, as
 * upstream; whoever wants the latest is told.
 */
import type { Key } from '../engine.ts'
import { StorageError } from '../errors.ts'
import { type KeyRange, toText } from '../keys.ts'
import type { UnreadableValue } from '../store.ts'

/**
 * What was there before it. `unknown`: the resource was first listed with it, and upstream's cache
 * cannot start then. `readable`: a list without it would tell of a deletion. `nothing`: whoever
 * accepts any state may not know of it.
 */
type PreviousState = 'unknown' | 'readable' | 'nothing'

type Entry = UnreadableValue & { readonly before: PreviousState }

export class UnreadableObjects {
  readonly #entries = new Map<Key, Entry>()

  /** Those that the first list has found. */
  static listed(found: readonly UnreadableValue[]): UnreadableObjects {
    const objects = new UnreadableObjects()
    for (const one of found) objects.#entries.set(one.key, { ...one, before: 'unknown' })
    return objects
  }

  /** Those that another list has found. `isShown`: whether readers have seen the object. */
  listedAgain(
    found: readonly UnreadableValue[],
    isShown: (key: Key) => boolean,
  ): UnreadableObjects {
    const objects = new UnreadableObjects()
    for (const one of found) {
      // One that nobody knows of may have come and changed while events were lost.
      const before = isShown(one.key)
        ? 'readable'
        : (this.#entries.get(one.key)?.before ?? 'readable')
      objects.#entries.set(one.key, { ...one, before })
    }
    return objects
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: Key): UnreadableValue | undefined {
    return this.#entries.get(key)
  }

  /**
   * Whether clients may have seen the object while it could be read: of another server, or before
   * this one was started, too.
   */
  mayBeKnown(key: Key): boolean {
    return (this.#entries.get(key)?.before ?? 'nothing') !== 'nothing'
  }

  /** One that is there already was written again: who knew it before knows it still. */
  add(one: UnreadableValue): void {
    this.#entries.set(one.key, { ...one, before: this.#entries.get(one.key)?.before ?? 'nothing' })
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }

  /** Any one of them; another with each call, so that none is asked for in vain all the time. */
  next(): UnreadableValue | undefined {
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
   * Why a range cannot be listed; undefined: nothing in it is unreadable, or it does not matter.
   * `isLatest`: the list must be complete. `kind`: what upstream calls the objects.
   */
  listFault(
    range: KeyRange,
    { isLatest, kind }: { readonly isLatest: boolean; readonly kind: string },
  ): StorageError | undefined {
    const isMissed = ({ key, before }: Entry): boolean =>
      key >= range.from && key < range.to && (isLatest || before !== 'nothing')
    let first: Entry | undefined
    for (const entry of this.#entries.values()) {
      if (isMissed(entry) && (first === undefined || entry.key < first.key)) first = entry
    }
    if (first === undefined) return undefined
    // All of them, for who names them.
    const unread = (): readonly UnreadableValue[] =>
      [...this.#entries.values()].filter(isMissed).toSorted((a, b) => (a.key < b.key ? -1 : 1))
    const message = `unable to transform key ${JSON.stringify(toText(first.key))}: ${first.error.message}`
    if (first.before !== 'unknown')
      return new StorageError('corrupt', message, { cause: first.error, unread })
    return new StorageError(
      'busy',
      `storage is (re)initializing: failed to list ${kind}: ${message}`,
      {
        cause: first.error,
      },
    )
  }
}

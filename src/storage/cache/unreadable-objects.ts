/**
 * The objects of a resource whose values cannot be decrypted. An object that was never readable is
 * neither in the tree nor in the event ring. As in kube-apiserver, reads that accept any state omit
 * such objects, and reads of the latest state fail.
 */
import type { Key } from '../engine.ts'
import { StorageError } from '../errors.ts'
import { type KeyRange, toText } from '../keys.ts'
import type { UnreadableValue } from '../store.ts'

/**
 * The state of an object before it became unreadable, as far as readers may know it:
 * - `unknown`: the object was already unreadable in the first list of the resource. In this case,
 *   the cache of kube-apiserver cannot start.
 * - `readable`: readers may know the object. If a list omitted it, it would seem to be deleted.
 * - `nothing`: readers have never received the object. A list that accepts any state can omit it.
 */
type PreviousState = 'unknown' | 'readable' | 'nothing'

type Entry = UnreadableValue & { readonly before: PreviousState }

export class UnreadableObjects {
  readonly #entries = new Map<Key, Entry>()

  /** Creates the collection from the first list of a resource. */
  static listed(found: readonly UnreadableValue[]): UnreadableObjects {
    const objects = new UnreadableObjects()
    for (const one of found) objects.#entries.set(one.key, { ...one, before: 'unknown' })
    return objects
  }

  /**
   * Creates the collection from a later list. `isShown` returns whether readers have received the
   * object.
   */
  listedAgain(
    found: readonly UnreadableValue[],
    isShown: (key: Key) => boolean,
  ): UnreadableObjects {
    const objects = new UnreadableObjects()
    for (const one of found) {
      // An object without an entry may have been created and changed while events were lost, so
      // clients may have received it.
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
   * Whether clients may have received the object while it was readable. They may have received it
   * from another server or before this server started.
   */
  mayBeKnown(key: Key): boolean {
    return (this.#entries.get(key)?.before ?? 'nothing') !== 'nothing'
  }

  /**
   * Adds an object. If the object already has an entry, the object was written again, and its
   * previous state is still the one before it became unreadable.
   */
  add(one: UnreadableValue): void {
    this.#entries.set(one.key, { ...one, before: this.#entries.get(one.key)?.before ?? 'nothing' })
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }

  /**
   * Returns one of the objects. Each call returns the next object, so that the same unreadable
   * object is not tried every time.
   */
  next(): UnreadableValue | undefined {
    for (const [key, entry] of this.#entries) {
      this.#entries.delete(key)
      this.#entries.set(key, entry)
      return entry
    }
    return undefined
  }

  /** Returns a copy of the revisions by key, for comparisons that take a while. */
  revisions(): ReadonlyMap<Key, number> {
    return new Map([...this.#entries].map(([key, { revision }]) => [key, revision]))
  }

  /**
   * Returns the error if a range cannot be listed. Returns undefined if the range has no unreadable
   * objects, or only objects that the list can omit. `isLatest` means that the list must be
   * complete. `kind` is kube-apiserver's name for the objects.
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
    // Returns all unreadable objects, for an error that names each of them.
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

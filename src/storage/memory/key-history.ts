/**
 * The retained versions of one key, from the oldest to the newest. A version without a value is a
 * deletion, like etcd's tombstones.
 */
import type { Key, Revision, VersionedValue } from '../engine.ts'

export type KeyVersion = {
  readonly revision: Revision
  /** The revision that created the key, or 0 for a deletion. */
  readonly createRevision: Revision
  readonly value: Buffer | undefined
}

export class KeyHistory {
  readonly key: Key
  /**
   * Identifies the database that may change this history in place. Any other database must copy the
   * history before changing it.
   */
  readonly owner: object
  #versions: KeyVersion[] = []

  constructor(key: Key, owner: object, versions: readonly KeyVersion[] = []) {
    this.key = key
    this.owner = owner
    this.#versions = [...versions]
  }

  get versions(): readonly KeyVersion[] {
    return this.#versions
  }

  add(version: KeyVersion): void {
    this.#versions.push(version)
  }

  /** Returns the value at a revision, or undefined if the key did not exist then. */
  at(revision: Revision): VersionedValue | undefined {
    const version = this.#versions[this.#after(revision) - 1]
    if (version?.value === undefined) return undefined
    const { value, createRevision } = version
    return { key: this.key, value, revision: version.revision, createRevision }
  }

  /**
   * Drops the versions that are not needed for reads at this revision or later. Returns this
   * history, or a copy if `owner` is not its owner. Returns undefined if no version is left. A
   * deletion at exactly this revision is retained (like etcd since 3.5.19). Thus a watch that has
   * received everything before it can still get that event.
   */
  compacted(revision: Revision, owner: object): KeyHistory | undefined {
    const last = this.#after(revision) - 1
    const version = this.#versions[last]
    if (version === undefined) return this.#versions.length === 0 ? undefined : this
    const isKept = version.value !== undefined || version.revision === revision
    const dropped = isKept ? last : last + 1
    if (dropped === this.#versions.length) return undefined
    if (dropped === 0) return this
    const left = this.#versions.slice(dropped)
    if (owner !== this.owner) return new KeyHistory(this.key, owner, left)
    this.#versions = left
    return this
  }

  /** Returns the number of versions at or before this revision. */
  #after(revision: Revision): number {
    let low = 0
    let high = this.#versions.length
    // Check the latest version first, because nearly every read needs it.
    if ((this.#versions[high - 1]?.revision ?? 0) <= revision) return high
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#versions[middle]?.revision ?? 0) <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}

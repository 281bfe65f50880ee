/**
 * All changes in the database, in the order of their revisions. The results that clients report are
 * checked against this history.
 */
import type { Change } from '../../support/harness/gateway.ts'

export class History {
  readonly #changes: Change[] = []
  readonly #byKey = new Map<string, Change[]>()
  #revision: number

  /** Creates a history that begins after `revision`. */
  constructor(revision = 0) {
    this.#revision = revision
  }

  /** The history contains all changes up to this revision. */
  get revision(): number {
    return this.#revision
  }

  get changes(): readonly Change[] {
    return this.#changes
  }

  /**
   * Adds the changes since the last call, in the order of their revisions. They must include all
   * changes up to `revision`.
   */
  add(changes: readonly Change[], revision: number): void {
    for (const change of changes) {
      if (change.revision <= this.#revision)
        throw new Error(`revision ${change.revision} is known already`)
      this.#changes.push(change)
      const ofKey = this.#byKey.get(change.key)
      if (ofKey === undefined) this.#byKey.set(change.key, [change])
      else ofKey.push(change)
    }
    this.#revision = revision
  }

  /**
   * Returns the history of a database after it was restored to this revision, without the later
   * changes.
   */
  restored(revision: number): History {
    const next = new History()
    for (const change of this.#changes)
      if (change.revision <= revision) next.add([change], change.revision)
    next.#revision = revision
    return next
  }

  of(key: string): readonly Change[] {
    return this.#byKey.get(key) ?? []
  }

  /**
   * Returns the last change of a key at or before a revision, or undefined if no such change exists
   * or it is a delete.
   */
  valueAt(key: string, revision: number): Change | undefined {
    const change = this.lastAt(key, revision)
    return change?.value === undefined ? undefined : change
  }

  /** Returns the last change of a key at or before a revision, including deletes. */
  lastAt(key: string, revision: number): Change | undefined {
    const changes = this.of(key)
    return changes[firstAfter(changes, revision) - 1]
  }

  /** Returns the first change of a key after a revision. */
  nextAfter(key: string, revision: number): Change | undefined {
    const changes = this.of(key)
    return changes[firstAfter(changes, revision)]
  }

  /** Returns all keys of a prefix that have a value at a revision, in order. */
  stateAt(prefix: string, revision: number): Change[] {
    const state: Change[] = []
    for (const key of [...this.#byKey.keys()].toSorted()) {
      const change = key.startsWith(prefix) ? this.valueAt(key, revision) : undefined
      if (change !== undefined) state.push(change)
    }
    return state
  }
}

function firstAfter(changes: readonly Change[], revision: number): number {
  let low = 0
  let high = changes.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((changes[middle]?.revision ?? 0) <= revision) low = middle + 1
    else high = middle
  }
  return low
}

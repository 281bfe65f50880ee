/** What truly happened, in etcd's own words and order. Claims are judged against it. */
import type { Change } from '../../support/harness/gateway.ts'

export class History {
  readonly #changes: Change[] = []
  readonly #byKey = new Map<string, Change[]>()
  #revision: number

  /** `revision`: everything after it will be added. */
  constructor(revision = 0) {
    this.#revision = revision
  }

  /** Everything up to this revision is known. */
  get revision(): number {
    return this.#revision
  }

  get changes(): readonly Change[] {
    return this.#changes
  }

  /** What follows the known part, in order, complete up to `revision`. */
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

  /** The history of a database that was restored to this revision. */
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
   * The last change of a key at or before a revision; undefined if there was none, or it was a
   * delete.
   */
  valueAt(key: string, revision: number): Change | undefined {
    const change = this.lastAt(key, revision)
    return change?.value === undefined ? undefined : change
  }

  /** The last change of a key at or before a revision, a delete included. */
  lastAt(key: string, revision: number): Change | undefined {
    const changes = this.of(key)
    return changes[firstAfter(changes, revision) - 1]
  }

  /** The first change of a key after a revision. */
  nextAfter(key: string, revision: number): Change | undefined {
    const changes = this.of(key)
    return changes[firstAfter(changes, revision)]
  }

  /** All keys of a prefix that hold a value at a revision, in order. */
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

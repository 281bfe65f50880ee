/**
 * Records the responses that the clients of a run receive. Every written value is unique, so each
 * change in the history of the database belongs to one write, and each response matches one state.
 * During the run, the model only records responses; judge.ts compares them with the history
 * afterwards.
 */

/**
 * A stored value. `tag` identifies the write that stored it. `after` is the tag of the value that
 * it replaced, or null if there was none.
 */
export type Value = { readonly tag: string; readonly after: string | null }

export type WriteOutcome =
  | { readonly outcome: 'pending' }
  /**
   * `previousRevision` is the revision that the write replaced according to its response: 0 if
   * there was no object, undefined if it is not known.
   */
  | {
      readonly outcome: 'acknowledged'
      readonly revision: number
      readonly previousRevision: number | undefined
    }
  | { readonly outcome: 'ambiguous' }
  | { readonly outcome: 'refused'; readonly reason: string }

export type Write = {
  readonly key: string
  /** Tag of the written value; absent for a delete. */
  readonly tag: string | undefined
  /** Highest revision that had been acknowledged to any client when the write began. */
  readonly floor: number
  readonly result: WriteOutcome
}

export type Item = { readonly key: string; readonly revision: number; readonly tag: string }

/**
 * Scope of a list: all keys of a prefix, or only the keys from `from` to before `to`. If `selects`
 * is set, the list contains only objects for whose tag it returns true.
 */
export type ListScope = {
  readonly prefix: string
  readonly from?: string
  readonly to?: string
  readonly selects?: ((tag: string) => boolean) | undefined
}

/** A response that contains one key (`key`) or all keys of a prefix (`prefix`). */
export type ReadResult = {
  readonly scope: { readonly key: string } | ListScope
  /** Oldest revision whose state the response is allowed to return. */
  readonly floor: number
  /** Revision of the response, if it has one. */
  readonly revision: number | undefined
  readonly items: readonly Item[]
}

export class Model {
  readonly #writes: Write[] = []
  readonly #readings: ReadResult[] = []
  readonly #faults: string[] = []
  #acknowledged = 0
  #isClosed = false
  #tags = 0

  /**
   * Newest revision that any client has received. A linearizable read that begins now must be at
   * least as new.
   */
  get floor(): number {
    return this.#acknowledged
  }

  get writes(): readonly Write[] {
    return this.#writes
  }

  get readings(): readonly ReadResult[] {
    return this.#readings
  }

  get faults(): readonly string[] {
    return this.#faults
  }

  /** Returns a new tag, which no other write has. */
  newTag(writer: string): string {
    return `${writer}.${this.#tags++}`
  }

  /** Records the start of a write. The returned function records its result. */
  beginWrite(key: string, tag: string | undefined): (result: WriteOutcome) => void {
    const index = this.#writes.length
    const floor = this.#acknowledged
    this.#writes.push({ key, tag, floor, result: { outcome: 'pending' } })
    return (result) => {
      if (this.#isClosed) return
      this.#writes[index] = { key, tag, floor, result }
      if (result.outcome !== 'acknowledged') return
      if (result.revision <= floor) {
        this.#faults.push(
          `write ${tag ?? 'delete'} of ${key} got revision ${result.revision}; ${floor} was acknowledged before it began`,
        )
      }
      this.noteSeen(result.revision)
    }
  }

  noteReading(reading: ReadResult): void {
    if (!this.#isClosed) this.#readings.push(reading)
  }

  /**
   * Records that a client has received this revision. Later linearizable reads must not be older.
   */
  noteSeen(revision: number): void {
    this.#acknowledged = Math.max(this.#acknowledged, revision)
  }

  /** Records a fault that does not depend on the history. */
  noteFault(fault: string): void {
    if (!this.#isClosed) this.#faults.push(fault)
  }

  /**
   * Returns the model of a database that was restored to this revision. Writes that were
   * acknowledged after this revision are lost, and must not reappear. Pending writes can still be
   * applied. The previous model is closed and ignores later responses, which belong to neither
   * database.
   */
  restored(revision: number): Model {
    this.#isClosed = true
    const next = new Model()
    next.#acknowledged = revision
    next.#tags = this.#tags
    for (const write of this.#writes) {
      const { result } = write
      const isLost = result.outcome === 'acknowledged' && result.revision > revision
      if (result.outcome === 'pending')
        next.#writes.push({ ...write, floor: 0, result: { outcome: 'ambiguous' } })
      else
        next.#writes.push(
          isLost
            ? { ...write, floor: 0, result: { outcome: 'refused', reason: 'restored' } }
            : write,
        )
    }
    return next
  }

  /**
   * Returns the tags that a key can have at the end: the tag of its last acknowledged write, and
   * the tags of writes whose outcome is unknown. The tag undefined means that the key does not
   * exist.
   */
  possible(key: string): ReadonlySet<string | undefined> {
    const ofKey = this.#writes.filter((write) => write.key === key)
    let last: { revision: number; tag: string | undefined } = { revision: 0, tag: undefined }
    for (const { tag, result } of ofKey) {
      if (result.outcome === 'acknowledged' && result.revision > last.revision)
        last = { revision: result.revision, tag }
    }
    const possible = new Set([last.tag])
    for (const { tag, result } of ofKey) {
      if (result.outcome === 'ambiguous' || result.outcome === 'pending') possible.add(tag)
    }
    return possible
  }
}

/** Encodes a value as a Kubernetes object, because the cache can only read objects. */
export const encodeValue = (value: Value): Buffer =>
  Buffer.from(
    JSON.stringify({ kind: 'Thing', apiVersion: 'example.com/v1', metadata: {}, ...value }),
  )

/** Decodes a value that a writer of the run wrote. */
export function decodeValue(bytes: Buffer | string): Value {
  const value: unknown = JSON.parse(bytes.toString())
  if (
    typeof value !== 'object' ||
    value === null ||
    !('tag' in value) ||
    typeof value.tag !== 'string'
  ) {
    throw new Error(`not a value of this run: ${bytes.toString().slice(0, 100)}`)
  }
  return {
    tag: value.tag,
    after: 'after' in value && typeof value.after === 'string' ? value.after : null,
  }
}

/** Returns the tag of a stored value, or undefined if there is no value. */
export const tagOf = (value: string | undefined): string | undefined =>
  value === undefined ? undefined : decodeValue(value).tag

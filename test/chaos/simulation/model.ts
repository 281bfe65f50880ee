/**
 * What the clients of the run were told. Writers write values that occur once; so each change in
 * the database's history belongs to one write, and each answer to one moment of the history. While
 * the run lasts, the model only notes claims; judge.ts compares them with the history afterwards.
 */

/** A value: who wrote it, and the tag that it replaced (null: nothing was there). */
export type Value = { readonly tag: string; readonly after: string | null }

export type WriteOutcome =
  | { readonly outcome: 'pending' }
  /**
   * `previousRevision`: what the write claims to have replaced; 0 for nothing, undefined if it does
   * not say.
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
  /** Absent: a delete. */
  readonly tag: string | undefined
  /** What had been acknowledged to anybody when the write began. */
  readonly floor: number
  readonly result: WriteOutcome
}

export type Item = { readonly key: string; readonly revision: number; readonly tag: string }

/**
 * All keys of a prefix, or those from `from` to before `to`; with a filter, those whose tag it
 * selects.
 */
export type ListScope = {
  readonly prefix: string
  readonly from?: string
  readonly to?: string
  readonly selects?: ((tag: string) => boolean) | undefined
}

/** An answer about one key (`key`) or all keys of a prefix (`prefix`). */
export type ReadResult = {
  readonly scope: { readonly key: string } | ListScope
  /** The oldest revision whose state the answer may show. */
  readonly floor: number
  /** The revision at which the answer claims to be true, where it says so. */
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
   * The newest revision that anybody has been told of: the floor of a latest read that begins now.
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

  /** A tag that no other write has. */
  newTag(writer: string): string {
    return `${writer}.${this.#tags++}`
  }

  /** Notes a write that begins; the answer is told to the function returned. */
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

  /** Somebody has seen the database at this revision: later latest reads must not be older. */
  noteSeen(revision: number): void {
    this.#acknowledged = Math.max(this.#acknowledged, revision)
  }

  /** Something that is wrong whatever the history says. */
  noteFault(fault: string): void {
    if (!this.#isClosed) this.#faults.push(fault)
  }

  /**
   * The model of a database that was restored to this revision. What was acknowledged after it is
   * lost, and must not come back; what is on its way may still happen. This model ends: what it is
   * told from now on is of neither database.
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
   * What a key may hold: its last acknowledged write, or an ambiguous one that may have come after.
   * undefined: nothing.
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

/** A value as it is stored: an object, since that is what the cache reads. */
export const encodeValue = (value: Value): Buffer =>
  Buffer.from(
    JSON.stringify({ kind: 'Thing', apiVersion: 'example.com/v1', metadata: {}, ...value }),
  )

/** Reads a value that a writer of the run wrote. */
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

/** The tag in stored bytes; undefined when there are none. */
export const tagOf = (value: string | undefined): string | undefined =>
  value === undefined ? undefined : decodeValue(value).tag

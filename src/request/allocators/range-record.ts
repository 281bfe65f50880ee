/**
 * A set of numbers that is shared by all servers that use the same etcd. As in kube-apiserver, the
 * set is stored under one key, and every change compares and writes that key. Changes that arrive
 * during a write are combined in the next write, so that many changes cause few writes.
 */
import { fieldsOf, type KubeObject, textOf } from '../../api/object.ts'
import { decodeStored, encodeStored } from '../../objects/codec/object.ts'
import { Slices, type SlicesTime } from '../../lib/scheduling/slices.ts'
import { deadline, systemTime, type Timers } from '../../lib/time/timers.ts'
import { commonType } from '../../registry/types.ts'
import { plainSchema } from '../../objects/schema/object-schema.ts'
import type { Key, Revision } from '../../storage/engine.ts'
import type { Current, Decision, Store, StoredValue } from '../../storage/store.ts'
import { type NumberRange, NumberSet } from './number-set.ts'

/** Timeout in milliseconds for a change of the record. */
const CHANGE_MS_MAX = 15_000

export type RangeRecordOptions = {
  readonly store: Store
  readonly key: Key
  readonly range: NumberRange
  /** The range as a string, as in the record: `30000-32767`, `10.0.0.0/16`. */
  readonly text: string
  /** Converts the bitmap of a record for another range to a bitmap for this range. */
  readonly adopt: (text: string, bytes: Buffer) => Buffer
  /**
   * If set, a record that is missing or has another range cannot be used until a repair
   * (`changeAt`) has written it. The value of the field is the name of the resource in error
   * messages. If the field is absent, the first change converts the record.
   */
  readonly repairedFirst?: string
  /** Returns a random number in the range [0, 1). */
  readonly random: () => number
  /** Returns a number that increases when the database is replaced by another database. */
  readonly life: () => number
  readonly time?: Timers & SlicesTime
  /** Called after each write, with the number of allocated numbers. */
  readonly onStored?: (taken: number) => void
}

type RangeChange = {
  readonly apply: (set: NumberSet) => void
  /** Called when the set that was last passed to `apply` is stored. */
  readonly settle: () => void
  readonly fail: (error: unknown) => void
}

/**
 * Thrown if the record cannot be used until a repair has written it. The message is the same as in
 * kube-apiserver.
 */
export class UnrepairedError extends Error {
  override readonly name = 'UnrepairedError'
}

export class RangeRecord {
  readonly #options: RangeRecordOptions
  #wishes: RangeChange[] = []
  #isWriting = false
  /**
   * The record that was last written, and the database to which it was written. Another database
   * can have a different record at the same revision.
   */
  #last: { readonly life: number; readonly current: Current<KubeObject> } | undefined

  constructor(parts: RangeRecordOptions) {
    this.#options = parts
  }

  /**
   * Changes the set. If `change` throws, the returned promise rejects with that error and the set
   * is left unchanged. `change` can run several times, on different sets. It must be synchronous
   * and must not retain the set.
   */
  change<T>(change: (set: NumberSet) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let outcome: { readonly value: T } | { readonly error: unknown } | undefined
      this.#wishes.push({
        apply: (set) => {
          outcome = undefined
          try {
            outcome = { value: change(set) }
          } catch (error) {
            outcome = { error }
            throw error
          }
        },
        settle: () => {
          if (outcome !== undefined && 'value' in outcome) resolve(outcome.value)
          else reject(outcome?.error ?? new Error('broken invariant: a change was not applied'))
        },
        fail: reject,
      })
      if (!this.#isWriting) void this.#writeAll()
    })
  }

  /** Returns the current revision of the record, or 0 if it does not exist. */
  async revision(): Promise<Revision> {
    const { found } = await this.#options.store.get(this.#options.key)
    return found?.revision ?? 0
  }

  /** Whether the record can be used. If it cannot be used, a repair has to write it first. */
  async isUsable(): Promise<boolean> {
    const { found } = await this.#options.store.get(this.#options.key)
    return this.#unusable(found && this.#decode(found)) === undefined
  }

  /**
   * Changes the set if the record still has the given revision, and returns the result of `change`.
   * If the record has another revision, changes nothing and returns undefined.
   */
  async changeAt<T>(revision: Revision, change: (set: NumberSet) => T): Promise<T | undefined> {
    let changed: T | undefined
    using limit = deadline(this.#options.time ?? systemTime, CHANGE_MS_MAX)
    const { signal } = limit
    const options = { decode: (stored: StoredValue) => this.#decode(stored), signal }
    await this.#options.store.update(this.#options.key, options, (current): Decision => {
      changed = undefined
      if ((current?.revision ?? 0) !== revision) return 'unchanged'
      const set = this.#setOf(current?.object)
      const before = set.stored()
      changed = change(set)
      const after = set.stored()
      const isKept = after.equals(before) && this.#unusable(current?.object) === undefined
      return isKept ? 'unchanged' : { put: encodeStored(this.#objectOf(after), rangeSchema()) }
    })
    return changed
  }

  /**
   * Applies a change to the stored set and returns the result of the change, without storing the
   * changed set. Used for dry runs.
   */
  async attempt<T>(change: (set: NumberSet) => T): Promise<T> {
    const { found } = await this.#options.store.get(this.#options.key)
    return change(this.#usableSetOf(found && this.#decode(found)))
  }

  /**
   * Writes all pending changes. Never rejects: errors are reported to the callers of the changes.
   */
  async #writeAll(): Promise<void> {
    this.#isWriting = true
    // Yield once, so that the write includes changes that are requested in the same tick of the
    // event loop.
    await Promise.resolve()
    while (this.#wishes.length > 0) {
      const wishes = this.#wishes
      this.#wishes = []
      try {
        await this.#write(wishes)
        for (const { settle } of wishes) settle()
      } catch (error) {
        this.#last = undefined
        for (const { fail } of wishes) fail(error)
      }
    }
    this.#isWriting = false
  }

  async #write(wishes: readonly RangeChange[]): Promise<void> {
    const { store, key } = this.#options
    let written: KubeObject | undefined
    let taken = 0
    using limit = deadline(this.#options.time ?? systemTime, CHANGE_MS_MAX)
    const { signal } = limit
    const life = this.#options.life()
    const cached = this.#last?.life === life ? this.#last.current : undefined
    const options = { cached, decode: (stored: StoredValue) => this.#decode(stored), signal }
    const { revision, outcome } = await store.update(
      key,
      options,
      async (current): Promise<Decision> => {
        const set = this.#usableSetOf(current?.object)
        const before = set.stored()
        await applyAll(wishes, set, new Slices(this.#options.time))
        const after = set.stored()
        taken = this.#options.onStored === undefined ? 0 : set.list().length
        written = this.#objectOf(after)
        if (current !== undefined && after.equals(before)) return 'unchanged'
        return { put: encodeStored(written, rangeSchema()) }
      },
    )
    if (written !== undefined && outcome === 'put') {
      this.#options.onStored?.(taken)
      this.#last = {
        life,
        current: { revision, createRevision: revision, object: written, stale: false },
      }
    }
  }

  readonly #decode = ({ value, revision }: StoredValue): KubeObject =>
    decodeStored(value, rangeSchema(), revision)

  #usableSetOf(stored: KubeObject | undefined): NumberSet {
    const why = this.#unusable(stored)
    if (why !== undefined) throw new UnrepairedError(why)
    return this.#setOf(stored)
  }

  #unusable(stored: KubeObject | undefined): string | undefined {
    const { repairedFirst, text } = this.#options
    if (repairedFirst === undefined) return undefined
    if (stored === undefined)
      return `cannot allocate resources of type ${repairedFirst} at this time`
    return textOf(stored['range']) === text
      ? undefined
      : 'the provided range does not match the current range'
  }

  #setOf(stored: KubeObject | undefined): NumberSet {
    const { range, text, adopt, random } = this.#options
    const record = fieldsOf(stored)
    const bytes = Buffer.from(textOf(record['data']), 'base64')
    const was = textOf(record['range'])
    const own = stored === undefined || was === text ? bytes : adopt(was, bytes)
    return new NumberSet(range, own, random)
  }

  #objectOf(bytes: Buffer): KubeObject {
    const data = bytes.toString('base64')
    return {
      kind: 'RangeAllocation',
      apiVersion: 'v1',
      metadata: {},
      range: this.#options.text,
      data,
    }
  }
}

const rangeSchema = (): ReturnType<typeof plainSchema> =>
  plainSchema(commonType('core/v1', 'RangeAllocation'))

/**
 * Applies changes in slices, between which the event loop runs other tasks. Many changes to a large
 * set take long, because some of them scan the whole set.
 */
async function applyAll(
  wishes: readonly RangeChange[],
  set: NumberSet,
  slices: Slices,
): Promise<void> {
  for (const { apply } of wishes) {
    if (slices.isOver) await slices.turn()
    try {
      set.attempt(apply)
    } catch {
      // The error is reported to the caller of the change.
    }
  }
}

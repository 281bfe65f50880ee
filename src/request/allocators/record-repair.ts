/** Reconciles a record of allocated numbers with the numbers that Services use. */
import type { NumberSet } from './number-set.ts'
import type { RangeRecord } from './range-record.ts'

/**
 * Number of passes after which a number is released if no Service uses it. By then, a Service with
 * this number is either stored or will never be stored.
 */
const PASSES_TILL_FREE = 3
/**
 * Maximum number of attempts in one pass. Other servers can change the record continuously, so that
 * attempts fail. The next pass runs minutes later.
 */
const TRIES_MAX = 5

export type RepairableRecord = Pick<RangeRecord, 'revision' | 'changeAt'>

export class RecordRepair {
  readonly #record: RepairableRecord
  readonly #life: () => number
  /**
   * The number of passes that found that no Service uses an allocated number, keyed by the
   * allocated number. The counts apply to one database only.
   */
  #unowned: { readonly life: number; readonly passes: ReadonlyMap<number, number> } = {
    life: -1,
    passes: new Map(),
  }

  /** `life` returns a number that increases when the database is replaced by another database. */
  constructor(record: RepairableRecord, life: () => number) {
    this.#record = record
    this.#life = life
  }

  /** Runs a pass and returns the changes. `readHeld` reads the numbers that Services use. */
  async pass(
    readHeld: () => Promise<ReadonlySet<number>>,
  ): Promise<Pick<RepairResult, 'missing' | 'freed'>> {
    for (let tries = 1; tries <= TRIES_MAX; tries++) {
      const done = await this.#try(readHeld)
      if (done !== undefined) return done
    }
    return { missing: [], freed: [] }
  }

  /**
   * Tries to repair the record. Returns undefined if the record was changed in the meantime, or if
   * the database was replaced.
   *
   * The repair applies only to the state of the record before the Services were listed. A later
   * state of the record can contain numbers of newer Services, or lack the numbers of Services that
   * were deleted since.
   */
  async #try(readHeld: () => Promise<ReadonlySet<number>>): Promise<RepairResult | undefined> {
    const life = this.#life()
    const revision = await this.#record.revision()
    const held = await readHeld()
    const known = this.#unowned.life === life ? this.#unowned.passes : new Map<number, number>()
    const isSame = (): boolean => this.#life() === life
    const done = await this.#record.changeAt(revision, (set) =>
      isSame() ? repaired(set, held, known) : undefined,
    )
    if (done !== undefined) this.#unowned = { life, passes: done.unowned }
    return done
  }
}

type RepairResult = {
  readonly missing: readonly number[]
  readonly freed: readonly number[]
  readonly unowned: ReadonlyMap<number, number>
}

function repaired(
  set: NumberSet,
  held: ReadonlySet<number>,
  known: ReadonlyMap<number, number>,
): RepairResult {
  const taken = new Set(set.list())
  const missing = [...held].filter((number) => set.includes(number) && !taken.has(number))
  const passes = [...taken].flatMap((number): [number, number][] =>
    held.has(number) ? [] : [[number, (known.get(number) ?? 0) + 1]],
  )
  const freed = passes.filter(([, count]) => count >= PASSES_TILL_FREE).map(([number]) => number)
  for (const number of missing) taken.add(number)
  for (const number of freed) taken.delete(number)
  if (missing.length + freed.length > 0) set.reset(taken)
  return {
    missing,
    freed,
    unowned: new Map(passes.filter(([, count]) => count < PASSES_TILL_FREE)),
  }
}

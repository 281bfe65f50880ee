/** Brings one record of numbers in line with those that Services have. */
import type { NumberSet } from './number-set.ts'
import type { RangeRecord } from './range-record.ts'

/** A number that nobody has in so many passes is not that of a Service on its way. */
const PASSES_TILL_FREE = 3

export class RecordRepair {
  readonly #record: Pick<RangeRecord, 'change'>
  readonly #life: () => number
  /** Of numbers that are taken: in how many passes nobody had them. What nobody had in another database says nothing of this one. */
  #unowned: { readonly life: number; readonly passes: ReadonlyMap<number, number> } = { life: -1, passes: new Map() }

  /** `life` moves when the database becomes another one. */
  constructor(record: Pick<RangeRecord, 'change'>, life: () => number) {
    this.#record = record
    this.#life = life
  }

  /** What was changed. `readHeld`: the numbers that Services have. */
  async pass(readHeld: () => Promise<ReadonlySet<number>>): Promise<Pick<Repaired, 'missing' | 'freed'>> {
    const life = this.#life()
    const held = await readHeld()
    const known = this.#unowned.life === life ? this.#unowned.passes : new Map<number, number>()
    const isSame = (): boolean => this.#life() === life
    const done = await this.#record.change((set) => (isSame() ? repaired(set, held, known) : undefined))
    // Of another database the next pass finds out.
    if (done === undefined) return { missing: [], freed: [] }
    this.#unowned = { life, passes: done.unowned }
    return done
  }
}

type Repaired = {
  readonly missing: readonly number[]
  readonly freed: readonly number[]
  readonly unowned: ReadonlyMap<number, number>
}

function repaired(set: NumberSet, held: ReadonlySet<number>, known: ReadonlyMap<number, number>): Repaired {
  const missing = [...held].filter((number) => set.includes(number) && !set.has(number))
  for (const number of missing) set.add(number)
  const passes = set
    .list()
    .flatMap((number): [number, number][] => (held.has(number) ? [] : [[number, (known.get(number) ?? 0) + 1]]))
  const freed = passes.filter(([, count]) => count >= PASSES_TILL_FREE).map(([number]) => number)
  for (const number of freed) set.release(number)
  return { missing, freed, unowned: new Map(passes.filter(([, count]) => count < PASSES_TILL_FREE)) }
}

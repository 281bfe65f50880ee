/**
 * Records by how much the usage of quotas has increased recently. Another server may have charged a
 * write to a quota whose object is not stored yet. A count of the stored objects misses this
 * object, so the recent increases are added to the count.
 */
import { fieldsOf, type Fields, type Json, textOf } from '../../api/object.ts'
import { addQuantities, parseQuantity, type Quantity } from '../../api/quantity.ts'
import type { ResourceList } from '../../api/resource-list.ts'
import type { Steps } from '../../lib/scheduling/slices.ts'

/**
 * Time within which a server stores an object after it has charged the object to the quotas. The
 * charge is the last step of admission, so only the write to etcd follows.
 */
export const STORED_MS = 2_000
/** Increases within this time are added up, so that each quota has only a few of them. */
const TOGETHER_MS = STORED_MS / 4
/** Number of names between two checks of the clock. */
const NAMES_AT_ONCE = 256

type Increase = { readonly beginMs: number; endMs: number; readonly by: Map<string, Quantity> }
type History = { readonly sinceMs: number; used: Fields; increases: Increase[] }

export class RecentCharges {
  readonly #monotonicMs: () => number
  readonly #histories = new Map<string, History>()

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs
  }

  /** Records the usage in the status of a quota. Must be called for each version of the quota. */
  *record(quota: string, status: Json | undefined): Steps<void> {
    const used = fieldsOf(fieldsOf(status)['used'])
    const known = this.#histories.get(quota)
    const nowMs = this.#monotonicMs()
    if (known === undefined) {
      this.#histories.set(quota, { sinceMs: nowMs, used, increases: [] })
      return
    }
    const before = known.used
    known.used = used
    const by = new Map<string, Quantity>()
    let looks = 0
    for (const name of Object.keys(used)) {
      if (++looks % NAMES_AT_ONCE === 0) yield
      const more = used[name] === before[name] ? undefined : increase(before[name], used[name])
      if (more !== undefined) by.set(name, more)
    }
    if (by.size > 0) this.#add(known, by, nowMs)
  }

  /** Removes a deleted quota. */
  forget(quota: string): void {
    this.#histories.delete(quota)
  }

  /**
   * Returns the recent increases of a quota. Returns undefined if they are unknown, because the
   * quota has not been recorded for long enough.
   */
  of(quota: string): ResourceList | undefined {
    const known = this.#histories.get(quota)
    const fromMs = this.#monotonicMs() - STORED_MS
    if (known === undefined || known.sinceMs > fromMs) return undefined
    known.increases = known.increases.filter(({ endMs }) => endMs > fromMs)
    const all = new Map<string, Quantity>()
    for (const { by } of known.increases) addTo(all, by)
    return all
  }

  #add(known: History, by: Map<string, Quantity>, nowMs: number): void {
    const last = known.increases.at(-1)
    if (last !== undefined && nowMs - last.beginMs < TOGETHER_MS) {
      addTo(last.by, by)
      last.endMs = nowMs
      return
    }
    known.increases = known.increases.filter(({ endMs }) => endMs > nowMs - STORED_MS)
    known.increases.push({ beginMs: nowMs, endMs: nowMs, by })
  }
}

function addTo(sum: Map<string, Quantity>, more: ResourceList): void {
  for (const [name, amount] of more) {
    const before = sum.get(name)
    sum.set(name, before === undefined ? amount : addQuantities(before, amount))
  }
}

/** Returns by how much an amount is larger than before, or undefined if it is not. */
function increase(before: Json | undefined, after: Json | undefined): Quantity | undefined {
  const now = parseQuantity(textOf(after))
  if ('fault' in now) return undefined
  const known = parseQuantity(textOf(before))
  const nanos = 'fault' in known ? now.nanos : now.nanos - known.nanos
  return nanos > 0n ? { ...now, nanos } : undefined
}

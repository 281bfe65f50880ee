/** Cases that are known to take longer than they should. Each entry has a limit of its own and a reason. An entry whose cases pass is removed. */
import type { Result } from './run-field.ts'

export type KnownCase = Partial<Pick<Result, 'step' | 'verb' | 'shape' | 'form' | 'kind' | 'atOnce'>> & {
  readonly tickMsMax: number
  readonly latencyMsMax: number
  readonly reason: string
}

const known: readonly KnownCase[] = [
  {
    step: 'large',
    verb: 'create',
    atOnce: 1,
    tickMsMax: 120,
    latencyMsMax: 500,
    reason: 'audit converts the printed object to bytes in one call',
  },
  {
    atOnce: 16,
    tickMsMax: 250,
    latencyMsMax: 500,
    reason: 'the cache decodes and prints a large object in one tick, probably for a reader of its watch event',
  },
]

export function isKnown(result: Result): boolean {
  const { measured } = result
  if (measured === undefined) return false
  const { tickMs, bystander } = measured
  return known.some((one) => {
    const { step, verb, shape, form, kind, atOnce } = { ...result, ...one }
    const isMeant =
      step === result.step &&
      verb === result.verb &&
      shape === result.shape &&
      form === result.form &&
      kind === result.kind &&
      atOnce === result.atOnce
    return isMeant && tickMs <= one.tickMsMax && bystander.p99Ms <= one.latencyMsMax
  })
}

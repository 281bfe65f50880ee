/** Cases that are known to take longer than they should. Each entry has a limit of its own and a reason. An entry whose cases pass is removed. */
import type { Result } from './run-field.ts'

export type KnownCase = Partial<Pick<Result, 'step' | 'verb' | 'shape' | 'form' | 'kind'>> & {
  readonly tickMsMax: number
  readonly latencyMsMax: number
  readonly reason: string
}

const known: readonly KnownCase[] = [
  {
    tickMsMax: 1_000,
    latencyMsMax: 3_000,
    reason: 'audit events of whole bodies, patches of deep values and refusals with long messages are not divided',
  },
]

export function isKnown(result: Result): boolean {
  const { measured } = result
  if (measured === undefined) return false
  const { tickMs, bystander } = measured
  return known.some((one) => {
    const { step, verb, shape, form, kind } = { ...result, ...one }
    const isMeant =
      step === result.step &&
      verb === result.verb &&
      shape === result.shape &&
      form === result.form &&
      kind === result.kind
    return isMeant && tickMs <= one.tickMsMax && bystander.p99Ms <= one.latencyMsMax
  })
}

/**
 * Cases that are known to take longer than they should. Each entry has its own limit and a reason.
 * Remove an entry when its cases pass.
 */
import type { Result } from './run-field.ts'

export type KnownCase = Partial<
  Pick<Result, 'step' | 'verb' | 'shape' | 'form' | 'kind' | 'atOnce'>
> & {
  readonly tickMsMax: number
  readonly latencyMsMax: number
  readonly reason: string
}

const known: readonly KnownCase[] = [
  {
    atOnce: 1,
    tickMsMax: 100,
    latencyMsMax: 300,
    reason:
      'Object.keys of 90,000 keys, and the encoding of a string of some megabytes, cannot be divided',
  },
  {
    atOnce: 16,
    tickMsMax: 150,
    latencyMsMax: 300,
    reason: 'parts of sixteen requests run in the same tick, especially lists in YAML',
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

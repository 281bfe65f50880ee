/** Reports the coverage of a sweep, the failed cases, and the slowest ones. */
import type { Figure } from '../../../../bench/report/figure.ts'
import { shapes } from './bodies.ts'
import { allRepresentations, bodyForms, largeVerbs } from './cases.ts'
import type { SweptField } from './fields.ts'
import { isKnown } from './known.ts'
import type { Result } from './run-field.ts'

/**
 * Maximum CPU time of the main thread in one tick of the event loop.
 */
export const TICK_MS_MAX = 50
/** Maximum CPU time of a tick in the few cases that may exceed TICK_MS_MAX. */
const RARE_TICK_MS_MAX = 100
const RARE_SHARE_MAX = 0.01
/** Maximum 99th percentile of another user's latency. */
export const LATENCY_MS_MAX = 100
const WORST = 40

/**
 * Whether the case crashed the server, blocked its event loop for too long, or delayed another
 * user.
 */
export function fails({ measured }: Result): boolean {
  return (
    measured === undefined ||
    measured.tickMs > TICK_MS_MAX ||
    measured.bystander.p99Ms > LATENCY_MS_MAX
  )
}

export function lineOf(result: Result): string {
  const {
    kind,
    path,
    step,
    verb,
    shape,
    size,
    form,
    isDryRun,
    atOnce,
    statuses,
    message,
    measured,
  } = result
  const how = `${size} ${form}${isDryRun ? ' dry run' : ''}${atOnce > 1 ? ` x${atOnce}` : ''}`
  const what = `${step} ${verb} ${kind} ${path} ${shape} ${how}: ${statuses.join(',')} ${message.slice(0, 60)}`
  if (measured === undefined) return `   DIED ${what}`
  const { tickMs, collectedMs, peakMiB, bystander, profile } = measured
  const times = `${tickMs.toFixed(0).padStart(6)} ms (+${collectedMs.toFixed(0)} ms GC)`
  const others = `p99 ${bystander.p99Ms.toFixed(0)} ms (${bystander.wallMs.toFixed(0)} by the clock)`
  const hint =
    profile === undefined
      ? ''
      : `\n           ${[...profile.path.slice(-3), profile.own.join(', ')].join(' > ')}`
  return `${times}, ${peakMiB.toFixed(0)} MiB, ${others}: ${what}${hint}`
}

/** Returns the counts of a sweep, each with its target. */
export function figuresOf(results: readonly Result[]): readonly Figure[] {
  const count = (matches: (measured: NonNullable<Result['measured']>) => boolean): number =>
    results.filter(({ measured }) => measured !== undefined && matches(measured)).length
  return [
    countOfCases('all', results.length),
    countOfCases(
      `a tick above ${TICK_MS_MAX} ms`,
      count(({ tickMs }) => tickMs > TICK_MS_MAX),
      rareMax(results.length) + 1,
    ),
    countOfCases(
      `a tick above ${RARE_TICK_MS_MAX} ms`,
      count(({ tickMs }) => tickMs > RARE_TICK_MS_MAX),
      1,
    ),
    countOfCases(
      `another user's p99 above ${LATENCY_MS_MAX} ms`,
      count(({ bystander }) => bystander.p99Ms > LATENCY_MS_MAX),
      1,
    ),
    countOfCases(
      'the server died',
      results.filter(({ measured }) => measured === undefined).length,
      1,
    ),
  ]
}

const countOfCases = (name: string, value: number, below?: number): Figure => ({
  name,
  value,
  unit: 'cases',
  digits: 0,
  ...(below === undefined ? {} : { target: { below } }),
})

export type Verdict = { readonly isPassed: boolean; readonly text: string }

/** Summarizes the results. Resident memory above `residentMiBMax` counts as a failure. */
export function verdictOf(
  results: readonly Result[],
  fields: readonly SweptField[],
  residentMiBMax = Infinity,
): Verdict {
  const failed = results.filter((one) => fails(one))
  const known = failed.filter((one) => isKnown(one))
  const isRare = ({ measured }: Result): boolean =>
    measured !== undefined &&
    measured.tickMs <= RARE_TICK_MS_MAX &&
    measured.bystander.p99Ms <= LATENCY_MS_MAX
  const unknown = failed.filter((one) => !known.includes(one))
  const rare = unknown.filter((one) => isRare(one))
  const peakMiB = Math.max(0, ...results.map(({ measured }) => measured?.peakMiB ?? 0))
  const isWithin = peakMiB <= residentMiBMax
  const isPassed =
    isWithin && rare.length === unknown.length && rare.length <= rareMax(results.length)
  const worst = failed.toSorted((one, other) => tickOf(other) - tickOf(one))
  const died = results.filter(({ measured }) => measured === undefined).length
  const lines = [
    ...coverageOf(results, fields),
    `${failed.length} of ${results.length} cases had a tick above ${TICK_MS_MAX} ms or another user's p99 above ${LATENCY_MS_MAX} ms;`,
    `  ${rare.length} of them only a tick of up to ${RARE_TICK_MS_MAX} ms, which ${rareMax(results.length)} may have; the server died in ${died}`,
    `  peak of resident memory: ${peakMiB.toFixed(0)} MiB${isWithin ? '' : `, above ${residentMiBMax}`}`,
    `  ${results.filter(({ statuses }) => statuses.includes(0)).length} cases had requests without a response`,
    ...(known.length === 0
      ? []
      : [`  ${known.length} of them are known (test/chaos/hostile/sweep/known.ts)`]),
    ...worst.slice(0, WORST).map((one) => lineOf(one)),
    isPassed ? 'passed' : 'failed',
  ]
  return { isPassed, text: lines.join('\n') }
}

/**
 * Returns the number of cases in which a tick may exceed the usual limit: a small share of all
 * cases, but at least one.
 */
const rareMax = (cases: number): number => Math.max(1, Math.floor(cases * RARE_SHARE_MAX))

const tickOf = ({ measured }: Result): number => measured?.tickMs ?? Infinity

const axes = ['verb', 'shape', 'size', 'form', 'atOnce', 'isDryRun'] as const
type Axis = (typeof axes)[number]

function coverageOf(results: readonly Result[], fields: readonly SweptField[]): string[] {
  const own = fields.filter(({ isShared }) => !isShared)
  const creates = results.filter(({ step, verb }) => step === 'large' && verb === 'create')
  const pairs = new Set(creates.map(({ kind, path, shape }) => `${kind} ${path} ${shape}`))
  const stored = new Set(
    results.filter(({ step }) => step === 'small').map(({ kind, path }) => `${kind} ${path}`),
  )
  const swept = new Set(results.map(({ kind, path }) => `${kind} ${path}`))
  const tuples = (names: readonly Axis[]): number =>
    new Set(results.map((one) => names.map((name) => one[name]).join(' '))).size
  const combined = axes.flatMap((one, at) =>
    axes.slice(at + 1).map((other) => `${one}×${other} ${tuples([one, other])}`),
  )
  return [
    `coverage: ${swept.size} of ${fields.length} fields (${own.length} of types that are swept in full), ${stored.size} stored,`,
    `  ${pairs.size} pairs of field and shape as create (of ${own.length * shapes.length + fields.length - own.length}),`,
    `  ${tuples(['verb'])} verbs (${largeVerbs.length} with large bodies), ${bodyForms.length} body forms, ${allRepresentations.length} representations`,
    `  pairs: ${combined.join(', ')}`,
  ]
}

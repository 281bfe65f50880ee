/**
 * Formats the output of the runner: differences as they occur, progress on a terminal, and totals
 * at the end.
 */
import type { Figure } from '../../../bench/report/figure.ts'
import type { Outcome } from './compare.ts'

/** Maximum number of differences of one step that are shown without --verbose. */
const SHOWN_PER_STEP_MAX = 8

export class Progress {
  readonly #total: number
  readonly #terminal = process.stderr.isTTY ? process.stderr : undefined
  #done = 0
  #failed = 0

  constructor(total: number) {
    this.#total = total
  }

  step(failed: boolean): void {
    this.#done++
    if (failed) this.#failed++
    this.#terminal?.write(`\r${this.#done} of ${this.#total}, ${this.#failed} failed `)
  }

  /** Clears the progress line, so that other output can be printed. */
  clear(): void {
    this.#terminal?.write('\r\u001b[K')
  }
}

export function formatOutcome(
  outcome: Outcome,
  { verbose }: { readonly verbose: boolean },
): string | undefined {
  if (outcome.outcome === 'same') return undefined
  if (outcome.outcome === 'no recording') return `NO RECORDING ${outcome.id}`
  const lines = [`DIFFERS ${outcome.file}/${outcome.id} (§${outcome.section ?? '-'})`]
  for (const { step, differences } of outcome.bad) {
    const shown = verbose ? differences : differences.slice(0, SHOWN_PER_STEP_MAX)
    lines.push(`  step ${step}`, ...shown.map((line) => `      ${line}`))
    if (shown.length < differences.length)
      lines.push(`      … ${differences.length - shown.length} more`)
  }
  return lines.join('\n')
}

/** Formats the totals of each file and of the steps. The last line is `N passed, N failed`. */
export function formatSummary(outcomes: readonly Outcome[]): string {
  const byFile = Map.groupBy(outcomes, ({ file }) => file)
  const lines = [...byFile]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, ofFile]) => `${file}: ${countPassed(ofFile)} of ${ofFile.length} scenarios`)
  const steps = outcomes.reduce(
    (sum, outcome) => sum + (outcome.outcome === 'no recording' ? 0 : outcome.steps),
    0,
  )
  const differing = outcomes.reduce(
    (sum, outcome) => sum + (outcome.outcome === 'differs' ? outcome.bad.length : 0),
    0,
  )
  const passed = countPassed(outcomes)
  return [
    ...lines,
    `steps: ${steps - differing} of ${steps} as recorded`,
    `${passed} passed, ${outcomes.length - passed} failed`,
  ].join('\n')
}

export function figuresOf(outcomes: readonly Outcome[]): readonly Figure[] {
  return [scenarios('all', outcomes.length), scenarios('as recorded', countPassed(outcomes))]
}

const scenarios = (name: string, value: number): Figure => ({
  name,
  value,
  unit: 'scenarios',
  digits: 0,
})

const countPassed = (outcomes: readonly Outcome[]): number =>
  outcomes.filter(({ outcome }) => outcome === 'same').length

/**
 * Sends the same random requests to both servers. For each kind of difference, reduces the first
 * case that shows it, and writes the case to a file.
 */
import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Options } from './options.ts'
import { statusOf } from './known.ts'
import { reduce } from './reduce.ts'
import { type Difference, type Outcome, Runner } from './runner.ts'
import { Servers } from './servers.ts'
import { ofAnyKind } from './signature.ts'
import { Totals } from './totals.ts'
import { chosenCases, loadInput, takeAll, type Work } from './work.ts'

/** Returns the exit status of the command. */
export async function fuzz(options: Options): Promise<number> {
  await using servers = new Servers()
  const [reference, keelson] = await Promise.all([servers.openReference(), servers.openKeelson()])
  const input = await loadInput(reference.target)
  console.log(`seed ${options.seed}`)
  const run = new FuzzRun(new Runner(reference.target, keelson.target), options)
  const unanswered = (): string[] => [
    ...reference.target.unanswered.map((request) => `unanswered by the reference: ${request}`),
    ...keelson.target.unanswered.map((request) => `unanswered by Keelson: ${request}`),
  ]
  const isStuck = (): boolean => unanswered().length >= UNANSWERED_MAX
  try {
    await takeAll(chosenCases(options, input), { ...options, isOver: isStuck, nameOf }, (work) =>
      run.take(work),
    )
  } finally {
    console.log([...unanswered(), run.format()].join('\n'))
  }
  return run.totals.failed > 0 || unanswered().length > 0 ? 1 : 0
}

/**
 * Maximum number of unanswered requests. If a server leaves more of them unanswered, it counts as
 * hung. The run then ends and lists these requests.
 */
const UNANSWERED_MAX = 20

const nameOf = ({ area, number }: Work): string => `${area}/${number}`

class FuzzRun {
  readonly totals = new Totals()
  readonly #runner: Runner
  readonly #options: Options
  /** Number of occurrences of each kind of difference. */
  readonly #sorts = new Map<string, number>()

  constructor(runner: Runner, options: Options) {
    this.#runner = runner
    this.#options = options
    mkdirSync(dirname(options.out), { recursive: true })
  }

  async take(work: Work): Promise<void> {
    const totals = this.totals.of(work.area)
    totals.cases++
    const outcome = await this.#runner.run(work.steps).catch((cause: unknown) => {
      throw new Error(`the case ${work.area}/${work.number} could not be made or sent`, { cause })
    })
    totals.steps += outcome.compared
    totals.reordered += outcome.reordered
    totals.accepted += outcome.answers.filter((answer) => statusOf(answer) < 300).length
    if (outcome.differences.length === 0) return
    const lasting = await this.#lasting(work, outcome)
    totals.flaky += outcome.differences.length - lasting.length
    totals.differing += lasting.length
    totals.changing += lasting.filter(({ changesOutcome }) => changesOutcome).length
    if (lasting.length > 0) totals.failed++
    for (const difference of lasting) await this.#see(work, outcome, difference)
  }

  format(): string {
    const sorts = [...this.#sorts]
      .toSorted(([, a], [, b]) => b - a)
      .map(([sort, count]) => `${count} ${sort}`)
    return [...sorts, this.totals.format()].join('\n')
  }

  /**
   * Returns the differences that can be reproduced. Only a case with a new kind of difference is
   * run again. A difference is reproducible if it occurs again and kube-apiserver's response is the
   * same as in the first run.
   */
  async #lasting(work: Work, outcome: Outcome): Promise<readonly Difference[]> {
    const isNew = outcome.differences.some(
      (difference) => !this.#sorts.has(sortOf(work, difference)),
    )
    if (!isNew) return outcome.differences
    const again = await this.#runner.run(outcome.steps)
    return outcome.differences.filter(({ index, want }) => {
      const twin = again.differences.find((other) => other.index === index)
      return twin !== undefined && JSON.stringify(twin.want) === JSON.stringify(want)
    })
  }

  async #see(work: Work, outcome: Outcome, difference: Difference): Promise<void> {
    const sort = sortOf(work, difference)
    const count = (this.#sorts.get(sort) ?? 0) + 1
    this.#sorts.set(sort, count)
    if (count > 1) return
    const { seed, trials: trialsMax, out, verbose } = this.#options
    const { steps, difference: smallest } = await reduce(this.#runner, outcome, {
      difference,
      trialsMax,
    })
    const { lines, want, got, changesOutcome } = smallest
    const finding = {
      area: work.area,
      case: work.number,
      seed,
      signature: difference.signature,
      changesOutcome,
      differences: lines,
      requests: steps,
      reference: want,
      keelson: got,
    }
    appendFileSync(out, `${JSON.stringify(finding)}\n`)
    console.log(`${work.area}/${work.number} ${difference.signature}`)
    if (verbose)
      console.log([...lines.slice(0, 4), ...steps.map((step) => JSON.stringify(step))].join('\n  '))
  }
}

const sortOf = ({ area }: Work, { signature }: Difference): string =>
  `${area} ${ofAnyKind(signature)}`

/**
 * `npm run bench -- --against COMMIT --only start`: compares start time and idle memory with those
 * of another commit. Starts alternate, so that the current speed of the machine hardly affects the
 * ratio within one round.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import type { Figure } from '../report/figure.ts'
import { calmest } from '../report/host.ts'
import { median, medianInterval } from '../report/interval.ts'
import { buildCommit, commitOf, commitOfCheckout } from './built-commit.ts'
import { CALM, casesIn, measureStart, type Start } from './start.ts'

/** Number of pairs of starts of every case per run, after one pair that fills the caches. */
const ROUNDS_PER_RUN = 5
/** Ratio above which start time or memory is a regression. */
const RATIO_MAX = 1.03

type Pair = { readonly before: Start; readonly after: Start }

export async function benchStartAgainst({
  commit,
  runs,
}: {
  readonly commit: string
  readonly runs: number
}): Promise<Figure[]> {
  const before = commitOf(commit)
  const programs = { before: buildCommit(before), after: buildCommit(commitOfCheckout()) }
  const dir = mkdtempSync(join(tmpdir(), 'keelson-start-'))
  try {
    await using etcd = await startEtcd()
    const casesOf = (side: keyof Pair): ReturnType<typeof casesIn> =>
      casesIn(join(dir, side), etcd.clientUrl, `/${side}`)
    const after = casesOf('after')
    const figures: Figure[] = []
    for (const [at, old] of casesOf('before').entries()) {
      const start = async (side: keyof Pair): Promise<Start> => {
        const { args } = (side === 'before' ? old : after[at]) ?? old
        const measure = (): Promise<Start> => measureStart(programs[side], args, join(dir, side))
        return (await calmest(measure, CALM)).best
      }
      const rounds: Pair[] = []
      for (let round = -1; round < runs * ROUNDS_PER_RUN; round++) {
        const pair =
          round % 2 === 0
            ? { before: await start('before'), after: await start('after') }
            : { after: await start('after'), before: await start('before') }
        if (round >= 0) rounds.push(pair)
      }
      figures.push(...figuresOf(`${old.name}, against ${before.slice(0, 8)}`, rounds))
    }
    return figures
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function figuresOf(name: string, rounds: readonly Pair[]): Figure[] {
  const figure = (measure: string, unit: string, of: (start: Start) => number): Figure => {
    const ratios = rounds.map(({ before, after }) => of(after) / of(before))
    const { value, low, high } = medianInterval(ratios)
    const [old, current] = [
      median(rounds.map(({ before }) => of(before))),
      median(rounds.map(({ after }) => of(after))),
    ]
    return {
      name: `${name}: ${measure}`,
      value,
      unit: 'times',
      digits: 3,
      target: { below: RATIO_MAX },
      note: `${low.toFixed(3)} to ${high.toFixed(3)}; ${current.toFixed(0)} against ${old.toFixed(0)} ${unit}, ${rounds.length} rounds`,
    }
  }
  return [
    figure('time until ready', 'ms', ({ readyMs }) => readyMs),
    figure('idle memory', 'MiB', ({ idleMegabytes }) => idleMegabytes),
  ]
}

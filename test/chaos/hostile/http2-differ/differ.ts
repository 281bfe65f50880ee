/**
 * Sends sequences of frames to Keelson's server and to the server of Node.js, and reports
 * differences that differences.ts does not list.
 */
import { Random } from '../../simulation/random.ts'
import { differences } from './differences.ts'
import { generate, type Step } from './generate.ts'
import { type Servers, startServers } from './servers.ts'
import { judge } from './verdict.ts'

export type Outcome = { readonly passed: number; readonly failures: readonly string[] }

/**
 * Times in ms to wait for the reactions of the servers. If the verdicts differ, the sequence is
 * tried again with the next longer time, because the servers can be slow on a busy machine.
 */
const PATIENCE_MS = [8, 60, 400] as const
/**
 * Time in ms to wait for reactions while a sequence is shortened. A short time is sufficient,
 * because the only effect of a wrong verdict is that the sequence stays longer than necessary.
 */
const SHORTENING_MS = [30] as const

/**
 * Runs the sequences of `count` seeds, starting with `seed`, or as many as possible until
 * `untilMs`.
 */
export async function differ(
  seed: number,
  { count = Infinity, untilMs = Infinity },
): Promise<Outcome> {
  await using servers = await startServers()
  let passed = 0
  const failures: string[] = []
  for (let at = 0; at < count && performance.now() < untilMs; at++) {
    const fault = await findFault(servers, generate(new Random(seed + at)))
    if (fault === undefined) passed++
    else failures.push(`seed ${seed + at}: ${fault}`)
  }
  return { passed, failures }
}

type Pair = { readonly ours: string; readonly theirs: string }

async function findFault(servers: Servers, steps: readonly Step[]): Promise<string | undefined> {
  const pair = await differing(servers, steps, PATIENCE_MS)
  if (pair === undefined) return undefined
  const shortest = await shorten(servers, steps, pair)
  const names = shortest.steps.map(({ name }) => name).join(' | ')
  const { ours, theirs } = shortest.pair
  const known = differences.some(
    (one) => one.steps.test(names) && one.ours.test(ours) && one.theirs.test(theirs),
  )
  return known ? undefined : `${names}\n    ours ${ours}\n  theirs ${theirs}`
}

/** Returns the verdicts of both servers, or undefined if they agree. */
async function differing(
  servers: Servers,
  steps: readonly Step[],
  patiencesMs: readonly number[],
): Promise<Pair | undefined> {
  let pair: Pair = { ours: '', theirs: '' }
  for (const patienceMs of patiencesMs) {
    const [ours, theirs] = await Promise.all([
      judge({ port: servers.ours }, steps, patienceMs),
      judge({ port: servers.theirs, codeOf: servers.theirCode }, steps, patienceMs),
    ])
    pair = { ours: JSON.stringify(ours), theirs: JSON.stringify(theirs) }
    if (pair.ours === pair.theirs) return undefined
  }
  return pair
}

/** Removes every step that is not needed for the verdicts to differ. */
async function shorten(
  servers: Servers,
  steps: readonly Step[],
  pair: Pair,
): Promise<{ readonly steps: readonly Step[]; readonly pair: Pair }> {
  for (let at = 0; at < steps.length && steps.length > 1; at++) {
    const shorter = steps.toSpliced(at, 1)
    const still = await differing(servers, shorter, SHORTENING_MS)
    if (still !== undefined) return shorten(servers, shorter, still)
  }
  return { steps, pair }
}

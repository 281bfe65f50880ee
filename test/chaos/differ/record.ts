/**
 * Stores kube-apiserver's responses to cases on which both servers agree, and replays stored cases
 * on Keelson alone.
 */
import { diff } from '../../recorded/compat/diff.ts'
import { isRecord, type Json } from '../../recorded/compat/json.ts'
import { withoutChance } from './compare.ts'
import { isKnown } from './known.ts'
import type { Options } from './options.ts'
import { addCases, idOf, readCases, recordedAreas, type RecordedCase } from './recordings.ts'
import { Runner } from './runner.ts'
import { Servers } from './servers.ts'
import { namespaces, Session } from './session.ts'
import type { Target } from './target.ts'
import { chosenCases, loadInput, takeAll, type Work } from './work.ts'

/**
 * Maximum total length of the responses of a stored case. Longer cases contain lists of large
 * objects or long messages, and would enlarge the repository without testing more.
 */
const ANSWERS_LENGTH_MAX = 40_000
/**
 * Maximum number of watches in a stored case. The number is limited because each watch takes a
 * second.
 */
const SECONDS_MAX = 3
/**
 * Maximum number of replays of a case (see `replayWithinSecond`). On a busy machine a case takes
 * half a second, so a new second begins during half of the replays. It is very unlikely that a new
 * second begins during this many replays in a row.
 */
const REPLAYS_MAX = 12

/** Returns the exit status of the command. */
export async function record(options: Options): Promise<number> {
  await using servers = new Servers()
  const [reference, keelson] = await Promise.all([servers.openReference(), servers.openKeelson()])
  const input = await loadInput(reference.target)
  const runner = new Runner(reference.target, keelson.target)
  const recorded: RecordedCase[] = []
  await takeAll(chosenCases(options, input), options, async (work) => {
    const kept = await recordOne(runner, work, options.seed)
    if (kept !== undefined) recorded.push(kept)
  })
  for (const area of options.areas) {
    const added = addCases(
      area,
      recorded.filter((kept) => kept.area === area),
    )
    console.log(`${area}: ${added} added, ${readCases(area).length} in total`)
  }
  return 0
}

/**
 * Runs a case twice, and returns it if the servers agree both times. If a response of
 * kube-apiserver is random, the case cannot be recorded.
 */
async function recordOne(
  runner: Runner,
  work: Work,
  seed: number,
): Promise<RecordedCase | undefined> {
  const { area, number } = work
  const { steps, differences, answers } = await runner.run(work.steps)
  const watches = steps.filter(({ query }) => query?.['timeoutSeconds'] !== undefined).length
  if (differences.length > 0 || watches > SECONDS_MAX) return undefined
  if (JSON.stringify(answers).length > ANSWERS_LENGTH_MAX) return undefined
  const again = await runner.run(steps)
  if (again.differences.length > 0 || JSON.stringify(again.answers) !== JSON.stringify(answers))
    return undefined
  return { area, seed, number, steps, answers }
}

/** Returns the exit status of the command. */
export async function replayRecorded(options: Options): Promise<number> {
  const cases = recordedAreas()
    .filter((area) => options.areas.includes(area))
    .flatMap(readCases)
  await using servers = new Servers()
  const { target } = await servers.openKeelson()
  const names = namespaces()
  let failed = 0
  await takeAll(cases, options, async (recorded) => {
    const lines = await replayWithinSecond(target, recorded, () => names.next().value)
    if (lines.length === 0) return
    failed++
    console.log([`DIFFERS ${idOf(recorded)}`, ...lines].join('\n'))
  })
  console.log(`${cases.length - failed} passed, ${failed} failed`)
  return failed > 0 ? 1 : 0
}

const comparable = (answer: Json): Json =>
  isRecord(answer) ? { ...answer, body: withoutChance(answer['body'] ?? null) } : answer

/**
 * Replays a case, and returns the differences as lines. An apply without changes is stored only if
 * its timestamp in managedFields changes, which has a resolution of one second. A case that differs
 * is therefore replayed again if a new second began during the replay.
 */
async function replayWithinSecond(
  target: Target,
  recorded: RecordedCase,
  nextNamespace: () => string,
): Promise<readonly string[]> {
  for (let replays = 1; ; replays++) {
    const began = secondNow()
    const lines = await replay(target, recorded, nextNamespace())
    if (lines.length === 0 || secondNow() === began || replays === REPLAYS_MAX) return lines
  }
}

const secondNow = (): number => Math.floor(Date.now() / 1000)

/**
 * Replays a case once, and returns the first difference as lines. The steps after this difference
 * are not sent.
 */
async function replay(
  target: Target,
  { steps, answers }: RecordedCase,
  namespace: string,
): Promise<readonly string[]> {
  const session = new Session(target, namespace)
  await session.begin()
  const wanted = answers.values()
  const found: string[] = []
  for (const step of steps) {
    const answer = await session.send(step)
    if (step.wait) continue
    const got = session.normalise(answer)
    const want = comparable(wanted.next().value ?? null)
    const lines = diff(want, got)
    if (lines.length === 0 || isKnown({ step, want, got })) continue
    found.push(`  ${JSON.stringify(step)}`, ...lines.map((line) => `    ${line}`))
    break
  }
  await session.end(steps)
  return found
}

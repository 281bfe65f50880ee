#!/usr/bin/env node
/** Command of the compat suite. `npm run compat -- --help` describes its options. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { writeRun } from '../../../bench/report/kept-run.ts'
import { formatChanges } from './change-report.ts'
import { createClient } from './client.ts'
import { Companions } from './companions.ts'
import { compareScenario, type Outcome } from './compare.ts'
import { type Options, parseOptions, usage, UsageError } from './options.ts'
import { addIds, passingFile, readIds } from './passing.ts'
import type { RecordedStep } from './recorded.ts'
import { openRecordings, releaseDirectory, ReleaseRecordings } from './release-recordings.ts'
import { figuresOf, formatOutcome, formatSummary, Progress } from './report.ts'
import { runScenario } from './run.ts'
import { chooseSample } from './sample.ts'
import { chooseScenarios, type FiledScenario, loadScenarios } from './scenarios.ts'
import { loadSetUps, type SetUp, setUpOf } from './set-ups.ts'
import { openTarget, type Target } from './target.ts'

/** Runs the command and returns its exit status. */
async function main(argv: readonly string[]): Promise<number> {
  if (argv.includes('--help')) {
    console.log(usage)
    return 0
  }
  const options = parseOptions(argv)
  const chosen = sampled(chooseScenarios(await loadScenarios(), options.choice), options)
  if (options.mode === 'list') return list(chosen)
  if (options.mode === 'changes') return listChanges(chosen, options.release)
  return await (options.mode === 'record' ? record(chosen, options) : replay(chosen, options))
}

function sampled(
  chosen: readonly FiledScenario[],
  { sample, release }: Options,
): readonly FiledScenario[] {
  if (sample === undefined) return chosen
  return chooseSample(chosen, new ReleaseRecordings(releaseDirectory(release)), sample)
}

function list(chosen: readonly FiledScenario[]): number {
  for (const { file, id, section, steps, about } of chosen)
    console.log(`${file}\t${id}\t§${section ?? '-'}\t${steps.length} steps\t${about ?? ''}`)
  console.log(
    `${chosen.length} scenarios, ${chosen.reduce((sum, { steps }) => sum + steps.length, 0)} steps`,
  )
  return 0
}

function listChanges(chosen: readonly FiledScenario[], release: number): number {
  const recordings = new ReleaseRecordings(releaseDirectory(release))
  const recorded = chosen.flatMap((scenario) => recordings.changesOf(scenario) ?? [])
  const changed = recorded.filter(({ changes }) => changes.length > 0)
  console.log(formatChanges(changed))
  console.log(`${changed.length} of ${recorded.length} recorded scenarios differ from 1.33`)
  return 0
}

/**
 * Maximum number of scenarios that are run a second time. If more scenarios differ, the cause
 * cannot only be a busy machine.
 */
const AGAIN_MAX = 20

/** Number of recorded scenarios after which the recordings are saved. */
const SAVED_TOGETHER = 250

async function record(chosen: readonly FiledScenario[], options: Options): Promise<number> {
  const recordings = openRecordings(options.release)
  let left = 0
  let kept = 0
  await runAll(chosen, options, (scenario, got) => {
    // There are no responses if the server did not start with the set-up.
    if (got.length === 0) left++
    else {
      recordings.keep(scenario, got)
      // Save regularly, so that most recordings are kept if the run is interrupted.
      if (++kept % SAVED_TOGETHER === 0) recordings.save()
      console.log(`recorded ${scenario.id}: ${got.map(({ status }) => status).join(' ')}`)
    }
    return 'go on'
  })
  recordings.save()
  if (left > 0) console.log(`FAILED: ${left} scenarios were not recorded`)
  return left === 0 ? 0 : 1
}

async function replay(chosen: readonly FiledScenario[], options: Options): Promise<number> {
  const recordings = openRecordings(options.release)
  const progress = new Progress(chosen.length)
  const outcomes: Outcome[] = []
  const again = new Set<string>()
  await runAll(chosen, options, (scenario, got) => {
    const outcome = compareScenario(scenario, recordings.stepsOf(scenario), got, options.without)
    const text = formatOutcome(outcome, options)
    progress.clear()
    if (text !== undefined) console.log(text)
    if (text !== undefined && options.again && !again.has(scenario.id) && again.size < AGAIN_MAX) {
      again.add(scenario.id)
      return 'again'
    }
    outcomes.push(outcome)
    progress.step(text !== undefined)
    return options.bail && text !== undefined ? 'stop' : 'go on'
  })
  progress.clear()
  for (const { id, file, outcome } of outcomes)
    if (again.has(id) && outcome === 'same')
      console.log(`DIFFERED ONCE, but not when it was run again: ${file}/${id}`)
  if (options.jsonFile !== undefined)
    writeFileSync(options.jsonFile, JSON.stringify(outcomes, null, 1))
  if (options.figuresFile !== undefined)
    writeRun(options.figuresFile, figuresOf(outcomes), {
      program: 'npm run compat --',
      option: '--figures',
    })
  // Print these lines for .ci/run, which reads them. The differences themselves were printed
  // earlier.
  for (const { id, file, outcome } of outcomes)
    if (outcome !== 'same') console.log(`FAILED ${file}/${id}`)
  const isGood = options.updatePassing
    ? updatePassing(outcomes, passingFile(options.release))
    : outcomes.every(({ outcome }) => outcome === 'same')
  if (chosen.length === 0) console.log('FAILED: no scenario was chosen')
  if (outcomes.length < chosen.length)
    console.log(`FAILED: ${chosen.length - outcomes.length} scenarios were not run`)
  console.log(formatSummary(outcomes))
  return isGood && chosen.length > 0 && outcomes.length >= chosen.length ? 0 : 1
}

/**
 * Adds the scenarios that pass to the list of passing scenarios. Returns whether all scenarios that
 * were already in the list still pass, if they ran.
 */
function updatePassing(outcomes: readonly Outcome[], path: string): boolean {
  const listed = new Set(readIds(path))
  const lost = outcomes.filter(({ id, outcome }) => outcome !== 'same' && listed.has(id))
  for (const { file, id } of lost) console.log(`NO LONGER PASSES ${file}/${id}`)
  const passed = outcomes.filter(({ outcome }) => outcome === 'same')
  const added = addIds(
    path,
    passed.map(({ id }) => id),
  )
  console.log(`list of passing scenarios: ${added} added, ${lost.length} no longer pass`)
  return lost.length === 0
}

/**
 * Called after each scenario. If it returns `again`, the scenario is run once more on a new server,
 * after all other scenarios.
 */
type OnDone = (scenario: FiledScenario, got: readonly RecordedStep[]) => 'go on' | 'stop' | 'again'

/** Runs the scenarios on the server that the options choose, or on one server for each set-up. */
async function runAll(
  chosen: readonly FiledScenario[],
  options: Options,
  done: OnDone,
): Promise<void> {
  // Listen for signals. Otherwise a signal would end this process before it can stop its servers.
  const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  const groups =
    options.server.kind === 'running'
      ? [[undefined, chosen] as const]
      : groupsOf(chosen, options.setUps)
  const setUps = await loadSetUps()
  if (options.server.kind === 'running') checkRunning(chosen, setUps)
  let isStopped = false
  const again: FiledScenario[] = []
  const runSetUp = async (
    needs: string | undefined,
    group: readonly FiledScenario[],
    parallel: number,
  ): Promise<void> => {
    const setUp = setUpOf(setUps, needs)
    await using companions = await Companions.start(setUp)
    const target = await openTarget(options, setUp, companions).catch((error: unknown) => {
      if (needs === undefined) throw error
      console.log(`the server did not start with the set-up ${needs}: ${explain(error)}`)
    })
    if (target === undefined) {
      for (const scenario of group) {
        const next = done(scenario, [])
        if (next === 'again') again.push(scenario)
        isStopped ||= next === 'stop'
      }
      return
    }
    await using _ = target
    await runGroup(group, { target, companions, parallel, interrupted }, (scenario, got) => {
      const next = done(scenario, got)
      if (next === 'again') again.push(scenario)
      isStopped ||= next === 'stop'
      return next
    })
  }
  const waiting = groups.values()
  const lane = async (): Promise<void> => {
    for (const [needs, group] of waiting) {
      if (isStopped) return
      await runSetUp(needs, group, options.parallel)
    }
  }
  const lanes = Array.from({ length: options.setUps }, () =>
    lane().catch((error: unknown) => {
      isStopped = true
      throw error
    }),
  )
  await Promise.all(lanes)
  // Run these scenarios on new servers, because the metrics of the earlier servers include their
  // first run.
  for (const [needs, group] of Map.groupBy(again, (scenario) => scenario.needs)) {
    if (!isStopped) await runSetUp(needs, group, 1)
  }
}

/**
 * Maximum number of scenarios on one server, if several servers run at once. Most scenarios need no
 * set-up. They are split into groups of this size, so that all servers finish at about the same
 * time.
 */
const GROUP_MAX = 5_000

type Group = readonly [needs: string | undefined, scenarios: readonly FiledScenario[]]

function groupsOf(chosen: readonly FiledScenario[], setUps: number): Group[] {
  return [...Map.groupBy(chosen, ({ needs }) => needs)].flatMap(([needs, group]) => {
    const size =
      setUps === 1 ? group.length : Math.ceil(group.length / Math.ceil(group.length / GROUP_MAX))
    const parts: Group[] = []
    for (let at = 0; at < group.length; at += size) parts.push([needs, group.slice(at, at + size)])
    return parts
  })
}

/**
 * Throws an error if a selected scenario needs a set-up with files. A server that is already
 * running is not configured for the webhooks and issuers of this process.
 */
function checkRunning(chosen: readonly FiledScenario[], setUps: ReadonlyMap<string, SetUp>): void {
  const { needs } =
    chosen.find(({ needs: name }) => setUpOf(setUps, name).files !== undefined) ?? {}
  if (needs !== undefined)
    throw new UsageError(
      `the set-up ${needs} needs a server that this command starts: leave out --server`,
    )
}

type Run = {
  readonly target: Target
  readonly companions: Companions
  /** Number of concurrent scenarios. */
  readonly parallel: number
  readonly interrupted: Promise<unknown>
}

async function runGroup(
  chosen: readonly FiledScenario[],
  { target, companions, parallel, interrupted }: Run,
  done: OnDone,
): Promise<void> {
  using client = createClient(target)
  const waiting = chosen.values()
  let isStopped = false
  const work = async (): Promise<void> => {
    for (const scenario of waiting) {
      const got = await runScenario(scenario, client, companions)
      if (isStopped) return
      isStopped = done(scenario, got) === 'stop'
      if (isStopped) return
    }
  }
  const workers = Promise.all(Array.from({ length: parallel }, work)).catch((error: unknown) => {
    throw new Error(`the server at ${target.server} stopped answering`, { cause: error })
  })
  const end = await Promise.race([workers, interrupted.then(() => 'interrupted')])
  isStopped = true
  if (end === 'interrupted') throw new Error('interrupted')
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const isUsage = error instanceof UsageError
  console.error(`compat: ${isUsage ? `${error.message}\n\n${usage}` : explain(error)}`)
  process.exitCode = isUsage ? 2 : 1
}

/** Returns the message of an error with its causes. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined
    ? error.message
    : `${error.message}\n  because: ${explain(error.cause)}`
}

/**
 * Deterministic simulation: `npm run simulate`. Each seed is a separate simulation
 * (virtual/cluster-simulation.ts). Uses all cores.
 *
 *   --seed S       the first seed. Without --seeds or --minutes, runs only this seed and shows the
 *                  steps before a failure.
 *   --seeds N      number of seeds.
 *   --minutes N    runs as many seeds as fit into this time.
 *   --first        stops at the first failure.
 *   --trace        prints the whole trace of a seed.
 *   --world W      what to simulate: storage (the default), garbage or restore.
 *   --json F       writes the numbers of seeds and failures to F, in the format of bench/results/.
 *                  Cannot be used with a single seed.
 *
 * A failure prints its seed and the command that repeats it. A failed seed fails again in every
 * run. See docs/simulation.md.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import type { Figure } from '../../../bench/report/figure.ts'
import { writeRun } from '../../../bench/report/kept-run.ts'
import {
  type SeedVerdict,
  simulateSeed,
  type WorldName,
  worldNames,
} from './virtual/simulate-seed.ts'

/**
 * Maximum real time of a seed. A seed usually takes a tenth of a second. A seed that takes this
 * long, even on a busy machine, is in an endless loop.
 */
const SEED_MS_MAX = 120_000
/** Number of trace lines that are shown before a failure. */
const TRAIL_SHOWN = 60
const SEEDS_DEFAULT = 200

type Options = {
  readonly world: WorldName
  readonly first: number
  readonly seeds: number
  readonly untilMs: number
  readonly stopsAtFirst: boolean
  readonly jsonFile: string | undefined
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      seeds: { type: 'string' },
      minutes: { type: 'string' },
      first: { type: 'boolean', default: false },
      trace: { type: 'boolean', default: false },
      world: { type: 'string', default: 'storage' },
      json: { type: 'string' },
    },
  })
  const world = worldOf(values.world)
  const first =
    values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : whole('seed', values.seed)
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes)
  if (minutes !== undefined && !(minutes > 0))
    throw new Error(`--minutes is not a duration: ${values.minutes}`)
  if (values.seed !== undefined && values.seeds === undefined && minutes === undefined) {
    await runOne(first, world, values.trace)
    return
  }
  const all = minutes === undefined ? SEEDS_DEFAULT : Number.POSITIVE_INFINITY
  await runMany({
    world,
    first,
    seeds: values.seeds === undefined ? all : whole('seeds', values.seeds),
    untilMs: performance.now() + (minutes ?? Number.POSITIVE_INFINITY) * 60_000,
    stopsAtFirst: values.first,
    jsonFile: values.json,
  })
}

async function runOne(seed: number, world: WorldName, isTraced: boolean): Promise<void> {
  const lines: string[] = []
  const verdict = await simulateSeed(seed, {
    world,
    onLine: isTraced ? (line) => lines.push(line) : undefined,
  })
  const isWell = verdict.faults.length === 0
  if (isTraced) process.stdout.write(lines.join(''))
  else if (!isWell) process.stdout.write(verdict.trail.slice(-TRAIL_SHOWN).join(''))
  report(verdict, world)
  console.log(
    `seed ${seed}: ${verdict.steps} steps in ${verdict.virtualMs} ms, trace ${verdict.digest}`,
  )
  finish(isWell ? 1 : 0, isWell ? 0 : 1)
}

async function runMany(options: Options): Promise<void> {
  console.log(`seeds from ${options.first} on, ${availableParallelism()} at a time`)
  const startMs = performance.now()
  const verdicts = new Map<number, SeedVerdict>()
  let next = options.first
  let failed = 0
  const isOver = (): boolean =>
    next >= options.first + options.seeds ||
    performance.now() > options.untilMs ||
    (options.stopsAtFirst && failed > 0)
  const work = async (): Promise<void> => {
    let worker = startWorker(options.world)
    while (!isOver()) {
      const verdict = await ask(worker, next++)
      verdicts.set(verdict.seed, verdict)
      if (verdict.faults.length === 0) continue
      failed++
      report(verdict, options.world)
      if (!worker.connected) worker = startWorker(options.world)
    }
    if (worker.connected) worker.disconnect()
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  summarize([...verdicts.values()], performance.now() - startMs)
  if (options.jsonFile !== undefined)
    writeRun(options.jsonFile, figuresOf([...verdicts.values()]), {
      program: 'npm run simulate --',
    })
  finish(verdicts.size - failed, failed)
}

function figuresOf(verdicts: readonly SeedVerdict[]): readonly Figure[] {
  const writes = verdicts.reduce((sum, verdict) => sum + verdict.writes, 0)
  const failed = verdicts.filter(({ faults }) => faults.length > 0).length
  return [
    { name: 'simulated clusters', value: verdicts.length, unit: 'clusters', digits: 0 },
    { name: 'writes', value: writes, unit: 'writes', digits: 0 },
    {
      name: 'clusters with a fault',
      value: failed,
      unit: 'clusters',
      digits: 0,
      target: { below: 1 },
    },
  ]
}

function startWorker(world: WorldName): ChildProcess {
  return fork(import.meta.filename, ['worker', world], {
    execArgv: ['--expose-gc'],
    stdio: 'inherit',
  })
}

/**
 * Runs a seed in a worker. A worker that does not respond is killed, and its seed counts as failed.
 */
function ask(worker: ChildProcess, seed: number): Promise<SeedVerdict> {
  return new Promise((resolve) => {
    const fail = (fault: string): void => {
      worker.kill('SIGKILL')
      settle({
        seed,
        faults: [fault],
        digest: '',
        steps: 0,
        virtualMs: 0,
        writes: 0,
        readings: 0,
        events: 0,
        trail: [],
      })
    }
    const settle = (found: SeedVerdict): void => {
      clearTimeout(timer)
      worker.off('exit', onExit)
      worker.off('message', settle)
      resolve(found)
    }
    const onExit = (code: number | null): void => fail(`the worker exited with code ${code}`)
    const timer = setTimeout(
      () => fail(`not finished after ${SEED_MS_MAX} ms of real time`),
      SEED_MS_MAX,
    )
    worker.on('exit', onExit)
    worker.on('message', settle)
    worker.send(seed)
  })
}

function serveAsWorker(world: WorldName): void {
  process.on('message', (seed: number) => {
    void simulateSeed(seed, { world }).then((verdict) => process.send?.({ ...verdict, trail: [] }))
  })
}

function report({ seed, faults }: SeedVerdict, world: WorldName): void {
  if (faults.length === 0) return
  console.log(`FAIL seed ${seed}`)
  for (const fault of faults) console.log(`     ${fault}`)
  const named = world === 'storage' ? '' : ` --world ${world}`
  console.log(`     repeat: npm run simulate -- --seed ${seed}${named}`)
}

function summarize(verdicts: readonly SeedVerdict[], tookMs: number): void {
  const sum = (of: (verdict: SeedVerdict) => number): number =>
    verdicts.reduce((all, verdict) => all + of(verdict), 0)
  const hash = createHash('sha256')
  for (const { digest } of verdicts.toSorted((a, b) => a.seed - b.seed)) hash.update(digest)
  console.log(
    `${verdicts.length} seeds in ${(tookMs / 1000).toFixed(0)} s: ${sum(({ writes }) => writes)} writes, ` +
      `${sum(({ readings }) => readings)} reads, ${sum(({ events }) => events)} events, ` +
      `${(sum(({ virtualMs }) => virtualMs) / 3_600_000).toFixed(1)} virtual hours; trace ${hash.digest('hex').slice(0, 16)}`,
  )
}

function finish(passed: number, failed: number): void {
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

function whole(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0)
    throw new Error(`--${name} is not an integer: ${text}`)
  return value
}

function worldOf(text: string): WorldName {
  const world = worldNames.find((one) => one === text)
  if (world === undefined)
    throw new Error(`--world ${text} does not exist; the values are ${worldNames.join(', ')}`)
  return world
}

if (process.argv[2] === 'worker') serveAsWorker(worldOf(process.argv[3] ?? ''))
else await main()

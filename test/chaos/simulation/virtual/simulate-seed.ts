/** Runs the simulation of one seed with real time blocked, and returns its faults. */
import { GarbageSimulation } from './garbage-simulation.ts'
import { guardRealTime } from './real-time-guard.ts'
import { RestoreSimulation } from './restore-simulation.ts'
import { ClusterSimulation } from './cluster-simulation.ts'
import { realTurn, type VirtualTime } from './virtual-time.ts'

/** Limits of virtual time and of steps. A run that reaches them is in an endless loop. */
const MS_MAX = 30 * 60_000
const STEPS_MAX = 400_000
const limits = { msMax: MS_MAX, stepsMax: STEPS_MAX }
/** Maximum number of faults that are shown. Further faults are most likely repetitions. */
const FAULTS_SHOWN_MAX = 8
/**
 * Only one in this many seeds is checked for leaked watchers, because collecting garbage takes
 * longer than the simulation.
 */
const COLLECT_EVERY = 4

export type SeedVerdict = {
  readonly seed: number
  readonly faults: readonly string[]
  /** Hash of all lines of the trace. It is the same in every run of the seed. */
  readonly digest: string
  readonly steps: number
  readonly virtualMs: number
  readonly writes: number
  readonly readings: number
  readonly events: number
  readonly trail: readonly string[]
}

/**
 * Names of the simulations: the storage and its clients, the garbage collector on two replicas, and
 * one process whose database is restored.
 */
export const worldNames = ['storage', 'garbage', 'restore'] as const

export type WorldName = (typeof worldNames)[number]

export type SeedOptions = {
  readonly world?: WorldName
  /** Called with every line of the trace. */
  readonly onLine?: ((line: string) => void) | undefined
}

/** A simulation in virtual time. */
type VirtualSimulation = {
  readonly time: VirtualTime
  /** Runs the simulation and returns all faults. */
  readonly run: () => Promise<string[]>
  readonly truth?: ClusterSimulation['truth']
}

export async function simulateSeed(
  seed: number,
  { world: name = 'storage', onLine }: SeedOptions = {},
): Promise<SeedVerdict> {
  const faults: string[] = []
  const onRejection = (error: unknown): void =>
    void faults.push(`unhandled rejection: ${describe(error)}`)
  process.on('unhandledRejection', onRejection)
  using guard = guardRealTime((what) => faults.push(what))
  void guard
  const world = createWorld(name, seed, onLine)
  const { time, truth } = world
  try {
    faults.push(...(await time.run(world.run(), limits)))
    if (world instanceof ClusterSimulation) faults.push(...(await endOf(world, seed)))
  } catch (error) {
    faults.push(`the run broke: ${describe(error)}`)
  } finally {
    process.off('unhandledRejection', onRejection)
  }
  const hidden = faults.length - FAULTS_SHOWN_MAX
  return {
    seed,
    faults: hidden > 0 ? [...faults.slice(0, FAULTS_SHOWN_MAX), `and ${hidden} more`] : faults,
    digest: time.digest(),
    steps: time.steps,
    virtualMs: Math.round(time.nowMs),
    writes: truth?.model.writes.length ?? 0,
    readings: truth?.model.readings.length ?? 0,
    events: truth?.replays.reduce((sum, replay) => sum + replay.events, 0) ?? 0,
    trail: time.trail,
  }
}

function createWorld(
  name: WorldName,
  seed: number,
  onLine: SeedOptions['onLine'],
): VirtualSimulation {
  if (name === 'garbage') return new GarbageSimulation(seed, onLine)
  return name === 'restore'
    ? new RestoreSimulation(seed, onLine)
    : new ClusterSimulation(seed, onLine)
}

async function endOf(world: ClusterSimulation, seed: number): Promise<string[]> {
  await realTurn()
  const leaks = seed % COLLECT_EVERY === 0 ? held(world) : []
  return [...leaks, ...(await world.time.run(world.end(), limits))]
}

/**
 * Returns a leak if closed watchers are still reachable while their cache is in use. One of them is
 * ignored, because the stack may still refer to it.
 */
function held({ clients }: ClusterSimulation): string[] {
  if (globalThis.gc === undefined) return []
  globalThis.gc()
  const left = clients.closed.filter((watcher) => watcher.deref() !== undefined).length
  return left > 1
    ? [`leak: ${left} of ${clients.closed.length} closed watchers are still reachable`]
    : []
}

const describe = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error)

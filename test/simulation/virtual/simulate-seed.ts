/** Runs the world of one seed, with real time taken away, and says what was wrong. */
import { guardRealTime } from './real-time-guard.ts'
import { SimWorld } from './sim-world.ts'
import { realTurn } from './virtual-time.ts'

/** No run comes near this; one that does goes round in circles. */
const MS_MAX = 30 * 60_000
const STEPS_MAX = 100_000
/** Each fault beyond these is most likely one of these again. */
const FAULTS_SHOWN_MAX = 8
/** Collecting garbage takes longer than the run: one seed of so many looks for watchers that are held. */
const COLLECT_EVERY = 4

export type SeedVerdict = {
  readonly seed: number
  readonly faults: readonly string[]
  /** Of everything that happened, in order. */
  readonly digest: string
  readonly steps: number
  readonly virtualMs: number
  readonly writes: number
  readonly readings: number
  readonly events: number
  readonly trail: readonly string[]
}

/** `onLine` is told every line of the trace. */
export async function simulateSeed(seed: number, onLine?: (line: string) => void): Promise<SeedVerdict> {
  const faults: string[] = []
  const onRejection = (error: unknown): void => void faults.push(`nobody handled: ${describe(error)}`)
  process.on('unhandledRejection', onRejection)
  using guard = guardRealTime((what) => faults.push(what))
  void guard
  const world = new SimWorld(seed, onLine)
  const { time, truth } = world
  const limits = { msMax: MS_MAX, stepsMax: STEPS_MAX }
  try {
    faults.push(...(await time.run(world.run(), limits)))
    await realTurn()
    if (seed % COLLECT_EVERY === 0) faults.push(...held(world))
    faults.push(...(await time.run(world.end(), limits)))
  } catch (error) {
    faults.push(`the run broke: ${describe(error)}`)
  } finally {
    process.off('unhandledRejection', onRejection)
  }
  const hidden = faults.length - FAULTS_SHOWN_MAX
  const { writes, readings } = truth.model
  return {
    seed,
    faults: hidden > 0 ? [...faults.slice(0, FAULTS_SHOWN_MAX), `and ${hidden} more`] : faults,
    digest: time.digest(),
    steps: time.steps,
    virtualMs: Math.round(time.nowMs),
    writes: writes.length,
    readings: readings.length,
    events: truth.replays.reduce((sum, replay) => sum + replay.events, 0),
    trail: time.trail,
  }
}

/** Watches that are over while their cache goes on. The last one may still be on the stack. */
function held({ clients }: SimWorld): string[] {
  if (globalThis.gc === undefined) return []
  globalThis.gc()
  const left = clients.closed.filter((watcher) => watcher.deref() !== undefined).length
  return left > 1 ? [`leak: ${left} of ${clients.closed.length} closed watchers are held`] : []
}

const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))

/**
 * Runs a scenario: starts the load, injects faults, waits for the recovery, and checks the results.
 */
import { findLeaks, measureFootprint } from '../../support/harness/leaks.ts'
import { Random } from './random.ts'
import { startWorld, type Simulation } from './simulation.ts'

/**
 * Maximum growth of memory during a run. Compiled code, pools, and caches of Node.js cause some
 * growth.
 */
const MEMORY_BYTES_MAX = 24 * 1024 * 1024
/** Maximum number of faults that are shown. Further faults are most likely repetitions. */
const FAULTS_SHOWN_MAX = 10

export type Scenario = {
  readonly name: string
  readonly members: number
  readonly replicas: number
  readonly etcdArgs?: readonly string[]
  /**
   * Injects one fault. This function is called repeatedly while the load is running. The fault must
   * be repaired when the function returns.
   */
  readonly disturb: (world: Simulation, random: Random) => Promise<void>
}

export type Verdict = { readonly faults: readonly string[]; readonly figures: string }

export async function runScenario(
  scenario: Scenario,
  run: { seed: number; seconds: number },
): Promise<Verdict> {
  const before = measureFootprint()
  const verdict = await runWorld(scenario, run)
  const leaks = await findLeaks(before, { memoryBytesMax: MEMORY_BYTES_MAX })
  const faults = [...verdict.faults, ...leaks.map((leak) => `leak: ${leak}`)]
  const hidden = faults.length - FAULTS_SHOWN_MAX
  const shown = hidden > 0 ? [...faults.slice(0, FAULTS_SHOWN_MAX), `and ${hidden} more`] : faults
  return { faults: shown, figures: verdict.figures }
}

async function runWorld(
  scenario: Scenario,
  { seed, seconds }: { seed: number; seconds: number },
): Promise<Verdict> {
  const random = new Random(seed).fork(scenario.name)
  const { members, replicas, etcdArgs = [] } = scenario
  await using world = await startWorld({ members, replicas, etcdArgs, random })
  const until = performance.now() + seconds * 1000
  world.load.start()
  let disturbances = 0
  do {
    await scenario.disturb(world, random)
    disturbances++
  } while (performance.now() < until)
  await world.recover()
  const faults = await world.judge()
  return { faults, figures: `${disturbances} disturbances, ${world.figures}` }
}

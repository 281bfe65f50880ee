/**
 * Injects the faults of the storage simulation. Each function in this file injects one fault, and
 * repairs it before it returns.
 */
import { sleep } from '../../../../src/lib/time/timers.ts'
import type { Snapshot } from '../../../../src/storage/memory/database.ts'
import type { Random } from '../random.ts'
import type { EngineCondition } from './faulty-engine.ts'
import type { FaultName } from './settings.ts'
import type { SimReplica } from './sim-replica.ts'
import type { ClusterSimulation } from './cluster-simulation.ts'

/**
 * Maximum duration of a fault in ms. It is long enough for a replica to replace a watch stream that
 * sends nothing.
 */
const LONG_MS = 12_000

type Disturb = (world: ClusterSimulation, random: Random) => Promise<void>

/** Faults by name. To add a fault, add its name in settings.ts and its function here. */
export const disturbances: Readonly<Record<FaultName, Disturb>> = {
  cut: async ({ replicas }, random) => random.pick(replicas).engine.cut(),
  hang: (world, random) =>
    weather(world, random, { replicas: [random.pick(world.replicas)], is: 'hung' }),
  down: (world, random) =>
    weather(world, random, { replicas: [random.pick(world.replicas)], is: 'down' }),
  leaderless: (world, random) =>
    weather(world, random, { replicas: world.replicas, is: 'leaderless' }),
  stale: (world, random) =>
    weather(world, random, { replicas: [random.pick(world.replicas)], is: 'stale' }),
  slow: async ({ time, replicas, settings }, random) => {
    const { engine } = random.pick(replicas)
    engine.latencyMs = settings.latencyMs * random.between(5, 30)
    await sleep(time, random.next() * LONG_MS)
    engine.latencyMs = settings.latencyMs
  },
  compact: async (world, random) => compact(world, random.between(0, 40)),
  gap: async (world, random) => {
    const replica = random.pick(world.replicas)
    for (let gaps = random.between(1, 3); gaps > 0; gaps--) await gap(world, replica, random)
  },
  restore: (world, random) => restore(world, random),
}

/**
 * Compacts the history while a replica is disconnected. Afterwards the replica reconnects and has a
 * short time to recover before the next fault.
 */
async function gap(
  world: ClusterSimulation,
  { engine }: SimReplica,
  random: Random,
): Promise<void> {
  const { revision } = world.engine.stats()
  engine.weather = random.chance(0.8) ? 'down' : 'hung'
  for (let i = 0; i < 20 && world.engine.stats().revision < revision + 5; i++)
    await sleep(world.time, 100)
  engine.cut()
  compact(world, random.between(0, 3))
  await sleep(world.time, random.next() * 100)
  engine.weather = 'well'
  await sleep(world.time, random.next() * 400)
}

async function weather(
  { time }: ClusterSimulation,
  random: Random,
  { replicas, is }: { readonly replicas: readonly SimReplica[]; readonly is: EngineCondition },
): Promise<void> {
  for (const { engine } of replicas) engine.weather = is
  await sleep(time, random.next() * (random.chance(0.6) ? 500 : LONG_MS))
  for (const { engine } of replicas) engine.weather = 'well'
}

/** Compacts the history, except for the last `kept` revisions. */
function compact({ engine, time }: ClusterSimulation, kept: number): void {
  const revision = engine.stats().revision - kept
  try {
    engine.compact(revision)
    time.note(`compacted to ${revision}`)
  } catch {
    // The compaction failed because a later revision has already been compacted.
  }
}

/**
 * Restores the database to an earlier state. Replicas recognize a restore because the revision of
 * the database is lower than before. Clients must not write until each replica has recognized the
 * restore, because writes could raise the revision above its earlier value. In real clusters,
 * operators stop the servers before a restore for the same reason.
 */
async function restore(world: ClusterSimulation, random: Random): Promise<void> {
  const { engine, replicas, clients, truth, time } = world
  const snapshot: Snapshot = engine.snapshot()
  await sleep(time, random.next() * 3_000)
  const release = clients.hold()
  await clients.stopWatching()
  for (const replica of replicas) replica.engine.die()
  await sleep(time, random.next() * 200)
  engine.restore(snapshot)
  truth.restore(snapshot.revision)
  world.ports.restored()
  world.quota.restored()
  world.definitions.restored(snapshot)
  time.note(`restored to ${snapshot.revision}`)
  await sleep(time, random.next() * 2_000)
  for (const replica of replicas) replica.engine.weather = 'well'
  await Promise.all(replicas.map((replica) => world.noticed(replica)))
  clients.startWatching()
  release()
}

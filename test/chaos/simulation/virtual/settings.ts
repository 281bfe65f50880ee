/**
 * Chooses the settings of one seed. Each seed has only some kinds of faults and a single pace. With
 * all faults in every seed, problems that only some faults cause would stay hidden.
 */
import type { Random } from '../random.ts'

export const faultNames = [
  'cut',
  'hang',
  'down',
  'leaderless',
  'stale',
  'slow',
  'compact',
  'gap',
  'restore',
] as const

export type FaultName = (typeof faultNames)[number]

export type Settings = {
  readonly seconds: number
  readonly latencyMs: number
  readonly thinkMs: number
  readonly cutShare: number
  readonly faults: readonly FaultName[]
  /** Maximum time between two faults. */
  readonly calmMs: number
  /** Size in bytes of the buffer of recent events. 0 means the server's default. */
  readonly pastBytes: number
  readonly unusedMs: number
  /** Number of clients per replica that read long lists in pages. */
  readonly pagers: number
  /**
   * Number of clients per replica that read the first page of a list with a slow filter. They
   * accept any state of the cache, even an old one.
   */
  readonly skimmers: number
}

export function chooseSettings(random: Random): Settings {
  const faults = faultNames.filter((name) => random.chance(name === 'gap' ? 0.6 : 0.35))
  const settings: Settings = {
    seconds: random.between(6, 20),
    latencyMs: random.pick([0.5, 3, 15]),
    thinkMs: random.pick([100, 300, 800]),
    cutShare: random.pick([0, 0, 0.02, 0.1]),
    faults: faults.length > 0 ? faults : ['cut'],
    calmMs: random.pick([50, 400, 1_500]),
    pastBytes: random.pick([0, 3_000, 20_000]),
    unusedMs: random.pick([0, 0, 1_000]),
    pagers: random.pick([1, 1, 4]),
    skimmers: 0,
  }
  // In some runs, a single kind of fault makes replicas reload their resources all the time.
  // Meanwhile, clients read the old state of these resources.
  if (!random.chance(0.25)) return settings
  return { ...settings, faults: ['gap'], calmMs: 50, thinkMs: 100, pagers: 1, skimmers: 1 }
}

/**
 * What one seed's world is like. Each seed has some faults and not others, some pace and not
 * another: a mixture of everything all the time would hide what only some of it shows.
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
  /** Between two faults, at the most. */
  readonly calmMs: number
  /** 0: as the server has it. */
  readonly pastBytes: number
  readonly unusedMs: number
  /** Clients of each replica that go through long lists. */
  readonly pagers: number
  /** And those that look only at their first pages, whatever is there, which takes them long. */
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
  // Some worlds list themselves again all the time, while others look at what they had.
  if (!random.chance(0.25)) return settings
  return { ...settings, faults: ['gap'], calmMs: 50, thinkMs: 100, pagers: 1, skimmers: 1 }
}

/**
 * Chooses the scenarios that CI replays on releases other than 1.33: all that differ from 1.33, and
 * a sample of the others.
 */
import { createHash } from 'node:crypto'
import type { ReleaseRecordings } from './release-recordings.ts'
import type { FiledScenario } from './scenarios.ts'

export type Sample = {
  /** Number of scenarios without changes from which, on average, one is chosen. */
  readonly oneOf: number
  readonly seed: number
}

export function chooseSample(
  scenarios: readonly FiledScenario[],
  recordings: Pick<ReleaseRecordings, 'changesOf'>,
  { oneOf, seed }: Sample,
): FiledScenario[] {
  return scenarios.filter((scenario) => {
    const recorded = recordings.changesOf(scenario)
    if (recorded === undefined) return false
    return recorded.changes.length > 0 || numberOf(`${seed} ${scenario.id}`) % oneOf === 0
  })
}

/** Returns a number that depends on all characters of the text. */
const numberOf = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE()

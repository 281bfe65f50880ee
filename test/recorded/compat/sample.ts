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

/**
 * A set-up needs a server of its own, so it is not started for single scenarios without changes. If
 * no scenario of a set-up differs, either all of its scenarios are chosen or none.
 */
export function chooseSample(
  scenarios: readonly FiledScenario[],
  recordings: Pick<ReleaseRecordings, 'changesOf'>,
  { oneOf, seed }: Sample,
): FiledScenario[] {
  const isChosen = (name: string): boolean => numberOf(`${seed} ${name}`) % oneOf === 0
  const recorded = scenarios.flatMap((scenario) => {
    const differences = recordings.changesOf(scenario)
    return differences === undefined ? [] : { scenario, differs: differences.changes.length > 0 }
  })
  const started = new Set(
    recorded.flatMap(({ scenario, differs }) => (differs ? [scenario.needs] : [])),
  )
  return recorded.flatMap(({ scenario, differs }) => {
    const { id, needs } = scenario
    const group = needs === undefined || started.has(needs) ? id : `set-up ${needs}`
    return differs || isChosen(group) ? [scenario] : []
  })
}

/** Returns a number that depends on all characters of the text. */
const numberOf = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE()

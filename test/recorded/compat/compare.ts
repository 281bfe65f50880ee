/** Compares the responses of a server with those of kube-apiserver. */
import { diff, sortManagedFields, withoutFields } from './diff.ts'
import type { Json } from './json.ts'
import type { RecordedStep } from './recorded.ts'
import type { FiledScenario } from './scenarios.ts'

export type StepDifference = { readonly step: string; readonly differences: readonly string[] }

type NamedScenario = {
  readonly id: string
  readonly file: string
  readonly section?: string | undefined
}

export type Outcome = NamedScenario &
  (
    | { readonly outcome: 'no recording' }
    | { readonly outcome: 'same'; readonly steps: number }
    | {
        readonly outcome: 'differs'
        readonly steps: number
        readonly bad: readonly StepDifference[]
      }
  )

/**
 * Compares a scenario with its recording. `without` contains names of fields that are removed at
 * any depth.
 */
export function compareScenario(
  scenario: FiledScenario,
  want: readonly RecordedStep[] | undefined,
  got: readonly RecordedStep[],
  without: readonly string[],
): Outcome {
  const named = { id: scenario.id, file: scenario.file, section: scenario.section }
  if (want === undefined) return { ...named, outcome: 'no recording' }
  const comparable = (step: RecordedStep | undefined): Json => {
    const { step: _, ...answer } = step ?? {}
    return withoutFields(scenario.times ? answer : sortManagedFields(answer), without)
  }
  const bad = want
    .map((step, index) => ({
      step: step.step,
      differences: diff(comparable(step), comparable(got[index])),
    }))
    .filter(({ differences }) => differences.length > 0)
  const steps = want.length
  return bad.length === 0
    ? { ...named, outcome: 'same', steps }
    : { ...named, outcome: 'differs', steps, bad }
}

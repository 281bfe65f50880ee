/**
 * The kinds of this group that have rules of their own, by the kind as errors name it (and version,
 * where it matters).
 */
import type { KindRules } from '../../kind-rules.ts'
import { podDisruptionBudgetRules } from './pod-disruption-budget.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['PodDisruptionBudget.policy', podDisruptionBudgetRules],
]

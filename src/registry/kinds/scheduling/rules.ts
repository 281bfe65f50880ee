/**
 * The kinds of this group that have rules of their own, by the kind as errors name it (and version,
 * where it matters).
 */
import type { KindRules } from '../../kind-rules.ts'
import { priorityClassRules } from './priority-class.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['PriorityClass.scheduling.k8s.io', priorityClassRules],
]

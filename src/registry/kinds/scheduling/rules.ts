/**
 * Rules of the kinds in this API group. Each key is a kind in the form used in error messages, such
 * as `Deployment.apps`. A version follows the kind if the rules differ between versions.
 */
import type { KindRules } from '../../kind-rules.ts'
import { priorityClassRules } from './priority-class.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['PriorityClass.scheduling.k8s.io', priorityClassRules],
]

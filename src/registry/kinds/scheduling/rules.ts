/**
 * Rules of the kinds in this API group. Each key is a kind in the form used in error messages, such
 * as `Deployment.apps`. If the rules differ between API versions, the key ends with the version.
 */
import type { KindRules } from '../../kind-rules.ts'
import { priorityClassRules } from './priority-class.ts'
import { workloadRules } from './workload.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['PriorityClass.scheduling.k8s.io', priorityClassRules],
  ['Workload.scheduling.k8s.io v1alpha1', workloadRules],
]

/**
 * Rules of the kinds in this API group. Each key is a kind in the form used in error messages, such
 * as `Deployment.apps`. If the rules differ between API versions, the key ends with the version.
 */
import type { KindRules } from '../../kind-rules.ts'
import { flowSchemaRules } from './flow-schema.ts'
import { priorityLevelRules } from './priority-level.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['FlowSchema.flowcontrol.apiserver.k8s.io', flowSchemaRules],
  ['PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io', priorityLevelRules],
]

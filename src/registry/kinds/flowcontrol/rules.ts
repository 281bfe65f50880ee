/**
 * Rules of the kinds in this group. The key is the kind as errors show it, followed by a version if
 * the rules depend on it.
 */
import type { KindRules } from '../../kind-rules.ts'
import { flowSchemaRules } from './flow-schema.ts'
import { priorityLevelRules } from './priority-level.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['FlowSchema.flowcontrol.apiserver.k8s.io', flowSchemaRules],
  ['PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io', priorityLevelRules],
]

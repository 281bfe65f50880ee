/**
 * The kinds of this group that have rules of their own, by the kind as errors name it (and version,
 * where it matters).
 */
import type { KindRules } from '../../kind-rules.ts'
import { flowSchemaRules } from './flow-schema.ts'
import { priorityLevelRules } from './priority-level.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['FlowSchema.flowcontrol.apiserver.k8s.io', flowSchemaRules],
  ['PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io', priorityLevelRules],
]

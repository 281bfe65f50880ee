/**
 * Rules of the kinds in this group. The key is the kind as errors show it, followed by a version if
 * the rules depend on it.
 */
import type { KindRules } from '../../kind-rules.ts'
import { runtimeClassRules } from './runtime-class.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['RuntimeClass.node.k8s.io', runtimeClassRules],
]

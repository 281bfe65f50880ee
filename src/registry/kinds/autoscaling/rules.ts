/**
 * Rules of the kinds in this group. The key is the kind as errors show it, followed by a version if
 * the rules depend on it.
 */
import type { KindRules } from '../../kind-rules.ts'
import { autoscalerV1Rules, autoscalerV2Rules } from './horizontal-pod-autoscaler.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['HorizontalPodAutoscaler.autoscaling v1', autoscalerV1Rules],
  ['HorizontalPodAutoscaler.autoscaling v2', autoscalerV2Rules],
]

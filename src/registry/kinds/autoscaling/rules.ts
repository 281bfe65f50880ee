/**
 * The kinds of this group that have rules of their own, by the kind as errors name it (and version,
 * where it matters).
 */
import type { KindRules } from '../../kind-rules.ts'
import { autoscalerV1Rules, autoscalerV2Rules } from './horizontal-pod-autoscaler.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['HorizontalPodAutoscaler.autoscaling v1', autoscalerV1Rules],
  ['HorizontalPodAutoscaler.autoscaling v2', autoscalerV2Rules],
]

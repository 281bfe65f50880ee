/**
 * Rules of the kinds in this API group. Each key is a kind in the form used in error messages, such
 * as `Deployment.apps`. A version follows the kind if the rules differ between versions.
 */
import type { KindRules } from '../../kind-rules.ts'
import { autoscalerV1Rules, autoscalerV2Rules } from './horizontal-pod-autoscaler.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['HorizontalPodAutoscaler.autoscaling v1', autoscalerV1Rules],
  ['HorizontalPodAutoscaler.autoscaling v2', autoscalerV2Rules],
]

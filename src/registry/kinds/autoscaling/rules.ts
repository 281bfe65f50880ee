/**
 * Rules of the kinds in this API group. Each key is a kind in the form used in error messages, such
 * as `Deployment.apps`. If the rules differ between API versions, the key ends with the version.
 */
import type { KindRules } from '../../kind-rules.ts'
import { autoscalerV1Rules, autoscalerV2Rules } from './horizontal-pod-autoscaler.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['HorizontalPodAutoscaler.autoscaling v1', autoscalerV1Rules],
  ['HorizontalPodAutoscaler.autoscaling v2', autoscalerV2Rules],
]

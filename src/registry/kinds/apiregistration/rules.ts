/**
 * Rules of the kinds in this API group. Each key is a kind in the form used in error messages, such
 * as `Deployment.apps`. If the rules differ between API versions, the key ends with the version.
 */
import type { KindRules } from '../../kind-rules.ts'
import { apiServiceRules } from './api-service.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['APIService.apiregistration.k8s.io', apiServiceRules],
]

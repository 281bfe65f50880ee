/**
 * Rules of the kinds in this API group. Each key is a kind in the form used in error messages, such
 * as `DeviceClass.resource.k8s.io`, followed by a version.
 */
import type { KindRules } from '../../kind-rules.ts'
import { deviceClassRules } from './device-class.ts'
import { resourceClaimRules, resourceClaimTemplateRules } from './resource-claim.ts'
import { olderSliceRules, resourceSliceRules } from './resource-slice.ts'
import { deviceTaintRuleRules } from './taints.ts'
import { inVersion, isNew, type ResourceGroupVersion } from './versions.ts'

const versions: readonly ResourceGroupVersion[] = ['v1', 'v1alpha3', 'v1beta1', 'v1beta2']

const kinds = (version: ResourceGroupVersion): readonly (readonly [string, KindRules])[] => [
  ['DeviceClass', deviceClassRules],
  ['ResourceClaim', resourceClaimRules],
  ['ResourceClaimTemplate', resourceClaimTemplateRules],
  ['ResourceSlice', isNew(version) ? resourceSliceRules : olderSliceRules],
]

export const rules: readonly (readonly [string, KindRules])[] = [
  // All versions of DeviceTaintRule have the same fields.
  ['DeviceTaintRule.resource.k8s.io', deviceTaintRuleRules],
  ...versions.flatMap((version) =>
    kinds(version).map(
      ([kind, own]) => [`${kind}.resource.k8s.io ${version}`, inVersion(own, version)] as const,
    ),
  ),
]

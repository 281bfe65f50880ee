/**
 * The order in which discovery lists groups and versions. By default, clients use the first version
 * of a group.
 */

/** Priorities of groups, as in kube-apiserver. Groups with higher priorities come first. */
const groupPriorities: { readonly [group: string]: number } = {
  '': 18_000,
  'apiregistration.k8s.io': 18_000,
  apps: 17_800,
  'events.k8s.io': 17_750,
  'authentication.k8s.io': 17_700,
  'authorization.k8s.io': 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  'certificates.k8s.io': 17_300,
  'networking.k8s.io': 17_200,
  policy: 17_100,
  'rbac.authorization.k8s.io': 17_000,
  'storage.k8s.io': 16_800,
  'admissionregistration.k8s.io': 16_700,
  'apiextensions.k8s.io': 16_700,
  'scheduling.k8s.io': 16_600,
  'coordination.k8s.io': 16_500,
  'node.k8s.io': 16_300,
  'discovery.k8s.io': 16_200,
  'resource.k8s.io': 16_200,
  'flowcontrol.apiserver.k8s.io': 16_100,
  'internal.apiserver.k8s.io': 16_000,
  'storagemigration.k8s.io': 15_800,
}
/** Priority of the groups of custom resources. */
const CUSTOM_PRIORITY = 1000

export const groupPriority = (group: string): number => groupPriorities[group] ?? CUSTOM_PRIORITY

/** Versions whose priority does not follow from their stability. */
const versionPriorities: { readonly [groupVersion: string]: number } = {
  '/v1': 1,
  'admissionregistration.k8s.io/v1beta1': 12,
  'admissionregistration.k8s.io/v1alpha1': 9,
  'autoscaling/v2': 30,
  'coordination.k8s.io/v1beta1': 13,
  'coordination.k8s.io/v1alpha2': 12,
  'flowcontrol.apiserver.k8s.io/v1': 21,
  'internal.apiserver.k8s.io/v1alpha1': 9,
  'resource.k8s.io/v1beta2': 15,
  'storagemigration.k8s.io/v1alpha1': 9,
}

/** Returns the versionPriority for an APIService. */
export function versionPriority(group: string, version: string): number {
  const own = versionPriorities[`${group}/${version}`]
  if (own !== undefined) return own
  if (version.includes('alpha')) return 1
  return version.includes('beta') ? 9 : 15
}

/**
 * Compares versions. Stable versions come first, then beta, alpha, and all others. Versions of
 * equal stability are sorted by number, highest first.
 */
export function compareVersions(one: string, other: string): number {
  const a = rankVersion(one)
  const b = rankVersion(other)
  return b.stage - a.stage || b.major - a.major || b.minor - a.minor || compareText(one, other)
}

const stages: { readonly [stage: string]: number } = { alpha: 1, beta: 2, '': 3 }

function rankVersion(version: string): { stage: number; major: number; minor: number } {
  const match = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version)
  if (match === null) return { stage: 0, major: 0, minor: 0 }
  const [, major = '', stage = '', minor = '0'] = match
  return { stage: stages[stage] ?? 0, major: Number(major), minor: Number(minor) }
}

const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

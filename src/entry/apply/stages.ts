/** The order in which objects are applied: an object comes after the objects that it needs. */
import { groupKindOf } from './object-names.ts'
import type { Manifest } from './parse-manifests.ts'

const CRDS = 'CustomResourceDefinition.apiextensions.k8s.io'

/** The kinds of each stage. Kinds that are not in the list belong to the `others` stage. */
const kinds: Readonly<Record<string, string>> = {
  definitions: `Namespace ${CRDS}`,
  accounts: 'ServiceAccount',
  roles: 'ClusterRole.rbac.authorization.k8s.io Role.rbac.authorization.k8s.io',
  bindings: 'ClusterRoleBinding.rbac.authorization.k8s.io RoleBinding.rbac.authorization.k8s.io',
  configuration: `ConfigMap Secret ResourceQuota LimitRange PersistentVolume PersistentVolumeClaim
    PriorityClass.scheduling.k8s.io RuntimeClass.node.k8s.io StorageClass.storage.k8s.io
    IngressClass.networking.k8s.io`,
  others: '',
  // Webhook configurations and policies come last, because they may reject other objects, for
  // example if a webhook is not running yet.
  admission: `MutatingWebhookConfiguration.admissionregistration.k8s.io
    ValidatingWebhookConfiguration.admissionregistration.k8s.io
    MutatingAdmissionPolicy.admissionregistration.k8s.io
    MutatingAdmissionPolicyBinding.admissionregistration.k8s.io
    ValidatingAdmissionPolicy.admissionregistration.k8s.io
    ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io`,
}

const names = Object.keys(kinds)
const others = names.indexOf('others')
const stageOfKind = new Map(
  Object.values(kinds).flatMap((list, stage) =>
    list.split(/\s+/).map((kind) => [kind, stage] as const),
  ),
)

export const isDefinition = ({ object }: Manifest): boolean => groupKindOf(object) === CRDS

/**
 * Returns the number of the stage in which a kind is applied. `groupKind` is, for example,
 * `Deployment.apps`.
 */
export const stageOf = (groupKind: string): number => stageOfKind.get(groupKind) ?? others

/** Divides manifests into stages. The manifests of a stage keep their order. */
export function stagesOf<T extends Manifest>(manifests: readonly T[]): readonly (readonly T[])[] {
  const stages: T[][] = names.map(() => [])
  for (const manifest of manifests) stages[stageOf(groupKindOf(manifest.object))]?.push(manifest)
  return stages.filter((stage) => stage.length > 0)
}

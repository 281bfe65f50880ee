/**
 * How the built-in kinds differ in what all kinds have: names, generation, what an update may do, what a delete answers. A
 * kind that stands in no list behaves like most. Kinds are named as in errors: `Deployment.apps`, `Pod`.
 */
import { checkDnsLabel, checkDnsSubdomain, checkDns1035Label, checkPathSegment } from '../api/names.ts'
import type { Equality } from '../schema/equal.ts'
import type { MetadataRules, UpdateCheck } from './resource.ts'
import { checkCanonicalIp } from './rules/addresses.ts'

const names = (text: string): string[] => text.trim().split(/\s+/)
const list = (text: string): ReadonlySet<string> => new Set(names(text))

const labelNames = list('Namespace StatefulSet.apps')
const dns1035Names = list('Service')
/** Nothing but what a path needs, which `pathNames` say themselves. */
const pathNames = list(`
  ClusterRole.rbac.authorization.k8s.io ClusterRoleBinding.rbac.authorization.k8s.io Role.rbac.authorization.k8s.io
  RoleBinding.rbac.authorization.k8s.io`)
const freeNames = list(`
  CertificateSigningRequest.certificates.k8s.io ClusterTrustBundle.certificates.k8s.io PodDisruptionBudget.policy
  APIService.apiregistration.k8s.io CustomResourceDefinition.apiextensions.k8s.io Event`)
const ipNames = list('IPAddress.networking.k8s.io')

export function nameRuleOf(kind: string): (name: string) => string[] {
  if (labelNames.has(kind)) return checkDnsLabel
  if (dns1035Names.has(kind)) return checkDns1035Label
  if (freeNames.has(kind)) return () => []
  if (pathNames.has(kind)) return checkPathSegment
  if (ipNames.has(kind)) return checkCanonicalIp
  return checkDnsSubdomain
}

/** Their kind's rules say nothing of metadata. */
const uncheckedMetadata = list('Event PodDisruptionBudget.policy')
const freeFinalizers = list(`
  Lease.coordination.k8s.io MutatingWebhookConfiguration.admissionregistration.k8s.io
  ValidatingAdmissionPolicy.admissionregistration.k8s.io ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io
  ValidatingWebhookConfiguration.admissionregistration.k8s.io CustomResourceDefinition.apiextensions.k8s.io
  APIService.apiregistration.k8s.io RuntimeClass.node.k8s.io`)
/**
 * What an update of a kind checks, in this order, besides what all objects must pass. The recordings meta-by-kind-* show how often
 * each kind looks at metadata.
 */
const updateChecks: ReadonlyMap<string, readonly UpdateCheck[]> = new Map(
  (
    [
      [['rules'], 'Event PodDisruptionBudget.policy'],
      [
        ['metadata', 'rules'],
        `LimitRange EndpointSlice.discovery.k8s.io FlowSchema.flowcontrol.apiserver.k8s.io
        PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io
        MutatingWebhookConfiguration.admissionregistration.k8s.io
        ValidatingAdmissionPolicy.admissionregistration.k8s.io
        ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io
        ValidatingWebhookConfiguration.admissionregistration.k8s.io`,
      ],
      [['metadata', 'metadata', 'rules'], 'PersistentVolume CSINode.storage.k8s.io VolumeAttachment.storage.k8s.io'],
      [
        ['metadata', 'change', 'rules'],
        `Namespace Node ReplicationController DaemonSet.apps ReplicaSet.apps Job.batch
        CertificateSigningRequest.certificates.k8s.io NetworkPolicy.networking.k8s.io RuntimeClass.node.k8s.io
        CSIStorageCapacity.storage.k8s.io StorageClass.storage.k8s.io`,
      ],
      [
        ['change', 'rules', 'metadata'],
        `ConfigMap Endpoints Pod Secret Service ServiceAccount ControllerRevision.apps Ingress.networking.k8s.io
        IngressClass.networking.k8s.io APIService.apiregistration.k8s.io`,
      ],
      [
        ['metadata', 'metadata', 'change', 'rules'],
        `ClusterRole.rbac.authorization.k8s.io ClusterRoleBinding.rbac.authorization.k8s.io
        Role.rbac.authorization.k8s.io RoleBinding.rbac.authorization.k8s.io`,
      ],
      [['metadata', 'change', 'rules', 'metadata'], 'PersistentVolumeClaim'],
    ] as const
  ).flatMap(([checks, kinds]) => names(kinds).map((kind) => [kind, checks] as const)),
)

export const metadataRulesOf = (kind: string): MetadataRules => ({
  isChecked: !uncheckedMetadata.has(kind),
  needsDomains: !freeFinalizers.has(kind),
  updateChecks: updateChecks.get(kind) ?? ['change', 'rules'],
})

/** An update must name the version that it is made from. */
export const conditionalUpdates = list(`
  PodDisruptionBudget.policy RuntimeClass.node.k8s.io CSIDriver.storage.k8s.io CSINode.storage.k8s.io
  CSIStorageCapacity.storage.k8s.io VolumeAttachment.storage.k8s.io Lease.coordination.k8s.io
  LeaseCandidate.coordination.k8s.io ClusterTrustBundle.certificates.k8s.io
  StorageVersion.internal.apiserver.k8s.io StorageVersionMigration.storagemigration.k8s.io
  MutatingWebhookConfiguration.admissionregistration.k8s.io ValidatingAdmissionPolicy.admissionregistration.k8s.io
  ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io
  ValidatingWebhookConfiguration.admissionregistration.k8s.io CustomResourceDefinition.apiextensions.k8s.io
  APIService.apiregistration.k8s.io`)

/** An update of what does not exist creates it. */
export const creatingUpdates = list(`
  ClusterRole.rbac.authorization.k8s.io ClusterRoleBinding.rbac.authorization.k8s.io Role.rbac.authorization.k8s.io
  RoleBinding.rbac.authorization.k8s.io RuntimeClass.node.k8s.io Lease.coordination.k8s.io
  LeaseCandidate.coordination.k8s.io LimitRange Event
  Event.events.k8s.io Service Endpoints`)

/** A delete answers with the object. */
export const returnedWhenDeleted = list(`
  Pod Service Namespace ServiceAccount PersistentVolume PersistentVolumeClaim PodTemplate ResourceQuota
  StorageClass.storage.k8s.io VolumeAttachment.storage.k8s.io CSINode.storage.k8s.io CSIDriver.storage.k8s.io
  VolumeAttributesClass.storage.k8s.io`)

/** A delete that says nothing else leaves dependents alone. */
export const orphaning = list('Job.batch ReplicationController')

/** Their status is taken from whoever creates them. */
export const statusOnCreate = list('Node ServiceCIDR.networking.k8s.io')

/** And from whoever updates them. */
export const statusOnUpdate = list('ServiceCIDR.networking.k8s.io')

/** A write through /status changes nothing but the status. */
export const statusOnly = list(`
  ValidatingAdmissionPolicy.admissionregistration.k8s.io VolumeAttachment.storage.k8s.io
  FlowSchema.flowcontrol.apiserver.k8s.io PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io
  APIService.apiregistration.k8s.io StorageVersion.internal.apiserver.k8s.io
  StorageVersionMigration.storagemigration.k8s.io ServiceCIDR.networking.k8s.io`)

/** Metadata that a write through /status does not change. */
export const keptByStatus: ReadonlyMap<string, readonly string[]> = new Map([
  ['Deployment.apps', ['labels']],
  ['Pod', ['ownerReferences', 'deletionTimestamp']],
])

/** What a path of a kind does not write, and nobody owns through it, besides what all kinds have: by kind and subresource. */
const resets: ReadonlyMap<string, readonly string[]> = new Map([
  ['Pod status', ['spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences']],
  ['Deployment.apps status', ['spec', 'metadata.labels']],
  ['CertificateSigningRequest.certificates.k8s.io ', ['spec', 'status']],
  ['CertificateSigningRequest.certificates.k8s.io status', ['spec', 'status.conditions']],
  ['CertificateSigningRequest.certificates.k8s.io approval', ['spec', 'status.certificate']],
  ['CustomResourceDefinition.apiextensions.k8s.io status', ['spec', 'metadata']],
  ['ServiceCIDR.networking.k8s.io ', []],
  ['ServiceCIDR.networking.k8s.io status', []],
])

/** The paths of fields that a write through a subresource (empty: the object itself) leaves as they are. */
export function resetPathsOf(kind: string, hasStatus: boolean): (subresource: string) => readonly string[] {
  return (subresource) => {
    const own = resets.get(`${kind} ${subresource}`)
    if (own !== undefined) return own
    if (subresource === 'status') return statusOnly.has(kind) ? ['spec', 'metadata'] : ['spec']
    return hasStatus ? ['status'] : []
  }
}

/** By kind, or by kind and version where another version is not. */
export const deprecations: ReadonlyMap<string, string> = new Map([
  ...names('ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding').map((kind): [string, string] => [
    `${kind}.admissionregistration.k8s.io v1beta1`,
    `admissionregistration.k8s.io/v1beta1 ${kind} is deprecated in v1.31+, unavailable in v1.34+`,
  ]),
  [
    'VolumeAttributesClass.storage.k8s.io v1alpha1',
    'storage.k8s.io/v1alpha1 VolumeAttributesClass is deprecated in v1.32+, unavailable in v1.35+',
  ],
  [
    'StorageVersionMigration.storagemigration.k8s.io v1alpha1',
    'storagemigration.k8s.io/v1alpha1 StorageVersionMigration is deprecated in v1.33+, unavailable in v1.36+',
  ],
  ['ComponentStatus', 'v1 ComponentStatus is deprecated in v1.19+'],
  ['Endpoints', 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice'],
])

export type Generation = { readonly fields: readonly string[]; readonly kept?: true; readonly equality?: Equality }

/**
 * Kinds whose generation counts the changes of these fields (`metadata.labels`: of the labels). With `kept` the client sets
 * the first one; otherwise it is 1. `equality` is how upstream compares them.
 */
export const generations: ReadonlyMap<string, Generation> = new Map<string, Generation>([
  ...names(`
    Pod ReplicationController ReplicaSet.apps StatefulSet.apps DaemonSet.apps Job.batch CronJob.batch
    PodDisruptionBudget.policy Ingress.networking.k8s.io IngressClass.networking.k8s.io
    FlowSchema.flowcontrol.apiserver.k8s.io PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io
    CustomResourceDefinition.apiextensions.k8s.io ValidatingAdmissionPolicy.admissionregistration.k8s.io
    ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io`).map((kind): [string, Generation] => [
    kind,
    { fields: ['spec'] },
  ]),
  ['NetworkPolicy.networking.k8s.io', { fields: ['spec'], equality: 'exact' }],
  ['Deployment.apps', { fields: ['spec', 'metadata.annotations'] }],
  ['CSIDriver.storage.k8s.io', { fields: ['spec'], kept: true }],
  ['MutatingWebhookConfiguration.admissionregistration.k8s.io', { fields: ['webhooks'], equality: 'exact' }],
  ['ValidatingWebhookConfiguration.admissionregistration.k8s.io', { fields: ['webhooks'], equality: 'exact' }],
  ['EndpointSlice.discovery.k8s.io', { fields: ['endpoints', 'ports', 'addressType', 'metadata.labels'] }],
  ['PodTemplate', { fields: ['template'] }],
  ['PriorityClass.scheduling.k8s.io', { fields: [] }],
])

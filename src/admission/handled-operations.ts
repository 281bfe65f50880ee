/**
 * For each plugin, the operations and steps (mutating or validating) that it handles, for all
 * resources. A plugin is called only for these. As in kube-apiserver, the metrics count every
 * enabled plugin that handles the operation.
 */

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
export type StepType = 'admit' | 'validate'

type Handled = { readonly operations: readonly Operation[]; readonly steps: readonly StepType[] }

const create: readonly Operation[] = ['CREATE']
const update: readonly Operation[] = ['UPDATE']
const write: readonly Operation[] = ['CREATE', 'UPDATE']
const change: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE']
const writeOrConnect: readonly Operation[] = ['CREATE', 'UPDATE', 'CONNECT']
export const allOperations: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT']
const admit: readonly StepType[] = ['admit']
const validate: readonly StepType[] = ['validate']
const both: readonly StepType[] = ['admit', 'validate']

const rows: readonly (readonly [
  name: string,
  operations: readonly Operation[],
  steps: readonly StepType[],
])[] = [
  ['AlwaysAdmit', allOperations, both],
  ['NamespaceAutoProvision', create, admit],
  ['NamespaceLifecycle', change, admit],
  ['NamespaceExists', change, validate],
  ['LimitPodHardAntiAffinityTopology', write, validate],
  ['LimitRanger', write, both],
  ['ServiceAccount', write, both],
  ['NodeRestriction', change, admit],
  ['TaintNodesByCondition', create, admit],
  ['AlwaysPullImages', write, both],
  ['ImagePolicyWebhook', write, validate],
  ['PodSecurity', write, validate],
  ['PodNodeSelector', create, both],
  ['Priority', change, both],
  ['DefaultTolerationSeconds', write, admit],
  ['PodTolerationRestriction', write, both],
  ['EventRateLimit', write, validate],
  ['ExtendedResourceToleration', write, admit],
  ['DefaultStorageClass', create, admit],
  ['StorageObjectInUseProtection', create, admit],
  ['OwnerReferencesPermissionEnforcement', write, validate],
  ['PersistentVolumeClaimResize', update, validate],
  ['RuntimeClass', create, both],
  ['CertificateApproval', update, validate],
  ['CertificateSigning', update, validate],
  ['ClusterTrustBundleAttest', write, validate],
  ['CertificateSubjectRestriction', create, validate],
  ['DefaultIngressClass', create, admit],
  ['DenyServiceExternalIPs', write, validate],
  ['PodTopologyLabels', create, admit],
  ['NodeDeclaredFeatureValidator', update, validate],
  ['MutatingAdmissionPolicy', writeOrConnect, admit],
  ['MutatingAdmissionWebhook', allOperations, admit],
  ['ValidatingAdmissionPolicy', allOperations, validate],
  ['ValidatingAdmissionWebhook', allOperations, validate],
  ['ResourceQuota', write, validate],
  ['AlwaysDeny', allOperations, both],
]

const table: ReadonlyMap<string, Handled> = new Map(
  rows.map(([name, operations, steps]) => [name, { operations, steps }]),
)

/**
 * Returns whether a plugin handles the operation. Plugins that do not exist in kube-apiserver
 * handle all operations, and the metrics do not include their calls.
 */
export const handles = (name: string, operation: Operation): boolean =>
  table.get(name)?.operations.includes(operation) ?? true

export function isCounted(name: string, operation: Operation, type: StepType): boolean {
  const handled = table.get(name)
  return (
    handled !== undefined && handled.operations.includes(operation) && handled.steps.includes(type)
  )
}

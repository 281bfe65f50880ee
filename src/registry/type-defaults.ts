/**
 * What the server sets in a type wherever that type occurs, besides the defaults that are published with the catalogue. A
 * value is set where the field is absent (or zero, where that is the same).
 */
import { type Fields, fieldsOf, isFields, type Json } from '../api/object.ts'
import type { TypeDefaults } from '../schema/schema.ts'

const RBAC_GROUP = 'rbac.authorization.k8s.io'

const webhook = {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
}

const container = { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' }

/** By package and name. `set` sees what the fixed values have filled in. */
export const typeDefaults: ReadonlyMap<string, TypeDefaults> = new Map<string, TypeDefaults>([
  // core
  [
    'core/v1 PodSpec',
    {
      fields: {
        restartPolicy: 'Always',
        dnsPolicy: 'ClusterFirst',
        securityContext: {},
        terminationGracePeriodSeconds: 30,
        schedulerName: 'default-scheduler',
      },
      set: mirrorAccount,
    },
  ],
  ['core/v1 Container', { fields: container, set: withPullPolicy }],
  ['core/v1 EphemeralContainer', { fields: container, set: withPullPolicy }],
  ['core/v1 Probe', { fields: { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 } }],
  ['core/v1 HTTPGetAction', { fields: { path: '/', scheme: 'HTTP' } }],
  ['core/v1 GRPCAction', { fields: { service: '' } }],
  ['core/v1 ObjectFieldSelector', { fields: { apiVersion: 'v1' } }],
  ['core/v1 Volume', { fields: {}, set: withVolumeSource }],
  ['core/v1 SecretVolumeSource', { fields: { defaultMode: 0o644 } }],
  ['core/v1 ConfigMapVolumeSource', { fields: { defaultMode: 0o644 } }],
  ['core/v1 DownwardAPIVolumeSource', { fields: { defaultMode: 0o644 } }],
  ['core/v1 ProjectedVolumeSource', { fields: { defaultMode: 0o644 } }],
  ['core/v1 ServiceAccountTokenProjection', { fields: { expirationSeconds: 3600 } }],
  ['core/v1 HostPathVolumeSource', { fields: { type: '' } }],
  ['core/v1 AzureDiskVolumeSource', { fields: { readOnly: false } }],
  ['core/v1 PersistentVolumeClaimSpec', { fields: { volumeMode: 'Filesystem' } }],
  ['core/v1 PersistentVolumeSpec', { fields: { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' } }],
  ['core/v1 EndpointPort', { fields: { protocol: 'TCP' } }],
  ['core/v1 ServicePort', { fields: {}, set: withTargetPort }],
  // apps
  [
    'apps/v1 DeploymentSpec',
    { fields: { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }, set: withStrategy },
  ],
  ['apps/v1 ReplicaSetSpec', { fields: { replicas: 1 } }],
  ['apps/v1 DaemonSetSpec', { fields: { revisionHistoryLimit: 10 }, set: withDaemonStrategy }],
  [
    'apps/v1 StatefulSetSpec',
    {
      fields: {
        replicas: 1,
        podManagementPolicy: 'OrderedReady',
        revisionHistoryLimit: 10,
        persistentVolumeClaimRetentionPolicy: {},
      },
      set: withStatefulStrategy,
    },
  ],
  [
    'apps/v1 StatefulSetPersistentVolumeClaimRetentionPolicy',
    { fields: { whenDeleted: 'Retain', whenScaled: 'Retain' } },
  ],
  // batch
  [
    'batch/v1 CronJobSpec',
    {
      fields: {
        concurrencyPolicy: 'Allow',
        suspend: false,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
      },
    },
  ],
  // networking
  ['networking/v1 NetworkPolicyPort', { fields: { protocol: 'TCP' } }],
  ['networking/v1 NetworkPolicySpec', { fields: {}, set: withPolicyTypes }],
  ['networking/v1 IngressClassParametersReference', { fields: { scope: 'Cluster' } }],
  // discovery
  ['discovery/v1 EndpointPort', { fields: { name: '', protocol: 'TCP' } }],
  // rbac
  ['rbac/v1 RoleRef', { fields: { apiGroup: RBAC_GROUP } }],
  ['rbac/v1 Subject', { fields: {}, set: withSubjectGroup }],
  // storage
  ['storage/v1 StorageClass', { fields: { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' } }],
  [
    'storage/v1 CSIDriverSpec',
    {
      fields: {
        attachRequired: true,
        podInfoOnMount: false,
        storageCapacity: false,
        fsGroupPolicy: 'ReadWriteOnceWithFSType',
        volumeLifecycleModes: ['Persistent'],
        requiresRepublish: false,
        seLinuxMount: false,
      },
    },
  ],
  // scheduling
  ['scheduling/v1 PriorityClass', { fields: { preemptionPolicy: 'PreemptLowerPriority' } }],
  // admissionregistration
  ['admissionregistration/v1 ValidatingWebhook', { fields: webhook }],
  ['admissionregistration/v1 MutatingWebhook', { fields: { ...webhook, reinvocationPolicy: 'Never' } }],
  ['admissionregistration/v1 ServiceReference', { fields: { port: 443 } }],
  ['admissionregistration/v1 RuleWithOperations', { fields: { scope: '*' } }],
  ['admissionregistration/v1 NamedRuleWithOperations', { fields: { scope: '*' } }],
  ['admissionregistration/v1 ValidatingAdmissionPolicySpec', { fields: { failurePolicy: 'Fail' } }],
  [
    'admissionregistration/v1 MatchResources',
    { fields: { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} } },
  ],
  // flowcontrol
  ['flowcontrol/v1 FlowSchemaSpec', { fields: { matchingPrecedence: 1000 } }],
  [
    'flowcontrol/v1 LimitedPriorityLevelConfiguration',
    { fields: { nominalConcurrencyShares: 30, lendablePercent: 0 } },
  ],
  ['flowcontrol/v1 ExemptPriorityLevelConfiguration', { fields: { nominalConcurrencyShares: 0, lendablePercent: 0 } }],
  ['flowcontrol/v1 QueuingConfiguration', { fields: { queues: 64, handSize: 8, queueLengthLimit: 50 } }],
  // apiregistration
  ['apiregistration/v1 ServiceReference', { fields: { port: 443 } }],
])

/** The older name of the account says the same as the newer one, which wins. */
function mirrorAccount(spec: Fields): Fields {
  const account = spec['serviceAccountName'] ?? spec['serviceAccount']
  if (account === undefined || spec['serviceAccount'] === spec['serviceAccountName']) return spec
  return { ...spec, serviceAccountName: account, serviceAccount: account }
}

/** An image that may be another one tomorrow is pulled every time. */
function withPullPolicy(given: Fields): Fields {
  const { imagePullPolicy, image } = given
  if (imagePullPolicy !== undefined) return given
  const name = typeof image === 'string' ? image : ''
  return { ...given, imagePullPolicy: isLatest(name) ? 'Always' : 'IfNotPresent' }
}

function isLatest(image: string): boolean {
  if (image.includes('@')) return false
  const tag = /:([\w][\w.-]{0,127})$/.exec(image.slice(image.lastIndexOf('/') + 1))?.[1] ?? 'latest'
  return tag === 'latest'
}

/** A volume that says nothing of what it is, is an empty folder. */
function withVolumeSource(volume: Fields): Fields {
  const hasSource = Object.keys(volume).some((name) => name !== 'name')
  return hasSource ? volume : { ...volume, emptyDir: {} }
}

function withTargetPort(port: Fields): Fields {
  const { targetPort = 0 } = port
  return (targetPort === 0 || targetPort === '') && port['port'] !== undefined
    ? { ...port, targetPort: port['port'] }
    : port
}

function withStrategy(spec: Fields): Fields {
  const { type = 'RollingUpdate', rollingUpdate, ...rest } = fieldsOf(spec['strategy'])
  if (type !== 'RollingUpdate') return spec
  const rolling = { maxUnavailable: '25%', maxSurge: '25%', ...fieldsOf(rollingUpdate) }
  return changed(spec, 'strategy', { ...rest, type, rollingUpdate: rolling })
}

function withDaemonStrategy(spec: Fields): Fields {
  const { type = 'RollingUpdate', rollingUpdate, ...rest } = fieldsOf(spec['updateStrategy'])
  if (type !== 'RollingUpdate') return spec
  const rolling = { maxUnavailable: 1, maxSurge: 0, ...fieldsOf(rollingUpdate) }
  return changed(spec, 'updateStrategy', { ...rest, type, rollingUpdate: rolling })
}

/** Only a strategy that nobody named gets a partition. */
function withStatefulStrategy(spec: Fields): Fields {
  const strategy = fieldsOf(spec['updateStrategy'])
  if (strategy['type'] !== undefined) return spec
  const rolling = { partition: 0, ...fieldsOf(strategy['rollingUpdate']) }
  return changed(spec, 'updateStrategy', { ...strategy, type: 'RollingUpdate', rollingUpdate: rolling })
}

function withPolicyTypes(spec: Fields): Fields {
  const { policyTypes, egress } = spec
  if (Array.isArray(policyTypes) && policyTypes.length > 0) return spec
  const hasEgress = Array.isArray(egress) && egress.length > 0
  return { ...spec, policyTypes: hasEgress ? ['Ingress', 'Egress'] : ['Ingress'] }
}

function withSubjectGroup(subject: Fields): Fields {
  const { kind, apiGroup } = subject
  const isUser = kind === 'User' || kind === 'Group'
  return isUser && apiGroup === undefined ? { ...subject, apiGroup: RBAC_GROUP } : subject
}

const changed = (fields: Fields, name: string, value: Json): Fields =>
  isFields(fields[name]) && JSON.stringify(fields[name]) === JSON.stringify(value)
    ? fields
    : { ...fields, [name]: value }

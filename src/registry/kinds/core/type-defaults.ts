/**
 * Defaults of the types in this API group, in addition to the defaults in the OpenAPI documents.
 * They apply to a type wherever it occurs.
 */
import { type Fields, fieldsOf } from '../../../api/object.ts'
import type { TypeDefaults } from '../../../objects/schema/schema.ts'
import { withLimitDefaults } from './limit-range.ts'
import { withPhase } from './namespace.ts'
import { withAllocatable, withPodCidrs } from './node.ts'
import { withPullPolicy, withVolumePullPolicy } from './pod/image.ts'
import { withPodIps } from './pod/status.ts'

const container = {
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
}

/**
 * Defaults, keyed by package and type name. `set` computes further defaults, after the fixed values
 * in `fields` are set.
 */
export const typeDefaults: readonly (readonly [string, TypeDefaults])[] = [
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
  ['core/v1 ImageVolumeSource', { fields: {}, set: withVolumePullPolicy, gate: 'ImageVolume' }],
  ['core/v1 PodStatus', { fields: {}, set: withPodIps }],
  [
    'core/v1 Probe',
    { fields: { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 } },
  ],
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
  ['core/v1 PersistentVolume', { fields: {}, set: withVolumeDefaults }],
  ['core/v1 LimitRangeItem', { fields: {}, set: withLimitDefaults }],
  ['core/v1 NamespaceStatus', { fields: {}, set: withPhase }],
  ['core/v1 NodeSpec', { fields: {}, set: withPodCidrs }],
  ['core/v1 NodeStatus', { fields: {}, set: withAllocatable }],
  ['core/v1 PersistentVolumeClaimStatus', { fields: { phase: 'Pending' } }],
  ['core/v1 PersistentVolumeStatus', { fields: { phase: 'Pending' } }],
  ['core/v1 EndpointPort', { fields: { protocol: 'TCP' } }],
  ['core/v1 ServicePort', { fields: {}, set: withTargetPort }],
]

/**
 * Gives `serviceAccountName` and the deprecated field `serviceAccount` the same value. If both are
 * set, `serviceAccountName` takes precedence.
 */
function mirrorAccount(spec: Fields): Fields {
  const account = spec['serviceAccountName'] ?? spec['serviceAccount']
  if (account === undefined || spec['serviceAccount'] === spec['serviceAccountName']) return spec
  return { ...spec, serviceAccountName: account, serviceAccount: account }
}

/** Sets emptyDir in a volume without a source. */
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

/**
 * Sets the defaults of the spec of a PersistentVolume. They are not defaults of the type
 * PersistentVolumeSpec, because VolumeAttachment contains this type without defaults.
 */
function withVolumeDefaults(volume: Fields): Fields {
  const spec = fieldsOf(volume['spec'])
  if (spec['persistentVolumeReclaimPolicy'] !== undefined && spec['volumeMode'] !== undefined)
    return volume
  return {
    ...volume,
    spec: { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem', ...spec },
  }
}

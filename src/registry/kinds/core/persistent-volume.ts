import { quote } from '../../../api/quote.ts'
import {
  type FieldFault,
  forbiddenField,
  invalidShown,
  invalidValue,
  notSupportedShown,
  required,
} from '../../../api/field-fault.ts'
import type { Gates } from '../../../api/gates.ts'
import { goPointer, goQuantity, goStruct, shownItems } from '../../../api/go-value.ts'
import { checkDnsSubdomain } from '../../../api/names.ts'
import {
  entriesOf,
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  type KubeObject,
  textOf,
} from '../../../api/object.ts'
import { nanosOf } from '../../../api/quantity.ts'
import { once } from '../../../lib/scheduling/parts.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import { isEqualAs } from '../../rules/equality.ts'
import type { KindRules } from '../../kind-rules.ts'
import type { Writer } from '../../resource.ts'
import { changesOf } from '../../rules/changes.ts'
import { deprecatedKeyWarnings, newerLabel } from '../../rules/deprecated-labels.ts'
import {
  all,
  eachIn,
  faultsOf,
  fields,
  ifPresent,
  type Rule,
  unlessEmpty,
} from '../../rules/rule.ts'
import { named, oneOf } from '../../rules/scalars.ts'
import { warningsOfEach } from '../../rules/warnings.ts'
import {
  accessModes,
  attributesClassGate,
  attributesGates,
  validateAttributesChange,
  volumeMode,
} from './claim-spec.ts'
import { nodeSelector } from './pod/scheduling.ts'
import { sourceNames, volumeSource } from './volume-sources.ts'

const mountOptions = 'volume.beta.kubernetes.io/mount-options'

const capacity: Rule = (value, path, check) => {
  const { faults } = check
  const amounts = once('amounts of capacity', () => entriesOf(value))
  if (amounts.length === 0) faults.push(required(path))
  if (amounts.length !== 1 || amounts[0]?.[0] !== 'storage') {
    const shown = shownItems(amounts, ([name, amount]) => `${quote(name)}:${goQuantity(amount)}`)
    const list = isFields(value) ? `core.ResourceList{${shown}}` : 'core.ResourceList(nil)'
    faults.push(notSupportedShown(path, list, ['storage']))
  }
  eachIn(amounts, check, ([name, amount], _, own) => {
    own.faults.push(...basicAmount(amount, `${path}[${name}]`))
    if (nanosOf(amount) <= 0n)
      own.faults.push(invalidValue(`${path}[${name}]`, amount, 'must be greater than zero'))
  })
}

/** Refuses a negative quantity. The error shows the quantity as an integer. */
export function basicAmount(amount: string, path: string): FieldFault[] {
  const nanos = nanosOf(amount)
  return nanos >= 0n
    ? []
    : [invalidShown(path, `${nanos / 10n ** 9n}`, 'must be a valid resource quantity')]
}

const nodeAffinity: Rule = ifPresent((value, path, check) => {
  const { required: nodes } = fieldsOf(value)
  if (nodes === undefined)
    check.faults.push(required(`${path}.required`, 'must specify required node constraints'))
  else nodeSelector(nodes, `${path}.required`, check)
})

/**
 * Rule for the reclaim policy. A hostPath volume with the policy Recycle must not be the root
 * directory of the host.
 */
const recycledRoot: Rule = (value, path, { faults }) => {
  const { hostPath, persistentVolumeReclaimPolicy } = fieldsOf(value)
  const isRoot = /^\/[/.]*$/.test(textOf(fieldsOf(hostPath)['path']))
  if (persistentVolumeReclaimPolicy !== 'Recycle' || !isRoot) return
  const why = "may not be 'recycle' for a hostPath mount of '/'"
  faults.push(forbiddenField(`${path}.persistentVolumeReclaimPolicy`, why))
}

/** Rule for volumeAttributesClassName, which only CSI volumes can have. */
const attributesClass: Rule = (value, path, check) => {
  const { volumeAttributesClassName: name, csi } = fieldsOf(value)
  if (name === undefined || !check.gates.isOn(attributesClassGate)) return
  const at = `${path}.volumeAttributesClassName`
  if (name === '') check.faults.push(required(at, 'an empty string is disallowed'))
  else named(checkDnsSubdomain)(name, at, check)
  if (csi !== undefined) return
  check.faults.push(
    required(`${path}.csi`, 'has to be specified when using volumeAttributesClassName'),
  )
}

const spec = all(
  fields({
    accessModes: accessModes(''),
    capacity,
    persistentVolumeReclaimPolicy: unlessEmpty(oneOf('Delete', 'Recycle', 'Retain')),
    nodeAffinity,
  }),
  volumeSource,
  recycledRoot,
  fields({ storageClassName: unlessEmpty(named(checkDnsSubdomain)), volumeMode }),
  attributesClass,
)

const inlineOnly = 'in the context of inline volumes'
const notInline: Rule = (_, path, { faults }) => {
  faults.push(forbiddenField(path, `may not be specified ${inlineOnly}`))
}

/** Rule for a PersistentVolumeSpec inside a VolumeAttachment. */
export const inlineVolume: Rule = all(
  fields({
    claimRef: ifPresent(notInline),
    capacity: (value, path, check) => {
      if (entriesOf(value).length > 0) notInline(value, path, check)
    },
    csi: (value, path, { faults }) => {
      if (value === undefined) faults.push(required(path, `has to be specified ${inlineOnly}`))
    },
    accessModes: accessModes(''),
    persistentVolumeReclaimPolicy: unlessEmpty((value, path, { faults }) => {
      if (value !== 'Retain') faults.push(forbiddenField(path, `may only be Retain ${inlineOnly}`))
    }),
    nodeAffinity: ifPresent(notInline),
    storageClassName: unlessEmpty(notInline),
    volumeMode: ifPresent((value, path, { faults }) => {
      if (value === 'Filesystem') return
      faults.push(
        forbiddenField(path, `may not specify volumeMode other than Filesystem ${inlineOnly}`),
      )
    }),
  }),
  volumeSource,
  recycledRoot,
)

export const persistentVolumeRules: KindRules = {
  strategy: { updateChecks: ['metadata', 'metadata', 'rules'], returnsDeleted: true },
  // The phase of a new volume is Pending until a controller binds the volume.
  prepareCreate: (object, { now }) => ({
    ...object,
    status: { phase: 'Pending', lastPhaseTransitionTime: now() },
  }),
  validate,
  validateUpdate: (object, current, gates) => {
    const [now, before] = [fieldsOf(object['spec']), fieldsOf(current['spec'])]
    const own = attributesGates(gates, before)
    return [
      ...validate(object, own),
      // As in kube-apiserver, an update validates the spec twice, so each error is reported twice.
      ...faultsOf(spec, now, 'spec', own),
      ...validateChange(now, before, gates),
      ...validateAttributesChange(now, before, gates),
    ]
  },
  warnings,
  status: { prepareUpdate: withTransitionTime, updateChecks: ['change', 'rules'] },
}

/** Sets the time of the last change of the phase, unless the client has set it. */
function withTransitionTime(object: KubeObject, current: KubeObject, { now }: Writer): KubeObject {
  const status = fieldsOf(object['status'])
  const before = fieldsOf(current['status'])
  const time = status['lastPhaseTransitionTime']
  const was = before['lastPhaseTransitionTime']
  if (time !== undefined && time !== was) return object
  const last = status['phase'] === before['phase'] ? was : now()
  return last === undefined
    ? object
    : { ...object, status: { ...status, lastPhaseTransitionTime: last } }
}

function validate(object: KubeObject, gates: Gates): FieldFault[] {
  return [...faultsOf(spec, object['spec'], 'spec', gates), ...validateMountOptions(object)]
}

/** Volume sources that support mount options. */
const mountedSources: readonly string[] = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
]

function validateMountOptions({
  metadata: { annotations = {} },
  spec: own,
}: KubeObject): FieldFault[] {
  const isMounted = mountedSources.some((name) => fieldsOf(own)[name] !== undefined)
  if (annotations[mountOptions] === undefined || isMounted) return []
  return [
    forbiddenField(
      `metadata.annotations.${mountOptions}`,
      'may not specify mount options for this volume type',
    ),
  ]
}

function validateChange(now: Fields, before: Fields, gates: Gates): FieldFault[] {
  const faults: FieldFault[] = []
  const source = sourceOf(now)
  // The only permitted change of the volume source is to add a Secret for volume expansion.
  const expected = withExpandSecret(sourceOf(before), source)
  if (!isEqualAs('core/v1 PersistentVolumeSpec', source, expected)) {
    const path = 'spec.persistentvolumesource'
    faults.push(
      forbiddenField(path, `${path} is immutable after creation\n${changesOf(expected, source)}`),
    )
  }
  if (!isSame(now['volumeMode'], before['volumeMode'])) {
    faults.push(invalidValue('volumeMode', textOf(now['volumeMode']), 'field is immutable'))
  }
  const was = before['nodeAffinity']
  if (
    was === undefined ||
    gates.isOn('MutablePVNodeAffinity') ||
    [was, withNewerLabels(was)].some((one) => isSameAffinity(now['nodeAffinity'], one))
  )
    return faults
  const dump = goStruct('core.VolumeNodeAffinity', {
    Required: goPointer('core.NodeSelector', true),
  })
  const json = now['nodeAffinity']
  const why = 'field is immutable, except for updating from beta label to GA'
  const fault =
    json === undefined
      ? invalidValue('nodeAffinity', null, why)
      : invalidShown('nodeAffinity', dump, why, { type: 'core.VolumeNodeAffinity', json })
  return [...faults, fault]
}

const isSameAffinity = (now: Json | undefined, was: Json): boolean =>
  isEqualAs('core/v1 PersistentVolumeSpec', { nodeAffinity: now }, { nodeAffinity: was })

const sourceOf = (own: Fields): Fields =>
  Object.fromEntries(
    sourceNames.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]])),
  )

function withExpandSecret(source: Fields, now: Fields): Fields {
  const { csi } = source
  const { controllerExpandSecretRef: secret } = fieldsOf(now['csi'])
  if (
    csi === undefined ||
    secret === undefined ||
    fieldsOf(csi)['controllerExpandSecretRef'] !== undefined
  )
    return source
  return { ...source, csi: { ...fieldsOf(csi), controllerExpandSecretRef: secret } }
}

/** Returns the affinity with newer labels in place of deprecated ones. */
function withNewerLabels(affinity: Json): Json {
  const { required: nodes } = fieldsOf(affinity)
  const terms = itemsOf(fieldsOf(nodes)['nodeSelectorTerms']).map((term) => ({
    ...term,
    matchExpressions: itemsOf(term['matchExpressions']).map((one) => {
      const key = textOf(one['key'])
      return { ...one, key: newerLabel(key) ?? key }
    }),
  }))
  return { ...fieldsOf(affinity), required: { ...fieldsOf(nodes), nodeSelectorTerms: terms } }
}

/** Volume sources whose drivers are deprecated or removed, with the warnings for them. */
const oldSources: readonly (readonly [string, string])[] = [
  ['cephfs', 'spec.cephfs: deprecated in v1.28, non-functional in v1.31+'],
  [
    'photonPersistentDisk',
    'spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+',
  ],
  ['scaleIO', 'spec.scaleIO: deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'spec.storageOS: deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'spec.glusterfs: deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'spec.rbd: deprecated in v1.28, non-functional in v1.31+'],
]

export const storageClassAnnotation = 'volume.beta.kubernetes.io/storage-class'

function warnings({ metadata: { annotations = {} }, spec: own }: KubeObject): string[] {
  const volume = fieldsOf(own)
  const reported: string[] = []
  if (annotations[storageClassAnnotation] !== undefined) reported.push(classWarning)
  if (annotations[mountOptions] !== undefined) {
    reported.push(
      `metadata.annotations[${mountOptions}]: deprecated since v1.31; use "mountOptions" attribute instead`,
    )
  }
  if (volume['persistentVolumeReclaimPolicy'] === 'Recycle') {
    const instead = 'Instead, the recommended approach is to use dynamic provisioning.'
    reported.push(
      `spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. ${instead}`,
    )
  }
  return [
    ...reported,
    ...affinityWarnings(volume['nodeAffinity']),
    ...oldSources.filter(([name]) => volume[name] !== undefined).map(([, warning]) => warning),
  ]
}

export const classWarning = `metadata.annotations[${storageClassAnnotation}]: deprecated since v1.8; use "storageClassName" attribute instead`

function affinityWarnings(affinity: Json | undefined): string[] {
  const terms = itemsOf(fieldsOf(fieldsOf(affinity)['required'])['nodeSelectorTerms'])
  return warningsOfEach(terms, (term, at) =>
    warningsOfEach(itemsOf(term['matchExpressions']), ({ key }, expressionAt) => {
      const path = `spec.nodeAffinity.required.nodeSelectorTerms[${at}].matchExpressions[${expressionAt}].key`
      return deprecatedKeyWarnings(path, textOf(key))
    }),
  )
}

import { isEqual } from '../../../objects/schema/equal.ts'
import {
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  invalidValue,
  notSupported,
  notSupportedShown,
} from '../../../api/field-fault.ts'
import {
  entriesOf,
  type Fields,
  fieldsOf,
  type Json,
  type KubeObject,
  omit,
  present,
  textOf,
} from '../../../api/object.ts'
import type { Gates } from '../../../api/gates.ts'
import { nanosOf } from '../../../api/quantity.ts'
import { addAll } from '../../../lib/scheduling/long-lists.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import type { KindRules } from '../../kind-rules.ts'
import { changesOf } from '../../rules/changes.ts'
import { typeOf } from '../../types.ts'
import { isExtended } from '../../rules/resources.ts'
import { faultsOf } from '../../rules/rule.ts'
import {
  attributesGates,
  claimSpec,
  claimSpecWarnings,
  validateAttributesChange,
} from './claim-spec.ts'
import { VALIDATED_ONCE_SINCE } from '../../strategy.ts'
import { basicAmount, classWarning, storageClassAnnotation } from './persistent-volume.ts'

export const persistentVolumeClaimRules: KindRules = {
  strategy: {
    updateChecks: ['metadata', 'change', 'rules', 'metadata'],
    laterUpdateChecks: { since: VALIDATED_ONCE_SINCE, checks: ['change', 'metadata', 'rules'] },
    returnsDeleted: true,
  },
  // A new claim is stored without a phase until the first update, so reads set the default phase.
  isDefaultedAgain: true,
  prepareCreate: (object) => prepared(object),
  prepareUpdate: (object, current) => prepared(object, current),
  validate: (object, gates) => faultsOf(claimSpec, object['spec'], 'spec', gates),
  validateUpdate: (object, current, gates) => {
    const was = fieldsOf(current['spec'])
    const found = faultsOf(claimSpec, object['spec'], 'spec', attributesGates(gates, was))
    const faults = hasSourceGroup(was)
      ? found.filter(({ path }) => !sourceGroups.includes(path))
      : found
    // As in kube-apiserver, an update validates the object twice in releases before 1.35.
    const again = gates.release < VALIDATED_ONCE_SINCE ? faults : []
    return [...again, ...faults, ...validateChange(object, current, gates)]
  },
  warnings,
  status: { validateUpdate: validateStatus },
  completeStored: withBothSources,
}

/**
 * Whether dataSource or dataSourceRef of the stored claim has an API group. In this case, any API
 * group is accepted, because kube-apiserver did not always validate it.
 */
const hasSourceGroup = ({ dataSource, dataSourceRef }: Fields): boolean =>
  [dataSource, dataSourceRef].some((source) => typeof fieldsOf(source)['apiGroup'] === 'string')
const sourceGroups = ['spec.dataSource.apiGroup', 'spec.dataSourceRef.apiGroup']

/**
 * Drops a dataSource of an unsupported kind. If the stored claim has a source or dataSourceRef is
 * set, the dataSource is kept, so that validation reports it.
 */
function prepared(object: KubeObject, current?: KubeObject): KubeObject {
  const { dataSource, dataSourceRef, ...rest } = fieldsOf(object['spec'])
  const was = fieldsOf(current?.['spec'])
  const isKept =
    was['dataSource'] !== undefined ||
    was['dataSourceRef'] !== undefined ||
    dataSourceRef !== undefined
  const source = isKept || isOldSource(dataSource) ? dataSource : undefined
  return withBothSources({
    ...object,
    spec: present({ ...rest, dataSource: source, dataSourceRef }),
  })
}

/**
 * Copies dataSource to dataSourceRef, or dataSourceRef to dataSource, so that both have the same
 * value.
 */
function withBothSources(object: KubeObject): KubeObject {
  const spec = fieldsOf(object['spec'])
  const { dataSource, dataSourceRef } = spec
  if (dataSource !== undefined && dataSourceRef === undefined) {
    return { ...object, spec: { ...spec, dataSourceRef: dataSource } }
  }
  const isAbroad = textOf(fieldsOf(dataSourceRef)['namespace']) !== ''
  if (dataSource !== undefined || dataSourceRef === undefined || isAbroad) return object
  return { ...object, spec: { ...spec, dataSource: omit(fieldsOf(dataSourceRef), 'namespace') } }
}

/**
 * Whether dataSource supports this source. The field dataSource is older than dataSourceRef, and
 * supports only claims and snapshots.
 */
function isOldSource(source: Json | undefined): boolean {
  const { apiGroup, kind } = fieldsOf(source)
  const group = textOf(apiGroup)
  return group === ''
    ? kind === 'PersistentVolumeClaim'
    : group === 'snapshot.storage.k8s.io' && kind === 'VolumeSnapshot'
}

const storageOf = (spec: Fields): Json | undefined =>
  fieldsOf(fieldsOf(spec['resources'])['requests'])['storage']

function validateChange(object: KubeObject, current: KubeObject, gates: Gates): FieldFault[] {
  const now = fieldsOf(object['spec'])
  const before = fieldsOf(current['spec'])
  const allowed = allowedSpec(object, current, gates)
  const faults: FieldFault[] = []
  if (!isEqual(typeOf('core/v1', 'PersistentVolumeClaimSpec', gates.release), now, allowed)) {
    const why =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'
    faults.push(forbiddenField('spec', `${why}\n${changesOf(allowed, now)}`))
  }
  const size = nanosOf(textOf(storageOf(now)))
  const held = nanosOf(textOf(fieldsOf(fieldsOf(current['status'])['capacity'])['storage']))
  if (size < nanosOf(textOf(storageOf(before)))) {
    const path = 'spec.resources.requests.storage'
    if (!gates.isOn('RecoverVolumeExpansionFailure')) {
      faults.push(forbiddenField(path, 'field can not be less than previous value'))
    } else if (size <= held)
      faults.push(forbiddenField(path, 'field can not be less than status.capacity'))
  }
  if (!isSame(now['volumeMode'], before['volumeMode'])) {
    faults.push(invalidValue('volumeMode', textOf(now['volumeMode']), 'field is immutable'))
  }
  if (gates.release >= CLASS_MAY_GO_SINCE)
    return [
      ...faults,
      ...validateClassRemoval(now, before, { current, gates }),
      ...validateClassAnnotation(object, current),
    ]
  addAll(faults, validateAttributesChange(now, before, gates))
  const isEmptied =
    now['volumeAttributesClassName'] === '' && textOf(before['volumeAttributesClassName']) !== ''
  if (isEmptied) {
    const why = 'update from non-nil value to an empty string is forbidden'
    faults.push(forbiddenField('spec.volumeAttributesClassName', why))
  }
  return [...faults, ...validateClassAnnotation(object, current)]
}

/**
 * The first release in which volumeAttributesClassName can be removed from a claim, as long as
 * status.currentVolumeAttributesClassName is not set.
 */
const CLASS_MAY_GO_SINCE = 34

function validateClassRemoval(
  now: Fields,
  before: Fields,
  { current, gates }: { readonly current: KubeObject; readonly gates: Gates },
): FieldFault[] {
  const [is, was] = [now['volumeAttributesClassName'], before['volumeAttributesClassName']]
  const path = 'spec.volumeAttributesClassName'
  if (!gates.isOn('VolumeAttributesClass')) {
    const why = 'update is forbidden when the VolumeAttributesClass feature gate is disabled'
    return is === was ? [] : [forbiddenField(path, why)]
  }
  if (fieldsOf(current['status'])['currentVolumeAttributesClassName'] === undefined) return []
  const what = is === undefined ? 'nil' : is === '' ? 'empty string' : undefined
  const why = 'is forbidden when status.currentVolumeAttributesClassName is not nil'
  return what === undefined ? [] : [forbiddenField(path, `update to ${what} ${why}`)]
}

/** Returns the stored spec with the permitted changes from the new spec. */
function allowedSpec(object: KubeObject, current: KubeObject, { release }: Gates): Fields {
  const now = fieldsOf(object['spec'])
  const before = fieldsOf(current['spec'])
  const { volumeName, storageClassName, resources, volumeAttributesClassName } = now
  const changes: { [field: string]: Json | undefined } = {}
  if (textOf(before['volumeName']) === '' && volumeName !== undefined)
    changes['volumeName'] = volumeName
  if (before['storageClassName'] === undefined && storageClassName !== undefined) {
    const was = current.metadata.annotations?.[storageClassAnnotation]
    if (was === undefined || was === storageClassName)
      changes['storageClassName'] = storageClassName
  }
  const isBound = fieldsOf(object['status'])['phase'] === 'Bound'
  const storage = storageOf(now)
  if (isBound && storage !== undefined && resources !== undefined) {
    const { requests, ...rest } = fieldsOf(before['resources'])
    changes['resources'] = { ...rest, requests: { ...fieldsOf(requests), storage } }
  }
  const mayGo = release >= CLASS_MAY_GO_SINCE
  if (isBound && (mayGo || volumeAttributesClassName !== undefined)) {
    changes['volumeAttributesClassName'] = volumeAttributesClassName
  }
  return { ...before, ...changes }
}

function validateClassAnnotation(object: KubeObject, current: KubeObject): FieldFault[] {
  const now = object.metadata.annotations?.[storageClassAnnotation]
  if (now === current.metadata.annotations?.[storageClassAnnotation]) return []
  return [
    invalidValue(`metadata.annotations.${storageClassAnnotation}`, now ?? '', 'field is immutable'),
  ]
}

const resizeStates = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
]

function validateStatus(object: KubeObject): FieldFault[] {
  const { capacity, allocatedResources, allocatedResourceStatuses } = fieldsOf(object['status'])
  return [
    ...faultsOfEach(entriesOf(capacity), ([name, amount]) =>
      basicAmount(amount, `status.capacity[${name}]`),
    ),
    ...faultsOfEach(entriesOf(allocatedResourceStatuses), ([name, state]) => {
      // As in kube-apiserver, the path differs from the name of the field, and the error for an
      // invalid state shows the name of the resource.
      const path = 'status.allocatedResourceStatus'
      if (!isClaimed(name)) return [notSupported(path, name, ['storage'])]
      return resizeStates.includes(state)
        ? []
        : [notSupportedShown(path, name, resizeStates, { json: name })]
    }),
    ...faultsOfEach(entriesOf(allocatedResources), ([name, amount]) => {
      const path = 'status.allocatedResources'
      return isClaimed(name)
        ? basicAmount(amount, `${path}[${name}]`)
        : [notSupported(path, name, ['storage'])]
    }),
  ]
}

const isClaimed = (resource: string): boolean => resource === 'storage' || isExtended(resource)

function warnings({ metadata: { annotations = {} }, spec }: KubeObject): string[] {
  const reported = annotations[storageClassAnnotation] === undefined ? [] : [classWarning]
  return [...reported, ...claimSpecWarnings(fieldsOf(spec), 'spec')]
}

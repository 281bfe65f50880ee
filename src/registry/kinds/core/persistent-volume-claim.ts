import {
  type FieldFault,
  forbiddenField,
  invalidValue,
  notSupported,
  notSupportedShown,
} from '../../../api/field-fault.ts'
import { entriesOf, type Fields, fieldsOf, type Json, type KubeObject, textOf } from '../../../api/object.ts'
import { nanosOf } from '../../../api/quantity.ts'
import { isSame } from '../../../schema/equal.ts'
import type { KindRules } from '../../kind-rules.ts'
import { changesOf } from '../../rules/changes.ts'
import { isExtended } from '../../rules/resources.ts'
import { faultsOf } from '../../rules/rule.ts'
import { withoutField } from '../../rules/without-field.ts'
import { claimSpec } from './claim-spec.ts'
import { basicAmount, classWarning, storageClassAnnotation } from './persistent-volume.ts'

export const persistentVolumeClaimRules: KindRules = {
  prepareCreate: (object) => ({ ...prepared(object), status: { phase: 'Pending' } }),
  prepareUpdate: prepared,
  validate: (object) => faultsOf(claimSpec, object['spec'], 'spec'),
  validateUpdate: (object, current) => {
    const faults = faultsOf(claimSpec, object['spec'], 'spec')
    // An update looks at everything twice.
    return [...faults, ...faults, ...validateChange(object, current)]
  },
  warnings,
  status: { prepareUpdate: withoutDisabledStatus, validateUpdate: validateStatus },
}

/** Of the gates VolumeAttributesClass and CrossNamespaceVolumeDataSource, which are off. */
function prepared(object: KubeObject): KubeObject {
  const spec = fieldsOf(withoutField(object, 'spec', 'volumeAttributesClassName')['spec'])
  const { dataSource, dataSourceRef, ...rest } = spec
  const ref = fieldsOf(dataSourceRef)['namespace'] === undefined ? dataSourceRef : undefined
  const source = isOldSource(dataSource) ? dataSource : undefined
  // Each of the two says what the other does.
  return {
    ...object,
    spec: {
      ...rest,
      ...(source === undefined && ref === undefined ? {} : { dataSource: source ?? ref, dataSourceRef: ref ?? source }),
    },
  }
}

/** The older field knows claims and snapshots only. */
function isOldSource(source: Json | undefined): boolean {
  const { apiGroup, kind } = fieldsOf(source)
  const group = textOf(apiGroup)
  return group === ''
    ? kind === 'PersistentVolumeClaim'
    : group === 'snapshot.storage.k8s.io' && kind === 'VolumeSnapshot'
}

const storageOf = (spec: Fields): Json | undefined => fieldsOf(fieldsOf(spec['resources'])['requests'])['storage']

function validateChange(object: KubeObject, current: KubeObject): FieldFault[] {
  const now = fieldsOf(object['spec'])
  const before = fieldsOf(current['spec'])
  const allowed = allowedSpec(object, current)
  const faults: FieldFault[] = []
  if (!isSame(now, allowed)) {
    const why =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'
    faults.push(forbiddenField('spec', `${why}\n${changesOf(allowed, now)}`))
  }
  const size = nanosOf(textOf(storageOf(now)))
  const held = nanosOf(textOf(fieldsOf(fieldsOf(current['status'])['capacity'])['storage']))
  if (size < nanosOf(textOf(storageOf(before))) && size <= held) {
    faults.push(forbiddenField('spec.resources.requests.storage', 'field can not be less than status.capacity'))
  }
  if (!isSame(now['volumeMode'], before['volumeMode'])) {
    faults.push(invalidValue('volumeMode', textOf(now['volumeMode']), 'field is immutable'))
  }
  return [...faults, ...validateClassAnnotation(object, current)]
}

/** The spec from before, with those changes of the new one that are allowed. */
function allowedSpec(object: KubeObject, current: KubeObject): Fields {
  const now = fieldsOf(object['spec'])
  const before = fieldsOf(current['spec'])
  const { volumeName, storageClassName, resources } = now
  const changes: { [field: string]: Json | undefined } = {}
  if (textOf(before['volumeName']) === '' && volumeName !== undefined) changes['volumeName'] = volumeName
  if (before['storageClassName'] === undefined && storageClassName !== undefined) {
    const was = current.metadata.annotations?.[storageClassAnnotation]
    if (was === undefined || was === storageClassName) changes['storageClassName'] = storageClassName
  }
  const isBound = fieldsOf(object['status'])['phase'] === 'Bound'
  const storage = storageOf(now)
  if (isBound && storage !== undefined && resources !== undefined) {
    const { requests, ...rest } = fieldsOf(before['resources'])
    changes['resources'] = { ...rest, requests: { ...fieldsOf(requests), storage } }
  }
  return { ...before, ...changes }
}

function validateClassAnnotation(object: KubeObject, current: KubeObject): FieldFault[] {
  const now = object.metadata.annotations?.[storageClassAnnotation]
  if (now === current.metadata.annotations?.[storageClassAnnotation]) return []
  return [invalidValue(`metadata.annotations.${storageClassAnnotation}`, now ?? '', 'field is immutable')]
}

/** Of the gate VolumeAttributesClass, which is off. */
function withoutDisabledStatus(object: KubeObject): KubeObject {
  return withoutField(
    withoutField(object, 'status', 'currentVolumeAttributesClassName'),
    'status',
    'modifyVolumeStatus',
  )
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
    ...entriesOf(capacity).flatMap(([name, amount]) => basicAmount(amount, `status.capacity[${name}]`)),
    ...entriesOf(allocatedResourceStatuses).flatMap(([name, state]) => {
      // The path lacks some letters upstream, too, and of a wrong state the name is shown.
      const path = 'status.allocatedResourceStatus'
      if (!isClaimed(name)) return [notSupported(path, name, ['storage'])]
      return resizeStates.includes(state) ? [] : [notSupportedShown(path, name, resizeStates)]
    }),
    ...entriesOf(allocatedResources).flatMap(([name, amount]) => {
      const path = 'status.allocatedResources'
      return isClaimed(name) ? basicAmount(amount, `${path}[${name}]`) : [notSupported(path, name, ['storage'])]
    }),
  ]
}

const isClaimed = (resource: string): boolean => resource === 'storage' || isExtended(resource)

function warnings({ metadata: { annotations = {} }, spec }: KubeObject): string[] {
  const storage = textOf(storageOf(fieldsOf(spec)))
  const told = annotations[storageClassAnnotation] === undefined ? [] : [classWarning]
  if (nanosOf(storage) % 10n ** 9n === 0n) return told
  return [
    ...told,
    `spec.resources.requests[storage]: fractional byte value "${storage}" is invalid, must be an integer`,
  ]
}

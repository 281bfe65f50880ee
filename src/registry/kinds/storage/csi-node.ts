import {
  checked,
  duplicate,
  faultsOfEach,
  type FieldFault,
  invalidShown,
  invalidValue,
  required,
  tooLong,
} from '../../../api/field-fault.ts'
import { goPointer, goStrings } from '../../../api/go-value.ts'
import { checkDnsSubdomain, checkQualifiedName } from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import type { Gates } from '../../../api/gates.ts'
import { repeatsIn } from '../../../lib/scheduling/long-lists.ts'
import { mapEach } from '../../../lib/scheduling/parts.ts'
import { ONE_ERROR_SINCE } from '../core/pod/volume-sources.ts'
import type { KindRules } from '../../kind-rules.ts'
import { isEqualAs } from '../../rules/equality.ts'

/**
 * Maximum length of a driver name. The path of the driver's socket contains the name, and the
 * length of such paths is limited.
 */
const DRIVER_NAME_BYTES_MAX = 63
const NODE_ID_BYTES_MAX = 256

export const csiNodeRules: KindRules = {
  strategy: {
    updateChecks: ['metadata', 'metadata', 'rules'],
    needsResourceVersion: true,
    returnsDeleted: true,
  },
  validate: (object, { release }) => validate(object, release),
  // As in kube-apiserver, an update is validated twice, so each error is reported twice.
  validateUpdate: (object, current, gates) => [
    ...validate(object, gates.release),
    ...validateChange(object, current, gates),
    ...validate(object, gates.release),
  ],
}

const driversOf = (object: KubeObject): readonly Fields[] =>
  itemsOf(fieldsOf(object['spec'])['drivers'])

function validate(object: KubeObject, release: number): FieldFault[] {
  const repeats = repeatsIn(
    mapEach('names of drivers', driversOf(object), ({ name }) => textOf(name)),
  )
  return faultsOfEach(driversOf(object), (driver, at) => {
    const path = `spec.drivers[${at}]`
    const name = textOf(driver['name'])
    return [
      ...validateDriverName(name, `${path}.name`, release),
      ...validateNodeId(textOf(driver['nodeID']), `${path}.nodeID`),
      ...validateCount(fieldsOf(driver['allocatable'])['count'], `${path}.allocatable.count`),
      ...(repeats.has(at) ? [duplicate(`${path}.name`, name)] : []),
      ...validateTopologyKeys(textsOf(driver['topologyKeys']), path),
    ]
  })
}

export function validateDriverName(name: string, path: string, release: number): FieldFault[] {
  const faults = name === '' ? [required(path)] : []
  if (name === '' && release >= ONE_ERROR_SINCE) return faults
  if (Buffer.byteLength(name) > DRIVER_NAME_BYTES_MAX)
    faults.push(tooLong(path, DRIVER_NAME_BYTES_MAX))
  return [
    ...faults,
    ...checkDnsSubdomain(name.toLowerCase()).map((why) => invalidValue(path, name, why)),
  ]
}

function validateNodeId(id: string, path: string): FieldFault[] {
  if (id === '') return [required(path)]
  if (Buffer.byteLength(id) <= NODE_ID_BYTES_MAX) return []
  return [invalidValue(path, id, `must be ${NODE_ID_BYTES_MAX} characters or less`)]
}

function validateCount(count: Fields[string], path: string): FieldFault[] {
  if (typeof count !== 'number' || count >= 0) return []
  return [invalidValue(path, count, 'must be greater than or equal to 0')]
}

/** Validates topology keys. Errors have the path of the driver. */
function validateTopologyKeys(keys: readonly string[], path: string): FieldFault[] {
  const repeats = repeatsIn(keys)
  return faultsOfEach(keys, (key, at) => [
    ...(key === '' ? [required(path)] : []),
    ...(repeats.has(at) ? [duplicate(path, key)] : []),
    ...checked(path, key, checkQualifiedName),
  ])
}

/** Validates an update. Drivers can be added and removed, but an existing driver is immutable. */
function validateChange(object: KubeObject, current: KubeObject, gates: Gates): FieldFault[] {
  const mayCount = gates.isOn('MutableCSINodeAllocatableCount')
  const before = new Map(driversOf(current).map((driver) => [driver['name'], driver]))
  return faultsOfEach(driversOf(object), (driver) => {
    const was = before.get(driver['name'])
    if (was === undefined) return []
    const counted = mayCount ? { ...was, allocatable: driver['allocatable'] } : was
    if (isEqualAs('storage/v1 CSINodeDriver', driver, counted)) return []
    const value = { type: driverType, json: driver }
    return [invalidShown('spec.drivers', goDriver(driver), 'field is immutable', value)]
  })
}

const driverType = 'storage.CSINodeDriver'

function goDriver(driver: Fields): string {
  const keys = goStrings(textsOf(driver['topologyKeys']))
  const parts = [
    `Name:${quote(textOf(driver['name']))}`,
    `NodeID:${quote(textOf(driver['nodeID']))}`,
    `TopologyKeys:${keys}`,
  ]
  return `${driverType}{${parts.join(', ')}, Allocatable:${goPointer('storage.VolumeNodeResources', driver['allocatable'] !== undefined)}}`
}

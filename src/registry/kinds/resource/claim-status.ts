/**
 * Rules for the status of a ResourceClaim: the allocation, the consumers, and the device status
 * that drivers report.
 */
import {
  checked,
  type FieldFault,
  forbiddenField,
  invalidShown,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../../../api/field-fault.ts'
import { goPointer, goStruct } from '../../../api/go-value.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  type KubeObject,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { keysOf } from '../../../lib/scheduling/long-lists.ts'
import { everyItem } from '../../../lib/scheduling/parts.ts'
import { validateConditions } from '../../rules/conditions.ts'
import { typeOf } from '../../types.ts'
import { hub } from './versions.ts'
import type { Gates } from '../../../api/gates.ts'
import { identityOf, isEqual } from '../../../objects/schema/equal.ts'
import { checkInterfaceAddress } from '../../rules/addresses.ts'
import { faultsOf } from '../../rules/rule.ts'
import { nodeSelector } from '../core/pod/scheduling.ts'
import { validateDriverName } from '../storage/csi-node.ts'
import {
  CONFIG_MAX,
  goItems,
  REQUESTS_MAX,
  requestNames,
  type RequestNames,
  validateConfiguration,
  validateData,
  validateReference,
  validateReferences,
} from './claim-spec.ts'
import { validateLabel, validateList, validatePoolName, validateSet } from './names.ts'

const RESERVED_FOR_MAX = 256
const CONDITIONS_MAX = 8
const ADDRESSES_MAX = 16
const INTERFACE_BYTES_MAX = 256
const HARDWARE_ADDRESS_BYTES_MAX = 128

const statusOf = (object: KubeObject): Fields => fieldsOf(object['status'])
const deviceId = ({ driver, pool, device }: Fields): string =>
  [driver, pool, device].map(textOf).join('/')

/** The first release that shows the parts of the ID of a device. */
const PARTS_SHOWN_SINCE = 35

/** Returns the JSON of the ID of a device in kube-apiserver. */
const deviceIdJson = ({ driver, pool, device }: Fields, release: number): Json =>
  release < PARTS_SHOWN_SINCE
    ? { Driver: {}, Pool: {}, Device: {}, ShareID: {} }
    : { Driver: textOf(driver), Pool: textOf(pool), Device: textOf(device), ShareID: '' }

const allocatedIn = (status: Fields): ReadonlySet<string> =>
  new Set(itemsOf(fieldsOf(fieldsOf(status['allocation'])['devices'])['results']).map(deviceId))

/** Drops the status of devices that are no longer allocated. */
export function withoutDeallocated(object: KubeObject, current: KubeObject): KubeObject {
  const status = statusOf(object)
  const kept = allocatedIn(status)
  const gone = new Set([...allocatedIn(statusOf(current))].filter((id) => !kept.has(id)))
  const given = itemsOf(status['devices'])
  const devices = given.filter((device) => !gone.has(deviceId(device)))
  if (devices.length === given.length && given.length > 0) return object
  const { devices: _, ...rest } = status
  if (object['status'] === undefined) return object
  return { ...object, status: devices.length === 0 ? rest : { ...rest, devices } }
}

export function validateClaimStatus(
  object: KubeObject,
  current: KubeObject,
  gates: Gates,
): FieldFault[] {
  const [status, before] = [statusOf(object), statusOf(current)]
  const names = requestNames(fieldsOf(fieldsOf(object['spec'])['devices'])['requests'])
  const allocated = allocatedIn(status)
  const { release } = gates
  return [
    ...validateSet(itemsOf(status['reservedFor']), 'status.reservedFor', {
      validate: validateConsumer,
      key: { of: ({ uid }) => textOf(uid), name: 'uid' },
      max: RESERVED_FOR_MAX,
      release,
    }),
    ...validateSet(itemsOf(status['devices']), 'status.devices', {
      validate: (device, path) => validateDevice(device, path, { allocated, release }),
      key: { of: deviceId, name: 'deviceID', plainJson: (device) => deviceIdJson(device, release) },
      release,
    }),
    ...validateReserved(object, before),
    ...validateAllocation(status, before, { names, gates }),
  ]
}

const validateConsumer = (consumer: Fields, path: string): FieldFault[] =>
  ['resource', 'name', 'uid']
    .filter((field) => textOf(consumer[field]) === '')
    .map((field) => required(`${path}.${field}`))

function validateReserved(object: KubeObject, before: Fields): FieldFault[] {
  const { reservedFor, allocation } = statusOf(object)
  const path = 'status.reservedFor'
  const consumers = itemsOf(reservedFor)
  if (consumers.length === 0) return []
  if (!isFields(allocation))
    return [forbiddenField(path, 'may not be specified when `allocated` is not set')]
  if (object.metadata.deletionTimestamp === undefined) return []
  const known = keysOf(itemsOf(before['reservedFor']), identityOf)
  if (everyItem('known consumers', consumers, (one) => known.has(identityOf(one)))) return []
  const why =
    'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'
  return [forbiddenField(path, why)]
}

type AllocationContext = { readonly names: RequestNames; readonly gates: Gates }

/** Validates a new allocation. A stored allocation is immutable, and is not validated again. */
function validateAllocation(
  { allocation }: Fields,
  before: Fields,
  { names, gates }: AllocationContext,
): FieldFault[] {
  const path = 'status.allocation'
  if (!isFields(allocation)) return []
  if (isFields(before['allocation'])) {
    const struct = typeOf(hub, 'AllocationResult', gates.release)
    if (isEqual(struct, allocation, before['allocation'])) return []
    const value = { type: 'resource.AllocationResult', json: allocation }
    return [invalidShown(path, goAllocation(allocation), 'field is immutable', value)]
  }
  const { results, config } = fieldsOf(allocation['devices'])
  const { release } = gates
  return [
    ...validateList(itemsOf(results), `${path}.devices.results`, {
      validate: ({ request, driver, pool, device }, place) => [
        ...validateReference(textOf(request), `${place}.request`, names),
        ...validateDriverName(textOf(driver), `${place}.driver`, release),
        ...validatePoolName(textOf(pool), `${place}.pool`),
        ...validateLabel(textOf(device), `${place}.device`),
      ],
      max: REQUESTS_MAX,
      release,
    }),
    ...validateList(itemsOf(config), `${path}.devices.config`, {
      validate: (one, place) => [
        ...validateSource(textOf(one['source']), `${place}.source`),
        ...validateReferences(one['requests'], `${place}.requests`, { names, release }),
        ...validateConfiguration(one, place, { isStored: false, release }),
      ],
      max: 2 * CONFIG_MAX,
      release,
    }),
    ...(isFields(allocation['nodeSelector'])
      ? faultsOf(nodeSelector, allocation['nodeSelector'], `${path}.nodeSelector`)
      : []),
  ]
}

const sources = ['FromClaim', 'FromClass']

function validateSource(source: string, path: string): FieldFault[] {
  if (source === '') return [required(path)]
  return sources.includes(source) ? [] : [notSupported(path, source, sources)]
}

function validateDevice(
  device: Fields,
  path: string,
  { allocated, release }: { readonly allocated: ReadonlySet<string>; readonly release: number },
): FieldFault[] {
  const { driver, pool, device: name, conditions, data, networkData } = device
  const count = itemsOf(conditions).length
  return [
    ...validateDriverName(textOf(driver), `${path}.driver`, release),
    ...validatePoolName(textOf(pool), `${path}.pool`),
    ...validateLabel(textOf(name), `${path}.device`),
    ...(allocated.has(deviceId(device))
      ? []
      : [
          invalidShown(path, deviceId(device), 'must be an allocated device in the claim', {
            json: deviceIdJson(device, release),
          }),
        ]),
    ...(count > CONDITIONS_MAX ? [tooMany(`${path}.conditions`, count, CONDITIONS_MAX)] : []),
    ...validateConditions(conditions, `${path}.conditions`),
    ...(textOf(data) === '' ? [] : validateData(data, `${path}.data`, false)),
    ...validateNetwork(fieldsOf(networkData), `${path}.networkData`, release),
  ]
}

function validateNetwork(
  { interfaceName, hardwareAddress, ips }: Fields,
  path: string,
  release: number,
): FieldFault[] {
  const limited = (value: Fields[string], name: string, max: number): FieldFault[] =>
    Buffer.byteLength(textOf(value)) > max ? [tooLong(`${path}.${name}`, max)] : []
  return [
    ...limited(interfaceName, 'interfaceName', INTERFACE_BYTES_MAX),
    ...limited(hardwareAddress, 'hardwareAddress', HARDWARE_ADDRESS_BYTES_MAX),
    ...validateSet(textsOf(ips), `${path}.ips`, {
      validate: (address, place) => checked(place, address, checkInterfaceAddress),
      key: { of: (address) => address },
      max: ADDRESSES_MAX,
      release,
    }),
  ]
}

/** Formats an allocation as Go does with %#v. */
function goAllocation({ devices, nodeSelector: selector }: Fields): string {
  const { results, config } = fieldsOf(devices)
  return goStruct('resource.AllocationResult', {
    Devices: goStruct('resource.DeviceAllocationResult', {
      Results: goItems('resource.DeviceRequestAllocationResult', results, (result) =>
        goStruct('resource.DeviceRequestAllocationResult', {
          Request: quote(textOf(result['request'])),
          Driver: quote(textOf(result['driver'])),
          Pool: quote(textOf(result['pool'])),
          Device: quote(textOf(result['device'])),
          AdminAccess: goPointer('bool', result['adminAccess'] !== undefined),
          Tolerations: goItems(
            'resource.DeviceToleration',
            result['tolerations'],
            () => 'resource.DeviceToleration{}',
          ),
        }),
      ),
      Config: goItems('resource.DeviceAllocationConfiguration', config, () =>
        goStruct('resource.DeviceAllocationConfiguration', {
          Opaque: goPointer('resource.OpaqueDeviceConfiguration', true),
        }),
      ),
    }),
    NodeSelector: goPointer('core.NodeSelector', isFields(selector)),
  })
}

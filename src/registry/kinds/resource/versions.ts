/**
 * Conversions between the versions of resource.k8s.io. Rules apply to objects in v1beta2, which
 * resembles Kubernetes' internal version and has the same fields as v1. In v1beta1 and v1alpha3,
 * the fields of an exact request are in the request itself, and those of a device are in `basic`.
 */
import { JsonMap } from '../../../api/json-map.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  type Json,
  type KubeObject,
  present,
} from '../../../api/object.ts'
import { mapEach } from '../../../lib/scheduling/parts.ts'
import type { KindRules, KindUpdateRules } from '../../kind-rules.ts'

export type ResourceGroupVersion = 'v1' | 'v1alpha3' | 'v1beta1' | 'v1beta2'

/** Package of the types to which the rules apply. */
export const hub = 'resource/v1beta2'

/** Whether the version has the fields of v1. */
export const isNew = (version: string): boolean => version === 'v1' || version === 'v1beta2'

type Change = (value: Fields) => Fields

const exactFields = [
  'deviceClassName',
  'selectors',
  'allocationMode',
  'count',
  'adminAccess',
  'tolerations',
] as const

/**
 * Converts a request to v1beta2. If one of the fields of an exact request is set, the result has
 * the field `exactly`. Validation later checks the result.
 */
function requestToHub({ name, firstAvailable, ...rest }: Fields): Fields {
  const exactly = Object.fromEntries(exactFields.map((field) => [field, rest[field]]))
  const isExact = exactFields.some((field) => isSet(rest[field]))
  return present({ name, exactly: isExact ? present(exactly) : undefined, firstAvailable })
}

const isSet = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && value !== '' && value !== 0

/**
 * Converts a request from v1beta2. If all fields of an exact request were dropped because their
 * gates are off, an empty list of selectors marks the request as an exact one. Validation then
 * refuses it as an exact request.
 */
function requestFromHub({ name, exactly, firstAvailable }: Fields): Fields {
  const isBare = isFields(exactly) && Object.keys(exactly).length === 0
  return present({ name, ...(isBare ? { selectors: [] } : fieldsOf(exactly)), firstAvailable })
}

/**
 * Converts the values in `capacity`. In v1alpha3 they are quantities; in the other versions they
 * are structs that contain a quantity.
 */
const mapCapacity = (device: Fields, change: (amount: Json) => Json | undefined): Fields => {
  const { capacity } = device
  if (!isFields(capacity)) return device
  const changed = new JsonMap()
  for (const [name, amount] of Object.entries(capacity))
    changed[name] = change(amount ?? null) ?? null
  return { ...device, capacity: changed }
}

const wrapped = (device: Fields): Fields => mapCapacity(device, (value) => ({ value }))
const unwrapped = (device: Fields): Fields =>
  mapCapacity(device, (amount) => fieldsOf(amount)['value'])

const deviceToHub: Change = ({ name, basic }) => present({ name, ...fieldsOf(basic) })
const deviceFromHub: Change = ({ name, ...basic }) => ({ name, basic })
const alphaDevice =
  (change: Change): Change =>
  (device) =>
    isFields(device['basic']) ? { ...device, basic: change(device['basic']) } : device

/**
 * Applies a change to each struct in the list at a path. Missing parts of the path are not created.
 */
function mapList(
  value: Json | undefined,
  [name = '', ...rest]: readonly string[],
  change: Change,
): Json | undefined {
  if (!isFields(value) || value[name] === undefined) return value
  const inner = value[name]
  if (rest.length > 0) return { ...value, [name]: mapList(inner, rest, change) }
  if (!Array.isArray(inner)) return value
  return {
    ...value,
    [name]: mapEach('items of another version', inner, (item: Json) =>
      isFields(item) ? change(item) : item,
    ),
  }
}

/** Path of the device requests in each kind. */
const requestPaths: ReadonlyMap<string, readonly string[]> = new Map([
  ['ResourceClaim', ['devices', 'requests']],
  ['ResourceClaimTemplate', ['spec', 'devices', 'requests']],
])

function withSpec(
  object: KubeObject,
  change: (spec: Json | undefined) => Json | undefined,
): KubeObject {
  return object['spec'] === undefined ? object : { ...object, spec: change(object['spec']) }
}

/** Converts the spec of a slice. In older versions, a zero is equivalent to an absent value. */
function sliceToHub(spec: Json | undefined): Json | undefined {
  if (!isFields(spec)) return spec
  const { nodeName, allNodes, ...rest } = spec
  return present({
    ...rest,
    nodeName: nodeName === '' ? undefined : nodeName,
    allNodes: allNodes === true || undefined,
  })
}

function toHub(object: KubeObject, version: ResourceGroupVersion): KubeObject {
  if (isNew(version)) return object
  const requests = requestPaths.get(object.kind ?? '')
  if (requests !== undefined)
    return withSpec(object, (spec) => mapList(spec, requests, requestToHub))
  if (object.kind !== 'ResourceSlice') return object
  const change: Change =
    version === 'v1beta1' ? deviceToHub : (device) => wrapped(deviceToHub(device))
  return withSpec(object, (spec) => sliceToHub(mapList(spec, ['devices'], change)))
}

function fromHub(object: KubeObject): KubeObject {
  const requests = requestPaths.get(object.kind ?? '')
  if (requests !== undefined)
    return withSpec(object, (spec) => mapList(spec, requests, requestFromHub))
  if (object.kind !== 'ResourceSlice') return object
  return withSpec(object, (spec) => mapList(spec, ['devices'], deviceFromHub))
}

const devices = (object: KubeObject, change: Change): KubeObject =>
  object.kind === 'ResourceSlice'
    ? withSpec(object, (spec) => mapList(spec, ['devices'], alphaDevice(change)))
    : object

const isAlpha = (version: string): boolean => version === 'v1alpha3'

/** Converts an object from one API version to another. */
function convert(object: KubeObject, from: string, to: string): KubeObject {
  const beta = isAlpha(from) && !isAlpha(to) ? devices(object, wrapped) : object
  const moved =
    isNew(from) === isNew(to) ? beta : isNew(to) ? toHub(beta, 'v1beta1') : fromHub(beta)
  return isAlpha(to) && !isAlpha(from) ? devices(moved, unwrapped) : moved
}

const conversionsOf =
  (version: ResourceGroupVersion): NonNullable<KindRules['convertFor']> =>
  (storageVersion) => ({
    toStored: (object) => convert(object, version, storageVersion),
    fromStored: (object) => convert(object, storageVersion, version),
  })

/** Returns the rules of a kind, adapted to one of its versions. */
export function inVersion(rules: KindRules, version: ResourceGroupVersion): KindRules {
  const { validate, validateUpdate, validateInSlices, namespaceRule, status } = rules
  const asHub = (object: KubeObject): KubeObject => toHub(object, version)
  const updating = (
    update: KindUpdateRules['validateUpdate'] | undefined,
  ): KindUpdateRules['validateUpdate'] | undefined =>
    update && ((object, current, gates) => update(asHub(object), asHub(current), gates))
  const [whole, ofStatus] = [updating(validateUpdate), updating(status?.validateUpdate)]
  const from = (object: KubeObject): KubeObject => convert(object, 'v1beta2', version)
  return {
    ...rules,
    convertFor: conversionsOf(version),
    ...(version === 'v1beta2' ? {} : { gatedForm: { version: 'v1beta2', to: asHub, from } }),
    ...(validate === undefined
      ? {}
      : { validate: (object, gates) => validate(asHub(object), gates) }),
    ...(whole === undefined ? {} : { validateUpdate: whole }),
    ...(validateInSlices === undefined
      ? {}
      : {
          validateInSlices: (object, current, tools, gates) =>
            validateInSlices(asHub(object), current && asHub(current), tools, gates),
        }),
    ...(namespaceRule === undefined
      ? {}
      : {
          namespaceRule: (object, current, gates) =>
            namespaceRule(asHub(object), current && asHub(current), gates),
        }),
    ...(status === undefined
      ? {}
      : { status: { ...status, ...(ofStatus === undefined ? {} : { validateUpdate: ofStatus }) } }),
  }
}

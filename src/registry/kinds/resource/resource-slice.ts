/**
 * Rules for ResourceSlice: devices of a driver that can be used on one node, on some nodes, or on
 * all nodes.
 */
import { quote } from '../../../api/quote.ts'
import { type FieldFault, invalidShown, invalidValue, required } from '../../../api/field-fault.ts'
import { goStrings, shownItems } from '../../../api/go-value.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  type KubeObject,
  numberOf,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import { addAll, firstBy } from '../../../lib/scheduling/long-lists.ts'
import type { KindRules } from '../../kind-rules.ts'
import { faultsOf } from '../../rules/rule.ts'
import { nodeSelector } from '../core/pod/scheduling.ts'
import { validateDriverName } from '../storage/csi-node.ts'
import {
  COUNTERS_BOUNDED_SINCE,
  counterNames,
  countersOf,
  sumOf,
  validateCounters,
  validateDevice,
} from './device.ts'
import { validateLabel, validatePoolName, validateSet, validateSubdomain } from './names.ts'
import { withTime } from './taints.ts'

const DEVICES_MAX = 128
/** Maximum number of devices since 1.35, if one of them has taints or consumes counters. */
const SPECIAL_DEVICES_MAX = 64
const SHARED_COUNTERS_MAX = 32
/** Maximum number of counter sets since 1.35. */
const COUNTER_SETS_MAX = 8
/** Maximum total number of counters that all devices use. */
const DEVICE_COUNTERS_MAX = 1024
const choice =
  'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'
const immutable = 'field is immutable'

export const resourceSliceRules: KindRules = {
  strategy: { returnsDeleted: true, generation: { fields: ['spec'] } },
  selectableFields: ['spec.nodeName', 'spec.driver'],
  setDefaults: (object, _, now) => withTimes(object, now),
  validate: (object, gates) => validate(specOf(object), undefined, gates.release),
  validateUpdate: (object, current, gates) =>
    validate(specOf(object), specOf(current), gates.release),
  warnings: (object, _current, { release }) =>
    release < WARNED_SINCE ? [] : driverWarnings(textOf(specOf(object)['driver'])),
}

/** The first release that warns about uppercase letters in the names of drivers. */
const WARNED_SINCE = 35

const driverWarnings = (driver: string): string[] =>
  driver === driver.toLowerCase()
    ? []
    : [
        `spec.driver: driver names should be lowercase; ${quote(driver)} contains uppercase characters`,
      ]

/**
 * Rules for v1beta1 and v1alpha3. In these API versions, all fields of a device except its name are
 * in `basic`, which is always present.
 */
export const olderSliceRules: KindRules = {
  ...resourceSliceRules,
  setDefaults: (object, _, now) => {
    const timed = withTimes(object, now)
    const spec = specOf(timed)
    const devices = itemsOf(spec['devices'])
    if (devices.every((device) => isFields(device['basic']))) return timed
    return {
      ...timed,
      spec: {
        ...spec,
        devices: devices.map((device) => ({ ...device, basic: device['basic'] ?? {} })),
      },
    }
  },
}

const specOf = (object: KubeObject): Fields => fieldsOf(object['spec'])

/** Sets the missing timestamps of taints. Taints are either in the device itself or in `basic`. */
function withTimes(object: KubeObject, now: () => string): KubeObject {
  const spec = specOf(object)
  const devices = itemsOf(spec['devices'])
  const timed = (part: Fields): Fields =>
    Array.isArray(part['taints'])
      ? { ...part, taints: part['taints'].map((taint: Json) => withTime(taint, now) ?? null) }
      : part
  if (
    !devices.some(
      (device) =>
        Array.isArray(device['taints']) || Array.isArray(fieldsOf(device['basic'])['taints']),
    )
  ) {
    return object
  }
  const changed = devices.map((device) =>
    isFields(device['basic']) ? { ...timed(device), basic: timed(device['basic']) } : timed(device),
  )
  return { ...object, spec: { ...spec, devices: changed } }
}

function validate(spec: Fields, before: Fields | undefined, release: number): FieldFault[] {
  const { driver, pool, devices, sharedCounters } = spec
  const sets = itemsOf(sharedCounters)
  const isLater = release >= COUNTERS_BOUNDED_SINCE
  return [
    ...validateDriverName(textOf(driver), 'spec.driver', release),
    ...validatePool(fieldsOf(pool)),
    ...(before === undefined ? [] : validateChange(spec, before)),
    ...validateNodes(spec),
    ...(isLater && Array.isArray(sharedCounters) && Array.isArray(devices)
      ? [invalidValue('spec', '', 'only one of `sharedCounters` or `devices` is allowed')]
      : []),
    ...validateDevices(spec, before, release),
    ...(isLater ? [] : validateTotals(itemsOf(devices), sets)),
    ...validateSet(sets, 'spec.sharedCounters', {
      validate: ({ name, counters }, path) => [
        ...(textOf(name) === ''
          ? [required(`${path}.name`)]
          : validateLabel(textOf(name), `${path}.name`)),
        ...validateCounters(counters, `${path}.counters`, release),
      ],
      key: { of: ({ name }) => textOf(name), name: 'name' },
      max: isLater ? COUNTER_SETS_MAX : Infinity,
      release,
    }),
  ]
}

const isSpecial = (device: Fields): boolean =>
  itemsOf(device['taints']).length > 0 || itemsOf(device['consumesCounters']).length > 0

function validateDevices(spec: Fields, before: Fields | undefined, release: number): FieldFault[] {
  const list = itemsOf(spec['devices'])
  const counters = counterNames(itemsOf(spec['sharedCounters']))
  const known = firstBy(itemsOf(before?.['devices']), ({ name }) => textOf(name))
  const isPerDevice = spec['perDeviceNodeSelection'] === true
  return validateSet(list, 'spec.devices', {
    validate: (device, path) => {
      const current = known.get(textOf(device['name']))
      return validateDevice(device, path, { counters, isPerDevice, release, current })
    },
    key: { of: ({ name }) => textOf(name), name: 'name' },
    max:
      release >= COUNTERS_BOUNDED_SINCE && list.some(isSpecial) ? SPECIAL_DEVICES_MAX : DEVICES_MAX,
    release,
  })
}

function validateTotals(devices: readonly Fields[], sets: readonly Fields[]): FieldFault[] {
  const used = sumOf(devices, ({ consumesCounters }) => countersOf(itemsOf(consumesCounters)))
  const [ofDevices, ofSets] = ['counters in devices', 'shared counters'].map(
    (what) => `the total number of ${what}`,
  )
  return [
    ...atMost('spec.devices', used, DEVICE_COUNTERS_MAX, ofDevices ?? ''),
    ...atMost('spec.sharedCounters', countersOf(sets), SHARED_COUNTERS_MAX, ofSets ?? ''),
  ]
}

const atMost = (path: string, count: number, max: number, what: string): FieldFault[] =>
  count > max ? [invalidValue(path, count, `${what} must not exceed ${max}`)] : []

function validatePool({ name, resourceSliceCount, generation }: Fields): FieldFault[] {
  const [count, number] = [numberOf(resourceSliceCount), numberOf(generation)]
  return [
    ...validatePoolName(textOf(name), 'spec.pool.name'),
    ...(count > 0
      ? []
      : [invalidValue('spec.pool.resourceSliceCount', count, 'must be greater than zero')]),
    ...(number < 0
      ? [invalidValue('spec.pool.generation', number, 'must be greater than or equal to zero')]
      : []),
  ]
}

function validateChange(spec: Fields, before: Fields): FieldFault[] {
  const name = textOf(fieldsOf(spec['pool'])['name'])
  const faults =
    name === textOf(fieldsOf(before['pool'])['name'])
      ? []
      : [invalidValue('spec.pool.name', name, immutable)]
  const driver = textOf(spec['driver'])
  if (driver !== textOf(before['driver']))
    faults.push(invalidValue('spec.driver', driver, immutable))
  const { nodeName } = spec
  if (nodeName !== before['nodeName']) {
    faults.push(
      invalidValue('spec.nodeName', typeof nodeName === 'string' ? nodeName : null, immutable),
    )
  }
  return faults
}

function validateNodes(spec: Fields): FieldFault[] {
  const { nodeName, nodeSelector: selector } = spec
  const faults: FieldFault[] = []
  const chosen: string[] = []
  if (nodeName === '') {
    faults.push(
      invalidValue('spec.nodeName', '', 'must be either unset or set to a non-empty string'),
    )
  } else if (nodeName !== undefined) {
    chosen.push('`nodeName`')
    faults.push(...validateSubdomain(textOf(nodeName), 'spec.nodeName'))
  }
  if (isFields(selector)) {
    chosen.push('`nodeSelector`')
    addAll(faults, faultsOf(nodeSelector, selector, 'spec.nodeSelector'))
    const { nodeSelectorTerms } = selector
    if (itemsOf(nodeSelectorTerms).length !== 1) {
      const why = 'must have exactly one node selector term'
      faults.push(
        invalidShown('spec.nodeSelector.nodeSelectorTerms', goTerms(nodeSelectorTerms), why),
      )
    }
  }
  for (const field of ['allNodes', 'perDeviceNodeSelection']) {
    if (spec[field] === true) chosen.push(`\`${field}\``)
    if (spec[field] === false)
      faults.push(invalidValue(`spec.${field}`, false, 'must be either unset or set to true'))
  }
  if (chosen.length === 0) faults.push(required('spec', choice))
  if (chosen.length > 1) {
    faults.push(
      invalidValue('spec', `{${chosen.join(', ')}}`, `${choice}, but multiple fields are set`),
    )
  }
  return faults
}

function goTerms(terms: Json | undefined): string {
  if (!Array.isArray(terms)) return '[]core.NodeSelectorTerm(nil)'
  const shown = shownItems(
    itemsOf(terms),
    ({ matchExpressions, matchFields }) =>
      `core.NodeSelectorTerm{MatchExpressions:${goRequirements(matchExpressions)}, MatchFields:${goRequirements(matchFields)}}`,
  )
  return `[]core.NodeSelectorTerm{${shown}}`
}

function goRequirements(list: Json | undefined): string {
  if (!Array.isArray(list)) return '[]core.NodeSelectorRequirement(nil)'
  const shown = shownItems(
    itemsOf(list),
    ({ key, operator, values }) =>
      `core.NodeSelectorRequirement{Key:${quote(textOf(key))}, Operator:${quote(textOf(operator))}, Values:${goStrings(textsOf(values))}}`,
  )
  return `[]core.NodeSelectorRequirement{${shown}}`
}

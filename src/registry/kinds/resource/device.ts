/**
 * Rules for a device of a ResourceSlice: its attributes and capacity, and the nodes that can use
 * it.
 */
import {
  faultsOfEach,
  type FieldFault,
  invalidShown,
  invalidValue,
  required,
  tooLong,
} from '../../../api/field-fault.ts'
import { goPointer, goStruct } from '../../../api/go-value.ts'
import { type Fields, fieldsOf, isFields, itemsOf, type Json, textOf } from '../../../api/object.ts'
import { addAll } from '../../../lib/scheduling/long-lists.ts'
import { eachItem, mapEach, once } from '../../../lib/scheduling/parts.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import { faultsOf } from '../../rules/rule.ts'
import { nodeSelector } from '../core/pod/scheduling.ts'
import {
  validateLabel,
  validateList,
  validateMap,
  validateQualified,
  validateSet,
  validateSubdomain,
  WHOLE_ITEMS_SINCE,
} from './names.ts'
import { validateTaint } from './taints.ts'

const ENTRIES_MAX = 32
const COUNTERS_MAX = 32
/** Maximum number of counter sets that a device consumes, since 1.35. */
const CONSUMED_SETS_MAX = 2
const TAINTS_MAX = 16
/** Maximum before 1.35. */
const FEW_TAINTS_MAX = 4
const VALUE_BYTES_MAX = 64
const LABEL_CHARACTERS_MAX = 63

type SliceContext = {
  readonly release: number
  /** The device of the same name in the stored slice. */
  readonly current: Fields | undefined
  /** Names of the counters, keyed by the names of the slice's counter sets. */
  readonly counters: ReadonlyMap<string, ReadonlySet<string>>
  /** Whether each device of the slice specifies the nodes that can use it. */
  readonly isPerDevice: boolean
}

/**
 * The first release that limits the number of counters of each set instead of their total number,
 * and in which a device can consume counters that its slice does not have.
 */
export const COUNTERS_BOUNDED_SINCE = 35

export function counterNames(sets: readonly Fields[]): SliceContext['counters'] {
  const entries = mapEach('counter sets', sets, ({ name, counters }) => {
    return [textOf(name), new Set(Object.keys(fieldsOf(counters)))] as const
  })
  return once('counter sets by name', () => new Map(entries))
}

export const countersOf = (sets: readonly Fields[]): number =>
  sumOf(sets, ({ counters }) => Object.keys(fieldsOf(counters)).length)

export function sumOf(items: readonly Fields[], count: (item: Fields) => number): number {
  const { sum } = eachItem('sum of counts', items, zero, (state, item) => {
    state.sum += count(item)
    return true
  })
  return sum
}

const zero = (): { sum: number } => ({ sum: 0 })

export function validateCounters(
  counters: Json | undefined,
  path: string,
  release: number,
): FieldFault[] {
  const map = fieldsOf(counters)
  if (once('number of counters', () => Object.keys(map).length) === 0) return [required(path)]
  const max = release < COUNTERS_BOUNDED_SINCE ? Infinity : COUNTERS_MAX
  return validateMap(map, path, { key: validateLabel, max, shownMax: LABEL_CHARACTERS_MAX })
}

export function validateDevice(device: Fields, path: string, slice: SliceContext): FieldFault[] {
  const [attributes, capacity] = [fieldsOf(device['attributes']), fieldsOf(device['capacity'])]
  const { release } = slice
  const key = (name: string, place: string): FieldFault[] => validateQualified(name, place, release)
  const entries = once(
    'entries of a device',
    () => Object.keys(attributes).length + Object.keys(capacity).length,
  )
  return [
    ...validateLabel(textOf(device['name']), `${path}.name`),
    ...(entries > ENTRIES_MAX
      ? [
          invalidValue(
            path,
            entries,
            `the total number of attributes and capacities must not exceed ${ENTRIES_MAX}`,
          ),
        ]
      : []),
    ...validateMap(attributes, `${path}.attributes`, {
      key,
      item: (value, place) => validateAttribute(value, place, release),
    }),
    ...validateMap(capacity, `${path}.capacity`, { key }),
    ...validateTaints(device['taints'], `${path}.taints`, slice),
    ...validateConsumed(itemsOf(device['consumesCounters']), path, slice),
    ...validateNodes(device, path, slice.isPerDevice),
  ]
}

/** Validates taints. Since 1.35, taints that do not change are not validated again. */
function validateTaints(
  taints: Json | undefined,
  path: string,
  { release, current }: SliceContext,
): FieldFault[] {
  if (release >= KEPT_TAINTS_SINCE && current !== undefined && isSame(taints, current['taints']))
    return []
  return validateList(itemsOf(taints), path, {
    validate: (taint, place) => validateTaint(taint, place, { release }),
    max: release < KEPT_TAINTS_SINCE ? FEW_TAINTS_MAX : TAINTS_MAX,
    release,
  })
}

/**
 * The first release in which a device may have more taints, and they are validated only if they
 * change.
 */
const KEPT_TAINTS_SINCE = 35

function validateConsumed(
  consumed: readonly Fields[],
  device: string,
  slice: SliceContext,
): FieldFault[] {
  const { release } = slice
  const path = `${device}.consumesCounters`
  const isLater = release >= COUNTERS_BOUNDED_SINCE
  const faults = validateSet(consumed, path, {
    validate: ({ counterSet, counters }, place) => [
      ...validateSetName(textOf(counterSet), `${place}.counterSet`, isLater),
      ...validateCounters(counters, `${place}.counters`, release),
    ],
    key: { of: ({ counterSet }) => textOf(counterSet), name: 'counterSet' },
    max: isLater ? CONSUMED_SETS_MAX : Infinity,
    release,
  })
  if (isLater) return faults
  const total = countersOf(consumed)
  const why = `the total number of counters must not exceed ${COUNTERS_MAX}`
  return [
    ...faults,
    ...(total > COUNTERS_MAX ? [invalidValue(device, total, why)] : []),
    ...faultsOfEach(consumed, (one, at) => validateConsumption(one, `${path}[${at}]`, slice)),
  ]
}

function validateSetName(name: string, path: string, isLater: boolean): FieldFault[] {
  if (name === '') return [required(path)]
  return isLater ? validateLabel(name, path) : []
}

function validateConsumption(
  { counterSet, counters }: Fields,
  path: string,
  slice: SliceContext,
): FieldFault[] {
  const known = slice.counters.get(textOf(counterSet))
  if (known === undefined) {
    const why = 'must reference a counterSet defined in the ResourceSlice sharedCounters'
    return [invalidValue(`${path}.counterSet`, textOf(counterSet), why)]
  }
  const why = 'must reference a counter defined in the ResourceSlice sharedCounters'
  const names = once('names of counters', () => Object.keys(fieldsOf(counters)))
  return faultsOfEach(names, (name) =>
    known.has(name) ? [] : [invalidValue(`${path}.counters`, name, why)],
  )
}

const semver =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$/

function validateAttribute(value: Json | undefined, path: string, release: number): FieldFault[] {
  const attribute = fieldsOf(value)
  const given = ['bool', 'int', 'string', 'version'].filter((type) => attribute[type] !== undefined)
  const { string, version } = attribute
  const limited = (text: Json | undefined, name: string): FieldFault[] =>
    Buffer.byteLength(textOf(text)) > VALUE_BYTES_MAX
      ? [tooLong(`${path}.${name}`, VALUE_BYTES_MAX)]
      : []
  const why = 'exactly one value must be specified'
  const isVersion = version === undefined || semver.test(textOf(version))
  return [
    ...limited(string, 'string'),
    ...(isVersion
      ? []
      : [
          invalidValue(
            `${path}.version`,
            textOf(version),
            'must be a string compatible with semver.org spec 2.0.0',
          ),
        ]),
    ...limited(version, 'version'),
    ...(given.length === 0
      ? [release < WHOLE_ITEMS_SINCE ? required(path, why) : invalidValue(path, '', why)]
      : []),
    ...(given.length > 1 ? [shownAttribute(attribute, path, why)] : []),
  ]
}

/** The error shows the attribute, whose fields have other names in kube-apiserver. */
function shownAttribute(attribute: Fields, path: string, why: string): FieldFault {
  const json = Object.fromEntries(
    Object.entries(attribute).map(([name, value]) => [`${name}Value`, value ?? null]),
  )
  const value = { type: 'resource.DeviceAttribute', json }
  return invalidShown(path, goAttribute(attribute), why, value)
}

const goAttribute = ({ int, bool, string, version }: Fields): string =>
  goStruct('resource.DeviceAttribute', {
    IntValue: goPointer('int64', int !== undefined),
    BoolValue: goPointer('bool', bool !== undefined),
    StringValue: goPointer('string', string !== undefined),
    VersionValue: goPointer('string', version !== undefined),
  })

function validateNodes(device: Fields, path: string, isPerDevice: boolean): FieldFault[] {
  const { nodeName, nodeSelector: selector, allNodes } = device
  const isSaid = nodeName !== undefined || selector !== undefined || allNodes !== undefined
  if (!isPerDevice) {
    const why =
      '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec'
    return isSaid ? [invalidValue(path, null, why)] : []
  }
  const faults: FieldFault[] = []
  const chosen: string[] = []
  if (nodeName === '') faults.push(invalidValue(`${path}.nodeName`, '', 'must not be empty'))
  else if (nodeName !== undefined) {
    chosen.push('`nodeName`')
    faults.push(...validateSubdomain(textOf(nodeName), `${path}.nodeName`))
  }
  if (isFields(selector)) {
    chosen.push('`nodeSelector`')
    addAll(faults, faultsOf(nodeSelector, selector, `${path}.nodeSelector`))
  }
  if (allNodes === true) chosen.push('`allNodes`')
  if (allNodes === false) {
    faults.push(invalidValue(`${path}.allNodes`, false, 'must be either unset or set to true'))
  }
  const why =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec'
  if (chosen.length === 0) faults.push(required(path, why))
  if (chosen.length > 1) faults.push(invalidValue(path, `{${chosen.join(', ')}}`, why))
  return faults
}

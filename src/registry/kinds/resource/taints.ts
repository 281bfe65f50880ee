/**
 * Rules for device taints, for tolerations, and for DeviceTaintRule, which adds taints to devices
 * (gate DRADeviceTaints).
 */
import {
  checked,
  type FieldFault,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from '../../../api/field-fault.ts'
import { defaultGates } from '../../../api/gates.ts'
import { checkLabelValue, checkQualifiedName } from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  type Json,
  type KubeObject,
  listOf,
  textOf,
} from '../../../api/object.ts'
import { celVersionOf } from '../../../objects/cel/kubernetes.ts'
import { inPartsOf, inTurns, type Turns } from '../../../objects/cel/turns.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateConditions } from '../../rules/conditions.ts'
import { validateDriverName } from '../storage/csi-node.ts'
import { validateLabel, validatePoolName, validateSubdomain } from './names.ts'
import { DeviceSelectors, type SelectorOptions } from './selectors.ts'

const effects = ['NoExecute', 'NoSchedule']

/** The first release that has the effect None, and that accepts an effect that does not change. */
const NO_EFFECT_SINCE = 35

/** Validates a taint. `current` is the stored taint that it replaces, if it is known. */
export function validateTaint(
  { key, value, effect }: Fields,
  path: string,
  { release, current }: { readonly release: number; readonly current?: Fields | undefined },
): FieldFault[] {
  const [taintValue, taintEffect] = [textOf(value), textOf(effect)]
  const isKept = current !== undefined && taintEffect === textOf(current['effect'])
  return [
    ...checked(`${path}.key`, textOf(key), checkQualifiedName),
    ...(taintValue === '' ? [] : checked(`${path}.value`, taintValue, checkLabelValue)),
    ...(isKept && release >= NO_EFFECT_SINCE
      ? []
      : taintEffect === ''
        ? [required(`${path}.effect`)]
        : validateEffect(taintEffect, path, release)),
  ]
}

function validateEffect(effect: string, path: string, release: number): FieldFault[] {
  const known = release < NO_EFFECT_SINCE ? effects : [...effects, 'None']
  return known.includes(effect) ? [] : [notSupported(`${path}.effect`, effect, known)]
}

export function validateToleration(
  { key, operator, value, effect }: Fields,
  path: string,
  release: number,
): FieldFault[] {
  return [
    ...(textOf(key) === '' ? [] : checked(`${path}.key`, textOf(key), checkQualifiedName)),
    ...validateOperator(textOf(operator), textOf(value), path),
    ...(textOf(effect) === '' ? [] : validateEffect(textOf(effect), path, release)),
  ]
}

function validateOperator(operator: string, value: string, path: string): FieldFault[] {
  switch (operator) {
    case 'Exists':
      return value === ''
        ? []
        : [invalidValue(`${path}.value`, value, 'must be empty for operator `Exists`')]
    case 'Equal':
      return checked(`${path}.value`, value, checkLabelValue)
    case '':
      return [required(`${path}.operator`)]
    default:
      return [notSupported(`${path}.operator`, operator, ['Equal', 'Exists'])]
  }
}

/** Sets timeAdded, unless the request sets it. */
export function withTime(taint: Json | undefined, now: () => string): Json | undefined {
  return isFields(taint) && (taint['timeAdded'] === undefined || taint['timeAdded'] === null)
    ? { ...taint, timeAdded: now() }
    : taint
}

export const deviceTaintRuleRules: KindRules = {
  strategy: { returnsDeleted: true, generation: { fields: ['spec'] }, statusKeeps: 'metadata' },
  setDefaults: (object, _, now) => {
    const spec = fieldsOf(object['spec'])
    const taint = withTime(spec['taint'] ?? {}, now)
    return taint === spec['taint'] ? object : { ...object, spec: { ...spec, taint } }
  },
  validate: () => [],
  // Validation runs in time slices, so that compiling the CEL expressions of selectors does not
  // block other requests.
  validateInSlices: (object, current, tools, gates = defaultGates) =>
    inTurns((slice) => validateRule(object, current, { gates, slice }), tools),
  // Releases since 1.35 have the status.
  status: { validateUpdate: validateStatus },
}

const CONDITIONS_MAX = 8

function validateStatus(object: KubeObject): FieldFault[] {
  const { conditions } = fieldsOf(object['status'])
  const path = 'status.conditions'
  const count = listOf(conditions).length
  return [
    ...validateConditions(conditions, path),
    ...(count > CONDITIONS_MAX ? [tooMany(path, count, CONDITIONS_MAX)] : []),
  ]
}

const selectorOf = (object: KubeObject | undefined): Fields =>
  fieldsOf(fieldsOf(object?.['spec'])['deviceSelector'])

const taintOf = (object: KubeObject): Fields => fieldsOf(fieldsOf(object['spec'])['taint'])

function* validateRule(
  object: KubeObject,
  current: KubeObject | undefined,
  { gates, slice }: SelectorOptions,
): Turns<FieldFault[]> {
  const path = 'spec.deviceSelector'
  const { release } = gates
  const { deviceClassName, driver, pool, device, selectors } = selectorOf(object)
  const given = (
    value: Json | undefined,
    name: string,
    validate: (text: string, place: string) => FieldFault[],
  ): FieldFault[] =>
    value === undefined || value === null ? [] : validate(textOf(value), `${path}.${name}`)
  const isStored = current !== undefined && isSame(selectors, selectorOf(current)['selectors'])
  const compiled = yield* DeviceSelectors.compile(
    () => [{ selectors }],
    celVersionOf(gates, isStored),
    slice,
  )
  return [
    ...given(deviceClassName, 'deviceClassName', validateSubdomain),
    ...given(driver, 'driver', (text, place) => validateDriverName(text, place, release)),
    ...given(pool, 'pool', validatePoolName),
    ...given(device, 'device', validateLabel),
    ...(yield* inPartsOf(() => compiled.validate(selectors, `${path}.selectors`, release), slice)),
    ...validateTaint(taintOf(object), 'spec.taint', {
      release,
      current: current && taintOf(current),
    }),
  ]
}

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
} from '../../../api/field-fault.ts'
import { defaultGates } from '../../../api/gates.ts'
import { checkLabelValue, checkQualifiedName } from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  type Json,
  type KubeObject,
  textOf,
} from '../../../api/object.ts'
import { celVersionOf } from '../../../objects/cel/kubernetes.ts'
import { inPartsOf, inTurns, type Turns } from '../../../objects/cel/turns.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateDriverName } from '../storage/csi-node.ts'
import { validateLabel, validatePoolName, validateSubdomain } from './names.ts'
import { DeviceSelectors, type SelectorOptions } from './selectors.ts'

const effects = ['NoExecute', 'NoSchedule']

export function validateTaint({ key, value, effect }: Fields, path: string): FieldFault[] {
  const [taintValue, taintEffect] = [textOf(value), textOf(effect)]
  return [
    ...checked(`${path}.key`, textOf(key), checkQualifiedName),
    ...(taintValue === '' ? [] : checked(`${path}.value`, taintValue, checkLabelValue)),
    ...(taintEffect === '' ? [required(`${path}.effect`)] : validateEffect(taintEffect, path)),
  ]
}

const validateEffect = (effect: string, path: string): FieldFault[] =>
  effects.includes(effect) ? [] : [notSupported(`${path}.effect`, effect, effects)]

export function validateToleration(
  { key, operator, value, effect }: Fields,
  path: string,
): FieldFault[] {
  return [
    ...(textOf(key) === '' ? [] : checked(`${path}.key`, textOf(key), checkQualifiedName)),
    ...validateOperator(textOf(operator), textOf(value), path),
    ...(textOf(effect) === '' ? [] : validateEffect(textOf(effect), path)),
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
  strategy: { returnsDeleted: true, generation: { fields: ['spec'] } },
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
}

const selectorOf = (object: KubeObject | undefined): Fields =>
  fieldsOf(fieldsOf(object?.['spec'])['deviceSelector'])

function* validateRule(
  object: KubeObject,
  current: KubeObject | undefined,
  { gates, slice }: SelectorOptions,
): Turns<FieldFault[]> {
  const path = 'spec.deviceSelector'
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
    ...given(driver, 'driver', validateDriverName),
    ...given(pool, 'pool', validatePoolName),
    ...given(device, 'device', validateLabel),
    ...(yield* inPartsOf(() => compiled.validate(selectors, `${path}.selectors`), slice)),
    ...validateTaint(fieldsOf(fieldsOf(object['spec'])['taint']), 'spec.taint'),
  ]
}

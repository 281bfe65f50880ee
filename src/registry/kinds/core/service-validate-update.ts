/**
 * Rules for updates of a Service. The primary cluster IP is immutable. Fields on which other
 * components rely are also immutable.
 */
import {
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  invalidShown,
  invalidValue,
} from '../../../api/field-fault.ts'
import type { Gates } from '../../../api/gates.ts'
import { goStrings } from '../../../api/go-value.ts'
import { type Fields, type KubeObject, numberOf, textOf, textsOf } from '../../../api/object.ts'
import { isHeadless, needsHealthPort, specOf, typeOf } from './service-needs.ts'
import { validate, validateClass } from './service-validate.ts'

const fixed = 'may not change once set'

export function validateUpdate(
  object: KubeObject,
  current: KubeObject,
  gates: Gates,
): FieldFault[] {
  const spec = specOf(object)
  const before = specOf(current)
  return [
    ...validateAddressChange(spec, before),
    ...validateClassChange(spec, before),
    ...validateHealthPort(spec, before),
    ...validate(object, gates, before),
  ]
}

/**
 * Validates changes of addresses. A second address can be added. The second address can be removed
 * if the policy is SingleStack.
 */
function validateAddressChange(spec: Fields, before: Fields): FieldFault[] {
  if (typeOf(spec) === 'ExternalName' || typeOf(before) === 'ExternalName') return []
  if (isHeadless(spec) && isHeadless(before)) return []
  return [
    ...validateList(spec, before, { field: 'clusterIPs', single: 'clusterIP', goType: 'string' }),
    ...validateList(spec, before, {
      field: 'ipFamilies',
      single: 'ipFamily',
      goType: 'core.IPFamily',
    }),
  ]
}

type ListOf = { readonly field: string; readonly single: string; readonly goType: string }

function validateList(
  spec: Fields,
  before: Fields,
  { field, single, goType }: ListOf,
): FieldFault[] {
  const values = textsOf(spec[field])
  const old = textsOf(before[field])
  const shown = goStrings(values, goType)
  const changed = (at: number): FieldFault => invalidShown(`spec.${field}[${at}]`, shown, fixed)
  if (values.length === old.length)
    return faultsOfEach(old, (value, at) => (value === values[at] ? [] : [changed(at)]))
  if (values.length === 0)
    return [invalidShown(`spec.${field}[0]`, shown, `primary ${single} can not be unset`)]
  const faults = old.length > 0 && values[0] !== old[0] ? [changed(0)] : []
  if (values.length > old.length || spec['ipFamilyPolicy'] === 'SingleStack') return faults
  const why = `must be set to 'SingleStack' when releasing the secondary ${single}`
  const policy = spec['ipFamilyPolicy']
  return [
    ...faults,
    invalidValue('spec.ipFamilyPolicy', typeof policy === 'string' ? policy : null, why),
  ]
}

function validateClassChange(spec: Fields, before: Fields): FieldFault[] {
  if (typeOf(spec) !== 'LoadBalancer' || typeOf(before) !== 'LoadBalancer')
    return validateClass(spec)
  const name = spec['loadBalancerClass'] ?? null
  if (name === (before['loadBalancerClass'] ?? null)) return []
  return [invalidValue('spec.loadBalancerClass', name === null ? null : textOf(name), fixed)]
}

function validateHealthPort(spec: Fields, before: Fields): FieldFault[] {
  if (!needsHealthPort(spec) || !needsHealthPort(before)) return []
  const isSame = numberOf(spec['healthCheckNodePort']) === numberOf(before['healthCheckNodePort'])
  return isSame ? [] : [forbiddenField('spec.healthCheckNodePort', 'field is immutable')]
}

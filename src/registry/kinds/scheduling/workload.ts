/**
 * Rules for Workload, which describes groups of Pods that are scheduled together (gate
 * GenericWorkload).
 */
import {
  checked,
  duplicate,
  type FieldFault,
  faultsOfEach,
  invalidShown,
  invalidValue,
  required,
  tooMany,
} from '../../../api/field-fault.ts'
import { checkDnsLabel, checkDnsSubdomain, checkPathSegment } from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  type KubeObject,
  numberOf,
  textOf,
} from '../../../api/object.ts'
import { printOrdered } from '../../../objects/codec/json.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import { repeatsIn } from '../../../lib/scheduling/long-lists.ts'
import type { KindRules } from '../../kind-rules.ts'

const POD_GROUPS_MAX = 8
/** Maximum number of groups in an error. The text of more groups would be cut. */
const SHOWN_GROUPS_MAX = 1_000

const specOf = (object: KubeObject): Fields => fieldsOf(object['spec'])

export const workloadRules: KindRules = {
  strategy: { gate: 'GenericWorkload', updateChecks: ['metadata', 'rules', 'change'] },
  validate,
  validateUpdate: (object, current) => [...validate(object), ...validateChange(object, current)],
}

function validate(object: KubeObject): FieldFault[] {
  const { controllerRef, podGroups } = specOf(object)
  return [
    ...validateController(controllerRef, 'spec.controllerRef'),
    ...validateGroups(itemsOf(podGroups), 'spec.podGroups'),
  ]
}

function validateController(reference: Json | undefined, path: string): FieldFault[] {
  if (!isFields(reference)) return []
  const apiGroup = textOf(reference['apiGroup'])
  const segment = (field: 'kind' | 'name'): FieldFault[] => {
    const value = textOf(reference[field])
    const place = `${path}.${field}`
    return value === '' ? [required(place)] : checked(place, value, checkPathSegment)
  }
  return [
    ...(apiGroup === '' ? [] : checked(`${path}.apiGroup`, apiGroup, checkDnsSubdomain)),
    ...segment('kind'),
    ...segment('name'),
  ]
}

function validateGroups(groups: readonly Fields[], path: string): FieldFault[] {
  if (groups.length === 0) return [required(path, 'must have at least one item')]
  if (groups.length > POD_GROUPS_MAX) return [tooMany(path, groups.length, POD_GROUPS_MAX)]
  const repeats = repeatsIn(groups.map(({ name }) => textOf(name)))
  return faultsOfEach(groups, ({ name, policy }, at) => {
    const place = `${path}[${at}]`
    return [
      ...checked(`${place}.name`, textOf(name), checkDnsLabel),
      ...(repeats.has(at) ? [duplicate(`${place}.name`, textOf(name))] : []),
      ...validatePolicy(fieldsOf(policy), `${place}.policy`),
    ]
  })
}

const NEEDS_ONE = 'exactly one of `basic`, `gang` is required'

function validatePolicy({ basic, gang }: Fields, path: string): FieldFault[] {
  if (isFields(basic) && isFields(gang))
    return [invalidValue(path, '{`basic`, `gang`}', `${NEEDS_ONE}, but multiple fields are set`)]
  if (isFields(basic)) return []
  if (!isFields(gang)) return [required(path, NEEDS_ONE)]
  const count = numberOf(gang['minCount'])
  return count > 0 ? [] : [invalidValue(`${path}.gang.minCount`, count, 'must be greater than 0')]
}

/** Validates an update. As in kube-apiserver, the paths do not begin with `spec`. */
function validateChange(object: KubeObject, current: KubeObject): FieldFault[] {
  const [spec, before] = [specOf(object), specOf(current)]
  const changed = (field: 'controllerRef' | 'podGroups', shown: Json): FieldFault[] =>
    isSame(spec[field], before[field])
      ? []
      : [invalidShown(field, printOrdered(shown), 'field is immutable', { json: shown })]
  return [
    ...(isFields(before['controllerRef'])
      ? changed('controllerRef', shownController(spec['controllerRef']))
      : []),
    ...changed('podGroups', itemsOf(spec['podGroups']).slice(0, SHOWN_GROUPS_MAX).map(shownGroup)),
  ]
}

/** Returns a reference as errors show it, with the names of the fields in Go. */
const shownController = (reference: Json | undefined): Json =>
  isFields(reference)
    ? {
        APIGroup: textOf(reference['apiGroup']),
        Kind: textOf(reference['kind']),
        Name: textOf(reference['name']),
      }
    : null

function shownGroup({ name, policy }: Fields): Json {
  const { basic, gang } = fieldsOf(policy)
  return {
    Name: textOf(name),
    Policy: {
      Basic: isFields(basic) ? {} : null,
      Gang: isFields(gang) ? { MinCount: numberOf(gang['minCount']) } : null,
    },
  }
}

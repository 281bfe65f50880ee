/**
 * Validates the fields with which webhooks and policies select requests and objects: rules,
 * selectors, and match conditions.
 */
import {
  checked,
  duplicate,
  faultsOfEach,
  type FieldFault,
  invalidShown,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from '../../../api/field-fault.ts'
import { goStrings } from '../../../api/go-value.ts'
import { checkPathSegment, checkQualifiedName } from '../../../api/names.ts'
import { type Fields, fieldsOf, itemsOf, type Json, textOf, textsOf } from '../../../api/object.ts'
import type { Turns } from '../../../objects/cel/turns.ts'
import { repeatsIn } from '../../../lib/scheduling/long-lists.ts'
import { once } from '../../../lib/scheduling/parts.ts'
import { validateLabelSelector } from '../../rules/label-selector.ts'
import { eachOf } from './each.ts'
import type { Expressions } from './expression.ts'

const CONDITIONS_MAX = 64
const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const scopes = ['*', 'Cluster', 'Namespaced']
const matchPolicies = ['Equivalent', 'Exact']

export function validateOneOf(
  value: Json | undefined,
  supported: readonly string[],
  path: string,
): FieldFault[] {
  return supported.includes(textOf(value)) ? [] : [notSupported(path, textOf(value), supported)]
}

export const validateMatchPolicy = (value: Json | undefined, path: string): FieldFault[] =>
  validateOneOf(value, matchPolicies, path)

export function validateMatchResources(resources: Fields, path: string): FieldFault[] {
  const rules = (list: string): FieldFault[] =>
    faultsOfEach(itemsOf(resources[list]), (rule, at) => [
      ...validateResourceNames(
        textsOf(rule['resourceNames']),
        `${path}.${list}[${at}].resourceNames`,
      ),
      ...validateRule(rule, `${path}.${list}[${at}]`),
    ])
  return [
    ...validateMatchPolicy(resources['matchPolicy'], `${path}.matchPolicy`),
    ...validateLabelSelector(fieldsOf(resources['namespaceSelector']), `${path}.namespaceSelector`),
    ...validateLabelSelector(fieldsOf(resources['objectSelector']), `${path}.objectSelector`),
    ...rules('resourceRules'),
    ...rules('excludeResourceRules'),
  ]
}

function validateResourceNames(names: readonly string[], path: string): FieldFault[] {
  const repeats = repeatsIn(names)
  return faultsOfEach(names, (name, at) => [
    ...checked(`${path}[${at}]`, name, checkPathSegment),
    ...(repeats.has(at) ? [duplicate(`${path}[${at}]`, name)] : []),
  ])
}

export function validateRule(rule: Fields, path: string): FieldFault[] {
  const texts = textsOf(rule['operations'])
  return [
    ...validateNames(texts, `${path}.operations`, {
      type: 'admissionregistration.OperationType',
      others: 'operations',
      check: (value, at) => validateOneOf(value, operations, at),
    }),
    ...validateNames(textsOf(rule['apiGroups']), `${path}.apiGroups`, {
      others: 'API groups',
      check: () => [],
    }),
    ...validateNames(textsOf(rule['apiVersions']), `${path}.apiVersions`, {
      others: 'API versions',
      check: (value, at) => (value === '' ? [required(at)] : []),
    }),
    ...validateResources(textsOf(rule['resources']), `${path}.resources`),
    ...validateOneOf(rule['scope'], scopes, `${path}.scope`),
  ]
}

type Names = {
  /** Go type of the list of names, which errors show. */
  readonly type?: string
  /** Description, in error messages, of the items that must not be listed together with `*`. */
  readonly others: string
  readonly check: (value: string, path: string) => FieldFault[]
}

function validateNames(
  names: readonly string[],
  path: string,
  { type, others, check }: Names,
): FieldFault[] {
  if (names.length === 0) return [required(path)]
  const isAmbiguous = names.length > 1 && names.includes('*')
  const why = `if '*' is present, must not specify other ${others}`
  return [
    ...(isAmbiguous ? [invalidShown(path, goStrings(names, type), why)] : []),
    ...faultsOfEach(names, (name, at) => check(name, `${path}[${at}]`)),
  ]
}

/**
 * Validates the resources of a rule. A resource must not be listed after a wildcard that covers it,
 * such as `pods/*`.
 */
function validateResources(resources: readonly string[], path: string): FieldFault[] {
  if (resources.length === 0) return [required(path)]
  const before = once('resources of a rule', () => new Set<string>())
  const faults = faultsOfEach(resources, (resource, at) => {
    if (resource === '') return [required(`${path}[${at}]`)]
    const [name = '', subresource] = split(resource)
    if (subresource === undefined) return []
    const found = [`${name}/*`, `*/${subresource}`]
      .filter((pattern) => before.has(pattern))
      .map((pattern) =>
        invalidValue(
          `${path}[${at}]`,
          resource,
          `if '${pattern}' is present, must not specify ${resource}`,
        ),
      )
    before.add(resource)
    return found
  })
  const refuse = (why: string): FieldFault => invalidShown(path, goStrings(resources), why)
  if (resources.length > 1 && resources.includes('*/*')) {
    faults.push(refuse("if '*/*' is present, must not specify other resources"))
  }
  if (resources.includes('*') && resources.some(isPlain)) {
    faults.push(refuse("if '*' is present, must not specify other resources without subresources"))
  }
  return faults
}

const isPlain = (resource: string): boolean =>
  resource !== '*' && resource !== '' && !resource.includes('/')

function split(resource: string): readonly string[] {
  const slash = resource.indexOf('/')
  return slash < 0 ? [resource] : [resource.slice(0, slash), resource.slice(slash + 1)]
}

export function* validateMatchConditions(
  list: Json | undefined,
  path: string,
  expressions: Expressions,
): Turns<FieldFault[]> {
  const conditions = itemsOf(list)
  const repeats = repeatsIn(conditions.map(({ name }) => textOf(name)))
  const { length } = conditions
  const faults = yield* eachOf(
    conditions,
    expressions.slice,
    function* ({ expression, name: given }, at) {
      const name = textOf(given)
      const namePath = `${path}[${at}].name`
      const isRepeated = name !== '' && repeats.has(at)
      const text = textOf(expression).trim()
      const textPath = `${path}[${at}].expression`
      return [
        ...(text === '' ? [required(textPath)] : yield* expressions.checkCondition(text, textPath)),
        ...(name === '' ? [required(namePath)] : checked(namePath, name, checkQualifiedName)),
        ...(isRepeated ? [duplicate(namePath, name)] : []),
      ]
    },
  )
  return length > CONDITIONS_MAX ? [tooMany(path, length, CONDITIONS_MAX), ...faults] : faults
}

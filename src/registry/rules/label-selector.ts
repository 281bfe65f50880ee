/** Validates, matches and formats the label selectors in objects. */
import { quote } from '../../api/quote.ts'
import {
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  invalidValue,
  required,
} from '../../api/field-fault.ts'
import { shownItems } from '../../api/go-value.ts'
import type { Requirement } from '../../api/label-selector.ts'
import { checkLabelValue, checkQualifiedName } from '../../api/names.ts'
import {
  entriesOf,
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  listOf,
  textOf,
  textsOf,
} from '../../api/object.ts'
import { addAll, keysOf } from '../../lib/scheduling/long-lists.ts'
import { everyItem, everyKey, mapEach, once } from '../../lib/scheduling/parts.ts'
import { sortInParts } from '../../lib/scheduling/sort-in-parts.ts'
import { ifPresent, type Rule } from './rule.ts'
import { named } from './scalars.ts'

/** Whether a selector has no requirements, and therefore selects everything. */
export const isEmptySelector = (selector: Fields): boolean =>
  listOf(selector['matchExpressions']).length === 0 &&
  once('count of labels', () => Object.keys(fieldsOf(selector['matchLabels'])).length === 0)

export function validateLabelSelector(selector: Fields, path: string): FieldFault[] {
  return [
    ...validateLabels(selector['matchLabels'], `${path}.matchLabels`),
    ...faultsOfEach(itemsOf(selector['matchExpressions']), (one, at) =>
      validateExpression(one, `${path}.matchExpressions[${at}]`),
    ),
  ]
}

/** Rule for a label selector. It can be absent. */
export const labelSelector: Rule = ifPresent((value, path, { faults }) => {
  addAll(faults, validateLabelSelector(fieldsOf(value), path))
})
export const labelMap: Rule = (value, path, { faults }) => {
  addAll(faults, validateLabels(value, path))
}
export const labelKey: Rule = named(checkQualifiedName)

/** Validates a map of labels. Errors in keys and values have the path of the map. */
export function validateLabels(labels: Json | undefined, path: string): FieldFault[] {
  return faultsOfEach(entriesOf(labels), ([key, value]) => [
    ...checkQualifiedName(key).map((why) => invalidValue(path, key, why)),
    ...checkLabelValue(value).map((why) => invalidValue(path, value, why)),
  ])
}

function validateExpression(expression: Fields, path: string): FieldFault[] {
  const operator = textOf(expression['operator'])
  const key = textOf(expression['key'])
  const values = valuesOf(expression)
  return [
    ...validateOperator(operator, values.length, path),
    ...checkQualifiedName(key).map((why) => invalidValue(`${path}.key`, key, why)),
    ...faultsOfEach(values, (value, at) =>
      checkLabelValue(value).map((why) => invalidValue(`${path}.values[${at}]`, value, why)),
    ),
  ]
}

function validateOperator(operator: string, valueCount: number, path: string): FieldFault[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return valueCount > 0
        ? []
        : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")]
    case 'Exists':
    case 'DoesNotExist':
      return valueCount === 0
        ? []
        : [
            forbiddenField(
              `${path}.values`,
              "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
          ]
    default:
      return [invalidValue(`${path}.operator`, operator, 'not a valid selector operator')]
  }
}

const operators: { readonly [operator: string]: 'in' | 'notin' | 'exists' | 'absent' } = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: 'absent',
}

/**
 * Returns the requirements of a selector. Returns undefined for an invalid selector, whose errors
 * validation reports.
 */
export function requirementsOf(selector: Fields): readonly Requirement[] | undefined {
  if (validateLabelSelector(selector, '').length > 0) return undefined
  return [
    ...mapEach(
      'requirements of labels',
      entriesOf(selector['matchLabels']),
      ([key, value]): Requirement => ({ key, operator: 'in', values: new Set([value]) }),
    ),
    ...mapEach(
      'requirements of expressions',
      itemsOf(selector['matchExpressions']),
      (expression): Requirement => {
        const key = textOf(expression['key'])
        const operator = operators[textOf(expression['operator'])] ?? 'exists'
        return operator === 'in' || operator === 'notin'
          ? { key, operator, values: keysOf(valuesOf(expression), (value) => value) }
          : { key, operator }
      },
    ),
  ]
}

/**
 * Whether a selector selects labels. An absent or invalid selector selects nothing; an empty
 * selector selects all labels. A selector can have a hundred thousand values, so it is validated
 * only if it matches. Most selectors do not match.
 */
export function selects(selector: Json | undefined, labels: Fields | undefined): boolean {
  if (selector === undefined || selector === null) return false
  const fields = fieldsOf(selector)
  return matches(fields, labels ?? {}) && validateLabelSelector(fields, '').length === 0
}

function matches({ matchLabels, matchExpressions }: Fields, labels: Fields): boolean {
  const wanted = fieldsOf(matchLabels)
  const isWanted = (key: string): boolean =>
    Object.hasOwn(labels, key) && labels[key] === textOf(wanted[key])
  if (!everyKey('matched labels', wanted, isWanted)) return false
  return everyItem('matched expressions', listOf(matchExpressions), (expression) => {
    const { key, operator, values } = fieldsOf(expression)
    const label = Object.hasOwn(labels, textOf(key)) ? labels[textOf(key)] : undefined
    const isOneOf = (): boolean => label !== undefined && listOf(values).includes(label)
    switch (textOf(operator)) {
      case 'In':
        return isOneOf()
      case 'NotIn':
        return !isOneOf()
      case 'Exists':
        return label !== undefined
      case 'DoesNotExist':
        return label === undefined
      default:
        return false
    }
  })
}

/** Formats a selector like the labelSelector parameter of a list request, sorted by key. */
export function printLabelSelector(selector: Fields): string {
  const terms = [
    ...Object.entries(fieldsOf(selector['matchLabels'])).map(
      ([key, value]) => [key, `${key}=${textOf(value)}`] as const,
    ),
    ...itemsOf(selector['matchExpressions']).map(
      (one) => [textOf(one['key']), printExpression(one)] as const,
    ),
  ]
  return terms
    .toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .map(([, text]) => text)
    .join(',')
}

function printExpression(expression: Fields): string {
  const key = textOf(expression['key'])
  const values = `(${valuesOf(expression).toSorted().join(',')})`
  const operator = operators[textOf(expression['operator'])]
  if (operator === 'in' || operator === 'notin') return `${key} ${operator} ${values}`
  return operator === 'absent' ? `!${key}` : key
}

/** Formats a selector as Go does with %#v. */
export function goLabelSelector(selector: Fields): string {
  const { matchLabels, matchExpressions } = selector
  const list = '[]v1.LabelSelectorRequirement'
  const isGiven = Array.isArray(matchExpressions)
  const shown = isGiven
    ? `${list}{${shownItems(itemsOf(matchExpressions), goRequirement)}}`
    : `${list}(nil)`
  return `v1.LabelSelector{MatchLabels:${goLabels(matchLabels)}, MatchExpressions:${shown}}`
}

function goRequirement(one: Fields): string {
  const values = Array.isArray(one['values'])
    ? `[]string{${shownItems(valuesOf(one), quote)}}`
    : '[]string(nil)'
  const [key, operator] = [quote(textOf(one['key'])), quote(textOf(one['operator']))]
  return `v1.LabelSelectorRequirement{Key:${key}, Operator:${operator}, Values:${values}}`
}

/** Formats labels as Go does, sorted by key: `map[string]string{"a":"b"}`. */
export function goLabels(labels: Json | undefined): string {
  if (labels === undefined || labels === null) return 'map[string]string(nil)'
  const entries = sortInParts('shown labels', entriesOf(labels), ([one], [other]) =>
    one < other ? -1 : 1,
  )
  const member = ([key, value]: (typeof entries)[number]): string => `${quote(key)}:${quote(value)}`
  return `map[string]string{${shownItems(entries, member)}}`
}

const valuesOf = ({ values }: Fields): readonly string[] => textsOf(values)

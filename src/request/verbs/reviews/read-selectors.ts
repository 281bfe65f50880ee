/**
 * Reads the selectors in an access review. If a selector or requirement cannot be parsed, it is
 * ignored, and the error is reported in the review's evaluationError.
 */
import type { AccessSelectors } from '../../../api/access.ts'
import { ApiError } from '../../../api/errors.ts'
import { type FieldTerm, parseFieldSelector } from '../../../api/field-selector.ts'
import { parseLabelSelector, type Requirement } from '../../../api/label-selector.ts'
import { type Fields, fieldsOf, itemsOf, textOf, textsOf } from '../../../api/object.ts'

type ReadSelectors = {
  /** The parsed selectors. Undefined if the review has none. */
  readonly selectors: AccessSelectors | undefined
  readonly faults: readonly string[]
}

export function readSelectors({ fieldSelector, labelSelector }: Fields): ReadSelectors {
  const fields = readSelector(fieldsOf(fieldSelector), {
    parse: parseFieldSelector,
    read: readTerm,
  })
  const labels = readSelector(fieldsOf(labelSelector), {
    parse: parseLabelSelector,
    read: readRequirement,
  })
  const isEmpty = fields.terms.length === 0 && labels.terms.length === 0
  return {
    selectors: isEmpty ? undefined : { fields: fields.terms, labels: labels.terms },
    faults: [...faultOf('fieldSelector', fields), ...faultOf('labelSelector', labels)],
  }
}

type SelectorTerms<T> = { readonly terms: readonly T[]; readonly isAll: boolean }

function faultOf(field: string, { terms, isAll }: SelectorTerms<unknown>): string[] {
  if (isAll) return []
  return [
    `spec.resourceAttributes.${field} ${terms.length > 0 ? 'partially ' : ''}ignored due to parse error`,
  ]
}

type SelectorReader<T> = {
  readonly parse: (text: string) => readonly T[]
  /** Converts a requirement of a selector. Returns undefined if the requirement cannot be used. */
  readonly read: (requirement: Fields) => T | undefined
}

/**
 * Reads one selector. Validation ensures that the selector does not contain both a string and
 * requirements.
 */
function readSelector<T>(
  { rawSelector, requirements }: Fields,
  { parse, read }: SelectorReader<T>,
): SelectorTerms<T> {
  const list = itemsOf(requirements)
  if (list.length > 0) {
    const terms = list.flatMap((requirement) => read(requirement) ?? [])
    return { terms, isAll: terms.length === list.length }
  }
  try {
    return { terms: parse(textOf(rawSelector)), isAll: true }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { terms: [], isAll: false }
  }
}

/** Reads a requirement on a field. It must compare the field with a single value. */
function readTerm({ key, operator, values }: Fields): FieldTerm | undefined {
  const [value, ...others] = textsOf(values)
  if (value === undefined || others.length > 0 || (operator !== 'In' && operator !== 'NotIn'))
    return undefined
  return { field: textOf(key), isEqual: operator === 'In', value }
}

function readRequirement({
  key: keyField,
  operator,
  values: list,
}: Fields): Requirement | undefined {
  const key = textOf(keyField)
  const values = new Set(textsOf(list))
  switch (textOf(operator)) {
    case 'In':
      return { key, operator: 'in', values }
    case 'NotIn':
      return { key, operator: 'notin', values }
    case 'Exists':
      return { key, operator: 'exists' }
    case 'DoesNotExist':
      return { key, operator: 'absent' }
    default:
      return undefined
  }
}

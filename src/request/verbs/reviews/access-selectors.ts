/**
 * Validates the selectors in access reviews. Each selector is a string or a list of requirements.
 * Unknown operators are not an error here.
 */
import {
  checked,
  type FieldFault,
  faultsOfEach,
  forbiddenField,
  invalidValue,
  required,
  tooLong,
  tooMany,
} from '../../../api/field-fault.ts'
import { REQUIREMENTS_MAX, VALUES_MAX } from '../../../api/label-selector.ts'
import { checkLabelValue, checkQualifiedName } from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  listOf,
  textOf,
  textsOf,
} from '../../../api/object.ts'

/**
 * Maximum length of a selector that is a string. In a real request, the selector is part of the
 * URL, which cannot be longer.
 */
const RAW_BYTES_MAX = 1 << 20

/**
 * Validates the sizes of the selectors. Must be called before any other code reads them. A selector
 * in a review can be as large as a selector in the query of a request.
 */
export function validateSelectorSizes({ spec }: Fields): FieldFault[] {
  const { fieldSelector, labelSelector } = fieldsOf(fieldsOf(spec)['resourceAttributes'])
  return [
    ...validateSize(fieldSelector, 'spec.resourceAttributes.fieldSelector'),
    ...validateSize(labelSelector, 'spec.resourceAttributes.labelSelector'),
  ]
}

function validateSize(selector: Json | undefined, path: string): FieldFault[] {
  const { rawSelector, requirements } = fieldsOf(selector)
  if (textOf(rawSelector).length > RAW_BYTES_MAX)
    return [tooLong(`${path}.rawSelector`, RAW_BYTES_MAX)]
  const list = listOf(requirements)
  if (list.length > REQUIREMENTS_MAX)
    return [tooMany(`${path}.requirements`, list.length, REQUIREMENTS_MAX)]
  let values = 0
  for (const [at, requirement] of list.entries()) {
    values += listOf(fieldsOf(requirement)['values']).length
    if (values > VALUES_MAX)
      return [tooMany(`${path}.requirements[${at}].values`, values, VALUES_MAX)]
  }
  return []
}

export const validateFieldRequirements = (selector: Json | undefined, path: string): FieldFault[] =>
  validateSelector(selector, path, (requirement, at) => [
    ...(textOf(requirement['key']) === '' ? [required(`${at}.key`, 'must be specified')] : []),
    ...validateValues(requirement, at),
  ])

export const validateLabelRequirements = (selector: Json | undefined, path: string): FieldFault[] =>
  validateSelector(selector, path, (requirement, at) => [
    ...validateValues(requirement, at),
    ...checked(`${at}.key`, textOf(requirement['key']), checkQualifiedName),
    ...faultsOfEach(textsOf(requirement['values']), (value, index) =>
      checked(`${at}.values[${index}]`, value, checkLabelValue),
    ),
  ])

function validateSelector(
  selector: Json | undefined,
  path: string,
  validate: (requirement: Fields, path: string) => FieldFault[],
): FieldFault[] {
  if (selector === undefined) return []
  const { rawSelector, requirements } = fieldsOf(selector)
  const raw = textOf(rawSelector)
  const list = itemsOf(requirements)
  if (raw !== '' && list.length > 0) {
    return [
      invalidValue(
        `${path}.rawSelector`,
        raw,
        'may not specified at the same time as requirements',
      ),
    ]
  }
  if (raw === '' && list.length === 0) {
    const why = `when ${path} is specified, requirements or rawSelector is required`
    return [required(`${path}.requirements`, why)]
  }
  return faultsOfEach(list, (requirement, at) =>
    validate(requirement, `${path}.requirements[${at}]`),
  )
}

function validateValues({ operator, values }: Fields, path: string): FieldFault[] {
  const count = textsOf(values).length
  switch (textOf(operator)) {
    case 'In':
    case 'NotIn':
      if (count > 0) return []
      return [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")]
    case 'Exists':
    case 'DoesNotExist':
      if (count === 0) return []
      return [
        forbiddenField(
          `${path}.values`,
          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        ),
      ]
    default:
      return []
  }
}

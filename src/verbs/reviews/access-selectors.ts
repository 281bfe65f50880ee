/** Validates the selectors in access reviews: a text, or a list of requirements. Unknown operators are not an error here. */
import { checked, type FieldFault, forbiddenField, invalidValue, required } from '../../api/field-fault.ts'
import { checkLabelValue, checkQualifiedName } from '../../api/names.ts'
import { type Fields, fieldsOf, itemsOf, type Json, textOf, textsOf } from '../../api/object.ts'

export const validateFieldRequirements = (selector: Json | undefined, path: string): FieldFault[] =>
  validateSelector(selector, path, (requirement, at) => [
    ...(textOf(requirement['key']) === '' ? [required(`${at}.key`, 'must be specified')] : []),
    ...validateValues(requirement, at),
  ])

export const validateLabelRequirements = (selector: Json | undefined, path: string): FieldFault[] =>
  validateSelector(selector, path, (requirement, at) => [
    ...validateValues(requirement, at),
    ...checked(`${at}.key`, textOf(requirement['key']), checkQualifiedName),
    ...textsOf(requirement['values']).flatMap((value, index) =>
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
    return [invalidValue(`${path}.rawSelector`, raw, 'may not specified at the same time as requirements')]
  }
  if (raw === '' && list.length === 0) {
    const why = `when ${path} is specified, requirements or rawSelector is required`
    return [required(`${path}.requirements`, why)]
  }
  return list.flatMap((requirement, at) => validate(requirement, `${path}.requirements[${at}]`))
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
      return [forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
    default:
      return []
  }
}

/** Rules for references to other objects by group, kind and name. */
import { checked, type FieldFault, required } from '../../api/field-fault.ts'
import { checkDnsSubdomain, checkPathSegment } from '../../api/names.ts'
import { type Fields, type Json, textOf } from '../../api/object.ts'

/**
 * Validates one of the names in a reference. The name must be a valid path segment, because it
 * becomes part of a path.
 */
export function validateSegment(path: string, value: Json | undefined, missing = ''): FieldFault[] {
  const text = textOf(value)
  return text === '' ? [required(path, missing)] : checked(path, text, checkPathSegment)
}

/**
 * Validates a reference to an object of any kind in the same namespace. The group can be absent,
 * but must not be empty.
 */
export function validateTypedReference(
  path: string,
  { apiGroup, kind, name }: Fields,
): FieldFault[] {
  return [
    ...(typeof apiGroup === 'string'
      ? checked(`${path}.apiGroup`, apiGroup, checkDnsSubdomain)
      : []),
    ...validateSegment(`${path}.kind`, kind, 'kind is required'),
    ...validateSegment(`${path}.name`, name, 'name is required'),
  ]
}

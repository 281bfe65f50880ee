/** Comparisons of values by the types of the catalogue, for rules about immutable fields. */
import type { Json } from '../../api/object.ts'
import { type Equality, isEqual } from '../../objects/schema/equal.ts'
import { typeOf } from '../types.ts'

/**
 * `isEqualAs('core/v1 PodSpec', now, stored)`: whether two structs of that type are equal as
 * upstream compares them.
 */
export function isEqualAs(
  type: `${string} ${string}`,
  now: Json | undefined,
  stored: Json | undefined,
  equality?: Equality,
): boolean {
  const [packageName = '', typeName = ''] = type.split(' ')
  return isEqual(typeOf(packageName, typeName), now, stored, equality)
}

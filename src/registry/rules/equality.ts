/** Comparison of values by the types of the catalogue, for rules about immutable fields. */
import type { Json } from '../../api/object.ts'
import { type Equality, isEqual } from '../../objects/schema/equal.ts'
import { typeOf } from '../types.ts'

/**
 * Whether two structs of a type are equal as kube-apiserver compares them: `isEqualAs('core/v1
 * PodSpec', now, stored)`.
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

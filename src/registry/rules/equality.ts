/** Compares values by their type in the catalog. Rules for immutable fields use these functions. */
import type { Json } from '../../api/object.ts'
import { type Equality, isEqual } from '../../objects/schema/equal.ts'
import { commonType } from '../types.ts'

/**
 * Whether two structs of a type are equal according to kube-apiserver's rules. Example:
 * `isEqualAs('core/v1 Secret', now, stored)`. The type must have the same fields in all releases of
 * Kubernetes.
 */
export function isEqualAs(
  type: `${string} ${string}`,
  now: Json | undefined,
  stored: Json | undefined,
  equality?: Equality,
): boolean {
  const [packageName = '', typeName = ''] = type.split(' ')
  return isEqual(commonType(packageName, typeName), now, stored, equality)
}

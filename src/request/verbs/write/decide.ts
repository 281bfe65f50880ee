/** Determines what an update writes, and whether it writes at all. */
import { isSameButTimes } from '../../../objects/apply/managers.ts'
import { isEqual, isSurelyOther } from '../../../objects/apply/value.ts'
import { once } from '../../../lib/scheduling/parts.ts'
import { type Fields, type KubeObject, withManagedFields } from '../../../api/object.ts'
import {
  encodeStored,
  hasEmptyMetadata,
  isOutdated,
  withoutNullBytes,
} from '../../../objects/codec/object.ts'
import type { ObjectSchema } from '../../../objects/schema/object-schema.ts'
import type { Decision } from '../../../storage/store.ts'
import type { Resource } from '../../../registry/resource.ts'
import { isReleased } from '../../../registry/deletion.ts'

export type WriteDecision = { readonly object: KubeObject; readonly decision: Decision }

/**
 * Determines the result of a write. `before` is the stored object, or undefined if the object is
 * new.
 */
export function decide(
  resource: Resource,
  object: KubeObject,
  before: KubeObject | undefined,
): WriteDecision {
  if (before === undefined) {
    const created = withoutVersion(object)
    return { object: created, decision: { put: encodeStored(created, resource.shape) } }
  }
  if (isReleased(object, before, resource.deletion)) return { object, decision: 'delete' }
  return decidePut(object, before, resource.shape)
}

/**
 * Determines the result of an update. If the update changes nothing, or only timestamps in
 * managedFields, nothing is written.
 */
function decidePut(object: KubeObject, before: KubeObject, shape: ObjectSchema): WriteDecision {
  const { managedFields } = before.metadata
  const isRetimed = isSameButTimes(object.metadata['managedFields'], managedFields)
  const same = isRetimed ? withManagedFields(object, managedFields) : object
  const [plain, plainBefore] = once(
    'without version',
    () => [withoutVersion(same), withoutVersion(before)] as const,
  )
  const isReadOtherwise =
    withoutNullBytes(object, shape) !== object ||
    (shape.custom !== undefined && shape.stored === undefined && hasEmptyMetadata(object))
  // Compare the stored forms, because objects that differ can have the same stored bytes. For
  // example, a list can be empty in one and absent in the other. They can also differ only in a
  // field that the stored version of a custom resource does not have.
  const form = shape.custom === undefined ? undefined : shape.stored
  const isOther = once('is other object', () =>
    isOtherObject(form?.toStored(plain) ?? plain, form?.toStored(plainBefore) ?? plainBefore),
  )
  const isUnchanged = !isOther && once('is unchanged', () => isEqual(plain, plainBefore))
  // An object is stored again if its stored form differs from the form that would be written now.
  if (isOutdated(before) || isReadOtherwise) {
    const kept = isUnchanged ? same : object
    return { object: kept, decision: { put: encodeStored(kept, shape) } }
  }
  if (isUnchanged) return { object: same, decision: 'unchanged' }
  const isStored =
    !isOther &&
    once('encode after', () => encodeStored(same, shape)).equals(
      once('encode before', () => encodeStored(before, shape)),
    )
  if (isStored) return { object: same, decision: 'unchanged' }
  return { object, decision: { put: encodeStored(object, shape) } }
}

/**
 * Like `isSurelyOther`, but compares metadata last. Almost every write changes spec or status, and
 * comparing metadata takes longer because it contains managedFields.
 */
function isOtherObject(one: Fields, other: Fields): boolean {
  for (const key in one) if (key !== 'metadata' && isSurelyOther(one[key], other[key])) return true
  return isSurelyOther(one, other)
}

function withoutVersion(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** What was written, as the answer shows it and as the cache will have it. */
import type { KubeObject } from '../../api/object.ts'
import { hasEmptyMetadata, markOutdated, printWire, wireOfStored, withoutEmptyMetadata } from '../../codec/object.ts'
import type { Resource } from '../../registry/resource.ts'
import { isSame } from '../../schema/equal.ts'
import type { ObjectSchema } from '../../schema/object-schema.ts'
import type { Key, Revision } from '../../storage/engine.ts'
import type { WriteAccess } from '../access.ts'
import type { Written } from '../represent/representation.ts'

/** The object as it is now, for the answer and for the cache, which then need not read it from the database. */
export function written(
  object: KubeObject,
  key: Key,
  revision: Revision,
  { resource, access, stored }: { readonly resource: Resource; readonly access: WriteAccess; readonly stored?: Buffer },
): Written {
  const { object: form, isOther } = asStored(object, resource.shape)
  const current = withVersion(form, revision)
  if (isOther) markOutdated(current)
  const made = stored === undefined || form !== object ? undefined : wireOfStored(stored, current, resource.shape)
  const wire = made ?? printWire(current, resource.shape)
  access.reader.expect(key, revision, current, wire)
  return { object: current, json: wire.bytes }
}

type Stored = {
  readonly object: KubeObject
  /** Whether it is stored otherwise than it would be, were it read and written again. */
  readonly isOther: boolean
}

/** Of a custom kind: what the stored version does not know is lost, and what was dropped has its defaults again. */
export function asStored(object: KubeObject, { custom, stored, setDefaults, isDefaultedAgain }: ObjectSchema): Stored {
  if (custom === undefined) {
    if (isDefaultedAgain !== true) return { object, isOther: false }
    const whole = setDefaults(object)
    return { object: whole, isOther: !isSame(whole, object) }
  }
  const kept = stored?.toStored(withoutEmptyMetadata(object)) ?? object
  const whole = stored?.fromStored(kept) ?? setDefaults(object)
  const isOther = hasEmptyMetadata(kept) || (stored === undefined ? whole !== object : !custom.isCurrent(kept))
  return { object: withoutEmptyMetadata(whole), isOther }
}

export function withVersion(object: KubeObject, revision: Revision): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: `${revision}` } }
}

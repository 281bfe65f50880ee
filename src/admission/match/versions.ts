/** Objects in the version that a webhook or a policy asks for (matchPolicy Equivalent). */
import type { KubeObject } from '../../api/object.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { apiVersionOf, type Resource } from '../../registry/resource.ts'

export type GroupVersionKind = {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** The kind of the objects at a path: that of the resource, or the subresource's own. */
export function kindAt(
  { group, version, kind, subresources }: Resource,
  subresource: string,
): GroupVersionKind {
  const own = subresource === '' ? undefined : subresources.find(({ name }) => name === subresource)
  return own === undefined
    ? { group, version, kind }
    : { group: own.group, version: own.version, kind: own.kind }
}

/** Converts custom objects by the webhook of their definition. Fails with an ApiError. */
export type ConvertByWebhook = (
  object: KubeObject,
  from: Resource,
  to: Resource,
) => Promise<KubeObject>

export type Conversion = {
  readonly from: Resource
  readonly to: Resource
  readonly subresource: string
}

/** A Scale or an Eviction is the same in all versions of its resource. */
export function convertTo(
  object: KubeObject,
  { from, to, subresource }: Conversion,
  convertByWebhook: ConvertByWebhook,
): MaybePromise<KubeObject> {
  if (from === to || kindAt(from, subresource).kind !== from.kind) return object
  if (from.versions.conversionWebhook !== undefined) return convertByWebhook(object, from, to)
  if (from.isCustom) return { ...object, apiVersion: apiVersionOf(to) }
  const stored = from.shape.stored?.toStored(object) ?? object
  return to.shape.stored?.fromStored(stored) ?? { ...stored, apiVersion: apiVersionOf(to) }
}

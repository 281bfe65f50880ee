/** Converts objects to the version that a webhook or policy names (matchPolicy Equivalent). */
import type { KubeObject } from '../../api/object.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { apiVersionOf, type Resource } from '../../registry/resource.ts'

export type GroupVersionKind = {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/**
 * Returns the kind of the object in a request: the kind of the resource, unless the subresource has
 * its own kind, such as Scale.
 */
export function kindAt(
  { group, version, kind, subresources }: Resource,
  subresource: string,
): GroupVersionKind {
  const own = subresource === '' ? undefined : subresources.find(({ name }) => name === subresource)
  return own === undefined
    ? { group, version, kind }
    : { group: own.group, version: own.version, kind: own.kind }
}

/**
 * Converts a custom object with the webhook of its CustomResourceDefinition. Fails with an ApiError
 * if the webhook does not return a valid object.
 */
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

/**
 * Converts an object to another version. A Scale or an Eviction does not change, because it is the
 * same in all versions of the resource.
 */
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

/**
 * The objects of a request, converted to the versions that the rules of webhooks name. For each
 * version, an object is converted and encoded only once.
 */
import { ApiError, internalError } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { objectText } from '../../objects/codec/object.ts'
import type { Resource } from '../../registry/resource.ts'
import type { ObjectSchema } from '../../objects/schema/object-schema.ts'
import type { Attributes } from '../admission.ts'
import { type ConvertByWebhook, convertTo, kindAt } from '../match/versions.ts'

export type VersionedObjects = {
  readonly shape: ObjectSchema
  readonly object: VersionedObject | undefined
  readonly oldObject: VersionedObject | undefined
}

export class VersionedObject {
  readonly object: KubeObject
  readonly #shape: ObjectSchema
  #text: string | undefined

  constructor(object: KubeObject, shape: ObjectSchema) {
    this.object = object
    this.#shape = shape
  }

  /** The JSON of the object. */
  get text(): string {
    return (this.#text ??= objectText(this.object, this.#shape.struct))
  }
}

export class Versions {
  readonly #attributes: Attributes
  readonly #convertByWebhook: ConvertByWebhook
  readonly #made = new Map<Resource, VersionedObjects>()

  constructor(attributes: Attributes, convertByWebhook: ConvertByWebhook) {
    this.#attributes = attributes
    this.#convertByWebhook = convertByWebhook
  }

  async in(resource: Resource): Promise<VersionedObjects> {
    const known = this.#made.get(resource)
    if (known !== undefined) return known
    const { resource: own, subresource, object, oldObject } = this.#attributes
    const isOfResource = kindAt(own, subresource).kind === own.kind
    const shape = isOfResource ? resource.shape : this.#attributes.shape()
    const convert = async (one: KubeObject | undefined): Promise<VersionedObject | undefined> => {
      if (one === undefined) return undefined
      const versions = { from: own, to: resource, subresource }
      return new VersionedObject(
        await orInternal(() => convertTo(one, versions, this.#convertByWebhook)),
        shape,
      )
    }
    const made = { shape, object: await convert(object), oldObject: await convert(oldObject) }
    this.#made.set(resource, made)
    return made
  }
}

/**
 * Runs a conversion. If it fails, throws an internal error, as kube-apiserver does, because an
 * object that cannot be converted cannot be sent to the webhook.
 */
async function orInternal<T>(convert: () => MaybePromise<T>): Promise<T> {
  try {
    return await convert()
  } catch (error) {
    throw error instanceof ApiError ? internalError(error.message, error) : error
  }
}

/** From the version that objects are stored in to the one that a request asks for, and back, where a webhook must be asked. */
import { LruMap } from '../../lib/lru-map.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Item } from '../../cache/item.ts'
import type { Cache } from '../../cache/cache.ts'
import { printWire } from '../../codec/object.ts'
import { apiVersionOf, type Resource } from '../../registry/resource.ts'
import type { ConversionWebhook } from '../../webhooks/conversion.ts'

/** Converted objects that are kept: a client that reads one again, or watches, does not make the webhook work again. */
const KEPT_MAX = 1000

export class Converter {
  readonly resource: Resource
  readonly #webhook: ConversionWebhook
  readonly #cache: Cache
  readonly #kept = new LruMap<string, KubeObject>(KEPT_MAX)

  constructor(resource: Resource, webhook: ConversionWebhook, cache: Cache) {
    this.resource = resource
    this.#cache = cache
    this.#webhook = webhook
  }

  /** Items as the resource has them. */
  async items(items: readonly Item[]): Promise<readonly Item[]> {
    const wanted = apiVersionOf(this.resource)
    const missing = items.filter(
      (item) => item.object().apiVersion !== wanted && this.#kept.get(idOf(item)) === undefined,
    )
    const made = new Map<Item, KubeObject>()
    for (const group of Map.groupBy(missing, (item) => item.object().apiVersion).values()) {
      const objects = await this.#convert(group.map((item) => item.object()))
      for (const [at, item] of group.entries()) {
        const object = objects[at]
        if (object === undefined) continue
        made.set(item, object)
        this.#kept.set(idOf(item), object)
      }
    }
    return items.map((item) => {
      const object = made.get(item) ?? this.#kept.get(idOf(item))
      if (object === undefined) return item
      const { key, revision, createRevision } = item
      const print = (one: KubeObject) => printWire(one, this.resource.shape)
      return this.#cache.looseItem({ key, revision, createRevision }, object, print)
    })
  }

  /** An object as the resource has it. */
  async object(object: KubeObject): Promise<KubeObject> {
    if (object.apiVersion === apiVersionOf(this.resource)) return object
    const [converted] = await this.#convert([object])
    return converted ?? object
  }

  /** An object of the resource in the version that is stored. */
  async toStored(object: KubeObject, stored: Resource): Promise<KubeObject> {
    const apiVersion = apiVersionOf(stored)
    if (object.apiVersion === apiVersion) return object
    const [converted] = await this.#webhook.convert([object], apiVersion, this.resource.shape.struct)
    return converted === undefined ? object : (stored.shape.custom?.prune(converted).object ?? converted)
  }

  /** What the webhook made is not checked, but what the schema does not know is left out. */
  async #convert(objects: readonly KubeObject[]): Promise<readonly KubeObject[]> {
    const { shape } = this.resource
    const converted = await this.#webhook.convert(objects, apiVersionOf(this.resource), shape.struct)
    return converted.map((object) => shape.custom?.prune(object).object ?? object)
  }
}

const idOf = ({ key, revision }: Item): string => `${revision} ${key}`

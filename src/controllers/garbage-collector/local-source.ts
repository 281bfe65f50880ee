/** A resource of this server. The objects of the resource are in the cache. */
import { Informer } from '../../storage/cache/informer.ts'
import { ifDecodable } from '../../storage/cache/if-decodable.ts'
import type { Item } from '../../storage/cache/item.ts'
import type { Resource } from '../../registry/resource.ts'
import { headOf, type ObjectHead, type OwnerReference } from '../object-head.ts'
import type { CacheAccess } from '../cache-access.ts'
import type { Key } from './graph.ts'
import type { ObjectsInformer, SourceObject, Source, SourceListener } from './source.ts'

export class LocalSource implements Source {
  readonly resource: Resource
  readonly keys: CacheAccess['keys']
  readonly remote = undefined
  readonly #reader: CacheAccess['reader']

  constructor(resource: Resource, { keys, reader }: CacheAccess) {
    this.resource = resource
    this.keys = keys
    this.#reader = reader
  }

  /**
   * The object that reads the resource from the cache. When the CustomResourceDefinition changes,
   * another object replaces it.
   */
  get identity(): object {
    return this.#reader
  }

  known(key: Key): SourceObject | 'unknown' | undefined {
    const objects = this.#reader.known()
    if (objects === undefined) return 'unknown'
    const item = objects.get(key)
    return item && new LocalSourceObject(item)
  }

  async get(key: Key, at: 'any' | 'latest'): Promise<SourceObject | undefined> {
    const { item } = await this.#reader.get(key, at)
    return item && new LocalSourceObject(item)
  }

  async isSomewhere({ name, uid }: OwnerReference): Promise<boolean> {
    const hasName = this.keys.hasName(name)
    const { items } = await this.#reader.list(this.keys.range(), 'any', {
      name,
      matches: ({ key }) => hasName(key),
    })
    return items.some((item) => headOf(item).uid === uid)
  }

  follow({ set, known, log, time }: SourceListener): ObjectsInformer {
    const informer = new Informer<ObjectHead>({
      isBackground: true,
      name: `${this.resource.plural} of the garbage collector`,
      reader: this.#reader,
      range: this.keys.range(),
      read: headOf,
      set,
      // An object that cannot be decoded still exists, so its dependents must be kept.
      unreadable: () => undefined,
      known,
      log,
      time,
    })
    const listed = informer.start()
    return {
      listed,
      tried: listed,
      latest: (signal) => informer.latest(signal),
      [Symbol.asyncDispose]: () => informer[Symbol.asyncDispose](),
    }
  }
}

class LocalSourceObject implements SourceObject {
  readonly #item: Item

  constructor(item: Item) {
    this.#item = item
  }

  get key(): Key {
    return this.#item.key
  }

  get resourceVersion(): string {
    return String(this.#item.revision)
  }

  head(): ObjectHead {
    return headOf(this.#item)
  }

  ownerHead(): ObjectHead | undefined {
    return ifDecodable(this.#item, headOf)
  }
}

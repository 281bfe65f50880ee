import type { InformerAccess } from '../storage/cache/informer-by-name.ts'
import type { ObjectReader } from '../storage/cache/reader.ts'
import type { Resource } from '../registry/resource.ts'

/**
 * How controllers read the objects of a resource: from the cache of the server. They write through
 * the handler.
 */
export type CacheAccess = {
  readonly keys: InformerAccess['keys']
  readonly reader: Pick<ObjectReader, 'known' | 'get' | 'list' | 'watch'>
}

export type CacheAccessOf = (resource: Resource) => CacheAccess

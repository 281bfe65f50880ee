import type { InformerAccess } from '../storage/cache/informer-by-name.ts'
import type { ObjectReader } from '../storage/cache/reader.ts'
import type { Resource } from '../registry/resource.ts'

/**
 * Read access to the objects of a resource for controllers, from the cache of the server.
 * Controllers write by requests to the handler.
 */
export type CacheAccess = {
  readonly keys: InformerAccess['keys']
  readonly reader: Pick<ObjectReader, 'known' | 'get' | 'list' | 'watch'>
}

export type CacheAccessOf = (resource: Resource) => CacheAccess

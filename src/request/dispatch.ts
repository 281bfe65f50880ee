/**
 * Selects the handler for a request for a resource: that of a verb, of a subresource, or of a kind
 * that is not stored.
 */
import type { KubeObject } from '../api/object.ts'
import type { ApiResponse } from '../api/request.ts'
import type { Cache } from '../storage/cache/cache.ts'
import type { Resource, Verb } from '../registry/resource.ts'
import type { ResourceRequest } from './resource-request.ts'
import type { ReadAccess } from './verbs/access.ts'
import { create } from './verbs/create.ts'
import { deleteOne } from './verbs/delete.ts'
import { deleteCollection } from './verbs/delete-collection.ts'
import { get } from './verbs/get.ts'
import { list } from './verbs/list.ts'
import { patch } from './verbs/patch.ts'
import type { Handlers } from './verbs/subresources/all.ts'
import { handlerKey, type SubresourceAccess } from './verbs/subresources/handler.ts'
import { update } from './verbs/update.ts'
import { virtualReader } from './verbs/virtual.ts'
import { watch } from './verbs/watch.ts'
import type { ResourceAccess } from './resource-access.ts'

export type Dispatch = (request: ResourceRequest) => Promise<ApiResponse>

export type DispatchOptions = {
  readonly access: ResourceAccess
  readonly cache: Cache
  /** Checks the components of the cluster and returns their ComponentStatus objects. */
  readonly readComponents: () => Promise<readonly KubeObject[]>
  readonly handlers: Handlers
  readonly subresourceAccess: (request: ResourceRequest) => SubresourceAccess
}

export function createDispatch({
  access,
  cache,
  readComponents,
  handlers,
  subresourceAccess,
}: DispatchOptions): Dispatch {
  /**
   * Returns the access for `get` and `list`. ComponentStatuses are computed for each request. All
   * other objects are stored.
   */
  const readAccess = (resource: Resource): ReadAccess => {
    const own = access.of(resource)
    if (resource.group !== '' || resource.kind !== 'ComponentStatus') return own
    return {
      ...own,
      reader: virtualReader({ resource, keys: own.keys, read: readComponents, cache }),
    }
  }
  const verbs: { readonly [verb in Verb]: Dispatch } = {
    get: (request) => get(request, readAccess(request.resource)),
    list: (request) => list(request, readAccess(request.resource)),
    watch: (request) => watch(request, access.of(request.resource)),
    create: (request) => create(request, access.of(request.resource)),
    update: (request) => update(request, access.of(request.resource)),
    patch: (request) => patch(request, access.of(request.resource)),
    delete: (request) => deleteOne(request, access.of(request.resource)),
    deletecollection: (request) => deleteCollection(request, access.of(request.resource)),
  }
  const answer: Dispatch = (request) => {
    const isPlain = request.subresource === '' && request.resource.isStored
    const handler = isPlain ? undefined : handlers.get(handlerKey(request))
    return handler === undefined
      ? verbs[request.verb](request)
      : handler(request, subresourceAccess(request))
  }
  const dispatch: Dispatch = (request) => {
    const wait = request.resource.load?.()
    return wait === undefined ? answer(request) : wait.then(() => dispatch(request))
  }
  return dispatch
}

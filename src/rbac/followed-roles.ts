/**
 * The index, kept by the events of the cache. It is never older than what the server has acknowledged: a write of a role or a binding
 * is answered only when the index has it (`followed`), so that a client's next request is decided on what it wrote. A check that
 * must not be made on less than the latest state, whoever wrote it through whichever server, waits for that first (`latest`).
 */
import type { KubeObject } from '../api/object.ts'
import type { ObjectReader } from '../cache/reader.ts'
import type { Log } from '../lib/log.ts'
import type { Time } from '../lib/timers.ts'
import type { ResourceKeys } from '../storage/keys.ts'
import type { ObjectStore } from '../storage/store.ts'
import { FollowedResource } from './followed-resource.ts'
import { keptBinding, keptRules } from './read-objects.ts'
import { type Place, RoleIndex } from './role-index.ts'
import { ownText, SharedLists } from './shared-lists.ts'

export const rbacGroup = 'rbac.authorization.k8s.io'

export const roleResources = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'] as const
export type RoleResource = (typeof roleResources)[number]

export type RoleAccess = { readonly keys: ResourceKeys; readonly reader: Pick<ObjectReader, 'list' | 'watch'> }

export type FollowedRolesParts = {
  /** Undefined: the resource is not served, and there are no objects of it. */
  readonly accessOf: (resource: RoleResource) => RoleAccess | undefined
  readonly log: Log
  readonly time?: Time
}

export class FollowedRoles implements AsyncDisposable {
  readonly index = new RoleIndex()
  readonly #parts: FollowedRolesParts
  readonly #shared = new SharedLists()
  readonly #resources = new Map<RoleResource, FollowedResource>()

  constructor(parts: FollowedRolesParts) {
    this.#parts = parts
  }

  /** Comes back when all roles and bindings are known. To be awaited before the first request is taken. */
  async start(): Promise<void> {
    for (const resource of roleResources) {
      const access = this.#parts.accessOf(resource)
      if (access !== undefined) this.#resources.set(resource, this.#follow(resource, access))
    }
    await Promise.all([...this.#resources.values()].map((followed) => followed.start()))
  }

  /** Comes back when the index has everything that was acknowledged to anybody before the call. */
  async latest(signal?: AbortSignal): Promise<void> {
    await Promise.all([...this.#resources.values()].map((followed) => followed.latest(signal)))
    // While one was waited for, others may have moved on: what was written before the call is in all of them.
  }

  /** The store of a resource whose writes come back when the index has them. */
  followed(resource: RoleResource, store: ObjectStore): ObjectStore {
    const reach = (revision: number, signal?: AbortSignal): Promise<void> | undefined =>
      this.#resources.get(resource)?.reach(revision, signal)
    return {
      get: (key, options) => store.get(key, options),
      create: async (key, value, options) => {
        const revision = await store.create(key, value, options)
        await reach(revision, options?.signal)
        return revision
      },
      update: async (key, options, decide) => {
        const result = await store.update(key, options, decide)
        if (result.outcome !== 'unchanged') await reach(result.revision, options.signal)
        return result
      },
      deleteUnreadable: async (key, decode, options) => {
        const isDeleted = await store.deleteUnreadable(key, decode, options)
        if (isDeleted) await this.#resources.get(resource)?.latest(options?.signal)
        return isDeleted
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#resources.values()].map((followed) => followed[Symbol.asyncDispose]()))
  }

  #follow(resource: RoleResource, { keys, reader }: RoleAccess): FollowedResource {
    const { log, time } = this.#parts
    const what = resource.endsWith('bindings') ? 'bindings' : 'roles'
    return new FollowedResource({
      name: `${resource}.${rbacGroup}`,
      reader,
      range: keys.range(),
      set: (key, object) => {
        const place = keys.parse(key)
        if (place === undefined) return
        const { namespace = '', name } = place
        this.#set(what, { namespace: this.#shared.text(namespace), name: ownText(name) }, object)
      },
      known: () => {
        const places = [...this.index.places(what, resource.startsWith('cluster'))]
        return places.map(({ namespace, name }) => keys.key(namespace, name))
      },
      log,
      ...(time === undefined ? {} : { time }),
    })
  }

  #set(what: 'roles' | 'bindings', place: Place, object: KubeObject | undefined): void {
    if (what === 'roles') this.index.setRole(place, object && keptRules(object, this.#shared))
    else this.index.setBinding(place, object && keptBinding(object, this.#shared))
  }
}

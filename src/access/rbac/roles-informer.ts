/**
 * Keeps the index of roles and bindings current by watching the cache. When a client writes a role
 * or a binding, the response is sent only after the index contains the change (`informedStore`).
 * The change therefore applies to the client's next request. The escalation check first waits until
 * the index contains the writes of all servers (`latest`).
 */
import { type Fields, fieldsOf, type Json } from '../../api/object.ts'
import type { InformerAccess } from '../../storage/cache/informer-by-name.ts'
import { Informer } from '../../storage/cache/informer.ts'
import { informedStore } from '../../storage/cache/informed-store.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { ownText } from '../../lib/text/own-text.ts'
import { SharedLists } from '../../lib/collections/shared-lists.ts'
import type { Steps } from '../../lib/scheduling/slices.ts'
import type { Time } from '../../lib/time/timers.ts'
import type { Key } from '../../storage/engine.ts'
import type { ResourceKeys } from '../../storage/keys.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { Grants } from './grants.ts'
import { keptBinding, keptBindingInSteps, keptInSteps, keptRules } from './read-objects.ts'
import { createReadContent } from './read-stored.ts'
import { rbacGroup, type RoleResource, roleResources } from './role.ts'
import { type RoleLocation, RoleIndex } from './role-index.ts'

const kinds: { readonly [resource in RoleResource]: string } = {
  clusterroles: 'ClusterRole',
  clusterrolebindings: 'ClusterRoleBinding',
  roles: 'Role',
  rolebindings: 'RoleBinding',
}

export type RolesInformerOptions = {
  /** Returns access to a resource, or undefined if it is not served. */
  readonly accessOf: (resource: RoleResource) => InformerAccess | undefined
  readonly log: Log
  readonly time?: Time
}

export class RolesInformer implements AsyncDisposable {
  readonly index = new RoleIndex()
  readonly #options: RolesInformerOptions
  readonly #shared = new SharedLists()
  readonly #resources = new Map<RoleResource, Informer<Fields>>()

  constructor(options: RolesInformerOptions) {
    this.#options = options
  }

  /**
   * Resolves when the index contains all roles and bindings. The server must await this before it
   * accepts the first request.
   */
  async start(): Promise<void> {
    for (const resource of roleResources) {
      const access = this.#options.accessOf(resource)
      if (access !== undefined) this.#resources.set(resource, this.#follow(resource, access))
    }
    await Promise.all([...this.#resources.values()].map((followed) => followed.start()))
  }

  /**
   * Waits until the index contains all writes that any server had acknowledged when this function
   * was called. Rejects with a StorageError if the storage does not respond.
   */
  async latest(signal?: AbortSignal): Promise<void> {
    await Promise.all([...this.#resources.values()].map((followed) => followed.latest(signal)))
  }

  /**
   * Returns a store for a resource. A write to this store resolves only when the index contains the
   * change.
   */
  informedStore(resource: RoleResource, store: ObjectStore): ObjectStore {
    return informedStore(store, () => this.#resources.get(resource))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      [...this.#resources.values()].map((followed) => followed[Symbol.asyncDispose]()),
    )
  }

  #follow(resource: RoleResource, { keys, reader }: InformerAccess): Informer<Fields> {
    const { log, time } = this.#options
    const what = resource.endsWith('bindings') ? 'bindings' : 'roles'
    return new Informer({
      name: `${resource}.${rbacGroup}`,
      reader,
      range: keys.range(),
      read: createReadContent(kinds[resource]),
      readLarge: (object) => object,
      set: (key, object) => {
        const place = keys.parse(key)
        if (place === undefined) return
        const { namespace = '', name } = place
        return this.#set(
          what,
          { namespace: this.#shared.text(namespace), name: ownText(name) },
          object,
        )
      },
      known: () => this.#known(what, keys),
      log,
      ...(time === undefined ? {} : { time }),
    })
  }

  *#known(what: 'roles' | 'bindings', keys: ResourceKeys): Generator<Key> {
    for (const { namespace, name } of this.index.places(what, !keys.isNamespaced))
      yield keys.key(namespace, name)
  }

  #set(
    what: 'roles' | 'bindings',
    place: RoleLocation,
    object: Fields | undefined,
  ): Steps<void> | undefined {
    const { namespace } = place
    if (object !== undefined && isLarge(object))
      return what === 'bindings'
        ? this.#setLargeBinding(place, object)
        : this.#setLargeRole(place, object)
    if (what === 'bindings')
      this.index.setBinding(place, object && keptBinding(object, namespace, this.#shared))
    else this.index.setRole(place, object && keptRules(object, this.#shared))
    return undefined
  }

  *#setLargeBinding(place: RoleLocation, binding: Fields): Steps<void> {
    const content = yield* keptBindingInSteps(binding, place.namespace, this.#shared)
    this.index.setBinding(place, content)
  }

  *#setLargeRole(place: RoleLocation, role: Fields): Steps<void> {
    const rules = yield* keptInSteps(role, this.#shared)
    this.index.setRole(place, rules, yield* Grants.of(rules))
  }
}

/**
 * Maximum size of a role or binding that is read at once: its rules, their list entries, and its
 * subjects. Larger ones are read in several steps, between which other work can run.
 */
const ENTRIES_MAX = 1024

const lengthOf = (list: Json | undefined): number => (Array.isArray(list) ? list.length : 0)

function isLarge({ rules, subjects }: Fields): boolean {
  let entries = lengthOf(subjects) + lengthOf(rules)
  for (const rule of Array.isArray(rules) ? rules : []) {
    if (entries > ENTRIES_MAX) break
    for (const list of Object.values(fieldsOf(rule))) entries += lengthOf(list)
  }
  return entries > ENTRIES_MAX
}

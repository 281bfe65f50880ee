/**
 * Keeps the index of policies current by watching the cache. When a client writes a policy or
 * binding, the response is sent only after the index contains the change (`informedStore`). In
 * kube-apiserver, the index can lag behind by a second.
 */
import {
  type InformerAccess,
  informByName,
  type NamedObjects,
} from '../../storage/cache/informer-by-name.ts'
import { type InformedResource, informedStore } from '../../storage/cache/informed-store.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { admissionGroup } from '../admission.ts'
import { type Compile, Policy, readBinding } from './policy.ts'
import type { PolicyIndex, PolicyType } from './policy-index.ts'

export type PolicyResource = `${PolicyType}admission${'policies' | 'policybindings'}`

export type PoliciesInformerOptions<C> = {
  readonly type: PolicyType
  readonly compile: Compile<C>
  readonly index: PolicyIndex<C>
  /** Returns access to a resource, or undefined if it is not served. */
  readonly accessOf: (resource: PolicyResource) => InformerAccess | undefined
  readonly log: Log
}

type PolicyInformer = InformedResource & AsyncDisposable & { start(): Promise<void> }

export class PoliciesInformer<C> implements AsyncDisposable {
  readonly #options: PoliciesInformerOptions<C>
  readonly #resources = new Map<string, PolicyInformer>()

  constructor(options: PoliciesInformerOptions<C>) {
    this.#options = options
  }

  /**
   * Resolves when the index contains all policies and bindings. The server must await this before
   * it accepts the first request.
   */
  async start(): Promise<void> {
    const { index, type, compile } = this.#options
    this.#follow(`${type}admissionpolicies`, {
      read: (object) => new Policy(object, compile),
      set: (name, policy) => index.setPolicy(name, policy),
      unreadable: (name) => index.setUnreadable('policies', name),
      names: () => index.names('policies'),
    })
    this.#follow(`${type}admissionpolicybindings`, {
      read: readBinding,
      set: (name, binding) => index.setBinding(name, binding),
      unreadable: (name) => index.setUnreadable('bindings', name),
      names: () => index.names('bindings'),
    })
    await Promise.all([...this.#resources.values()].map((followed) => followed.start()))
  }

  /**
   * Returns a store for a resource. A write to this store resolves only when the written policy or
   * binding is in force. Returns undefined if the resource is not a policy or binding of this type.
   */
  informedStore(plural: string, store: ObjectStore): ObjectStore | undefined {
    if (!plural.startsWith(`${this.#options.type}admissionpolic`)) return undefined
    return informedStore(store, () => this.#resources.get(plural))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      [...this.#resources.values()].map((followed) => followed[Symbol.asyncDispose]()),
    )
  }

  #follow<T>(resource: PolicyResource, objects: NamedObjects<T>): void {
    const { accessOf, log } = this.#options
    const name = `${resource}.${admissionGroup}`
    const [followed] = informByName({ name, access: accessOf(resource), log }, objects)
    if (followed !== undefined) this.#resources.set(resource, followed)
  }
}

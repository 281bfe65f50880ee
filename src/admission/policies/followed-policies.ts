/**
 * The index of policies, kept current by watches of the cache. It may be a moment behind what is stored; upstream's is up to a second
 * behind.
 */
import { type FollowedAccess, followByName, type NamedObjects } from '../../cache/follow-by-name.ts'
import type { FollowedResource } from '../../cache/followed-resource.ts'
import type { Log } from '../../lib/log.ts'
import { admissionGroup } from '../admission.ts'
import { Policy, readBinding } from './policy.ts'
import type { PolicyIndex } from './policy-index.ts'

export type PolicyResource = 'validatingadmissionpolicies' | 'validatingadmissionpolicybindings'

export type FollowedPoliciesParts = {
  readonly index: PolicyIndex
  /** Undefined: the resource is not served. */
  readonly accessOf: (resource: PolicyResource) => FollowedAccess | undefined
  readonly log: Log
}

export class FollowedPolicies implements AsyncDisposable {
  readonly #parts: FollowedPoliciesParts
  #resources: (AsyncDisposable & { start(): Promise<void> })[] = []

  constructor(parts: FollowedPoliciesParts) {
    this.#parts = parts
  }

  /** Resolves when all policies and bindings are in the index. To be awaited before the first request is accepted. */
  async start(): Promise<void> {
    const { index } = this.#parts
    this.#resources = [
      ...this.#follow('validatingadmissionpolicies', {
        read: (item) => new Policy(item.peek()),
        set: (name, policy) => index.setPolicy(name, policy),
        unreadable: (name) => index.setUnreadable('policies', name),
        names: () => index.names('policies'),
      }),
      ...this.#follow('validatingadmissionpolicybindings', {
        read: (item) => readBinding(item.peek()),
        set: (name, binding) => index.setBinding(name, binding),
        unreadable: (name) => index.setUnreadable('bindings', name),
        names: () => index.names('bindings'),
      }),
    ]
    await Promise.all(this.#resources.map((followed) => followed.start()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#resources.map((followed) => followed[Symbol.asyncDispose]()))
  }

  #follow<T>(resource: PolicyResource, objects: NamedObjects<T>): FollowedResource<T>[] {
    const { accessOf, log } = this.#parts
    return followByName({ name: `${resource}.${admissionGroup}`, access: accessOf(resource), log }, objects)
  }
}

/**
 * The index of policies, kept current by watches of the cache. It may be a moment behind what is stored; upstream's is up to a second
 * behind.
 */
import { FollowedResource } from '../../cache/followed-resource.ts'
import type { Item } from '../../cache/item.ts'
import type { ObjectReader } from '../../cache/reader.ts'
import type { Log } from '../../lib/log.ts'
import type { ResourceKeys } from '../../storage/keys.ts'
import { Policy, readBinding } from './policy.ts'
import type { PolicyIndex } from './policy-index.ts'

export const policyGroup = 'admissionregistration.k8s.io'

export type PolicyResource = 'validatingadmissionpolicies' | 'validatingadmissionpolicybindings'
export type PolicyAccess = { readonly keys: ResourceKeys; readonly reader: Pick<ObjectReader, 'list' | 'watch'> }

export type FollowedPoliciesParts = {
  readonly index: PolicyIndex
  /** Undefined: the resource is not served. */
  readonly accessOf: (resource: PolicyResource) => PolicyAccess | undefined
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

  #follow<T>(resource: PolicyResource, { read, set, unreadable, names }: Source<T>): FollowedResource<T>[] {
    const { accessOf, log } = this.#parts
    const access = accessOf(resource)
    if (access === undefined) return []
    const { keys, reader } = access
    const followed = new FollowedResource<T>({
      name: `${resource}.${policyGroup}`,
      reader,
      range: keys.range(),
      read,
      set: (key, content) => set(key.slice(keys.prefix.length), content),
      unreadable: (key) => unreadable(key.slice(keys.prefix.length)),
      *known() {
        for (const name of names()) yield keys.key(undefined, name)
      },
      log,
    })
    return [followed]
  }
}

type Source<T> = {
  readonly read: (item: Item) => T
  readonly set: (name: string, content: T | undefined) => void
  readonly unreadable: (name: string) => void
  readonly names: () => Iterable<string>
}

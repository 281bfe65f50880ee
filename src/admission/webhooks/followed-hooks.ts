/**
 * The configurations of webhooks, kept current by watches of the cache. A write of one is answered only when it is in force
 * (`followed`).
 */
import { type FollowedAccess, followByName } from '../../storage/cache/follow-by-name.ts'
import type { FollowedResource } from '../../storage/cache/followed-resource.ts'
import { followedStore } from '../../storage/cache/followed-store.ts'
import type { Fields } from '../../api/object.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ObjectStore } from '../../storage/store.ts'
import type { CredentialsFor, WebhookParts } from '../../net/outbound/call.ts'
import { admissionGroup } from '../admission.ts'
import { HookList } from './hook-list.ts'
import type { HookType } from './metrics.ts'

export const configurationResources = [
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
] as const
export type ConfigurationResource = (typeof configurationResources)[number]

export type FollowedHooksParts = {
  readonly registry: Pick<Registry, 'inGroup' | 'changes'>
  /** Undefined: the resource is not served. */
  readonly accessOf: (resource: ConfigurationResource) => FollowedAccess | undefined
  readonly calls: Omit<WebhookParts, 'credentialsFor'>
  /** Each plugin has a configuration of its own. Undefined: no webhook gets any. */
  readonly mutatingCredentials?: CredentialsFor | undefined
  readonly validatingCredentials?: CredentialsFor | undefined
  /** Called with the name of a webhook that is in no configuration of its type any more. */
  readonly onGone: (name: string, type: HookType) => void
  readonly log: Log
}

export class FollowedHooks implements AsyncDisposable {
  readonly mutating: HookList
  readonly validating: HookList
  readonly #parts: FollowedHooksParts
  readonly #resources = new Map<ConfigurationResource, FollowedResource<Fields>>()

  constructor(parts: FollowedHooksParts) {
    const { registry, calls, mutatingCredentials, validatingCredentials, onGone } = parts
    this.#parts = parts
    const mutating = { ...calls, credentialsFor: mutatingCredentials }
    this.mutating = new HookList(registry, mutating, (name) => onGone(name, 'admit'))
    const validating = { ...calls, credentialsFor: validatingCredentials }
    this.validating = new HookList(registry, validating, (name) => onGone(name, 'validating'))
  }

  /** Resolves when all configurations are known. To be awaited before the first request is accepted: until then none would be called. */
  async start(): Promise<void> {
    this.#follow('mutatingwebhookconfigurations', this.mutating)
    this.#follow('validatingwebhookconfigurations', this.validating)
    await Promise.all([...this.#resources.values()].map((one) => one.start()))
  }

  /** A store for a resource whose writes return when they are in force. */
  followed(resource: ConfigurationResource, store: ObjectStore): ObjectStore {
    return followedStore(store, () => this.#resources.get(resource))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#resources.values()].map((one) => one[Symbol.asyncDispose]()))
    this.mutating.close()
    this.validating.close()
  }

  #follow(resource: ConfigurationResource, list: HookList): void {
    const { accessOf, log } = this.#parts
    const [followed] = followByName<Fields>(
      { name: `${resource}.${admissionGroup}`, access: accessOf(resource), log },
      {
        read: (object) => object,
        set: (name, object) => list.set(name, object),
        unreadable: (name) => list.setUnreadable(name),
        names: () => list.names(),
      },
    )
    if (followed !== undefined) this.#resources.set(resource, followed)
  }
}

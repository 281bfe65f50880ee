/** The configurations of webhooks, kept current by watches of the cache. */
import { type FollowedAccess, followByName } from '../../cache/follow-by-name.ts'
import type { FollowedResource } from '../../cache/followed-resource.ts'
import type { Fields } from '../../api/object.ts'
import type { Log } from '../../lib/log.ts'
import type { Registry } from '../../registry/registry.ts'
import type { WebhookParts } from '../../webhooks/call.ts'
import { admissionGroup } from '../admission.ts'
import { HookList } from './hook-list.ts'

export type ConfigurationResource = 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations'

export type FollowedHooksParts = {
  readonly registry: Pick<Registry, 'inGroup' | 'changes'>
  /** Undefined: the resource is not served. */
  readonly accessOf: (resource: ConfigurationResource) => FollowedAccess | undefined
  readonly calls: WebhookParts
  readonly log: Log
}

export class FollowedHooks implements AsyncDisposable {
  readonly mutating: HookList
  readonly validating: HookList
  readonly #parts: FollowedHooksParts
  #followed: readonly FollowedResource<Fields>[] = []

  constructor(parts: FollowedHooksParts) {
    const { registry, calls } = parts
    this.#parts = parts
    this.mutating = new HookList(registry, calls)
    this.validating = new HookList(registry, calls)
  }

  /** Resolves when all configurations are known. To be awaited before the first request is accepted: until then none would be called. */
  async start(): Promise<void> {
    this.#followed = [
      ...this.#follow('mutatingwebhookconfigurations', this.mutating),
      ...this.#follow('validatingwebhookconfigurations', this.validating),
    ]
    await Promise.all(this.#followed.map((one) => one.start()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#followed.map((one) => one[Symbol.asyncDispose]()))
    this.mutating.close()
    this.validating.close()
  }

  #follow(resource: ConfigurationResource, list: HookList): FollowedResource<Fields>[] {
    const { accessOf, log } = this.#parts
    return followByName<Fields>(
      { name: `${resource}.${admissionGroup}`, access: accessOf(resource), log },
      {
        read: (item) => item.peek(),
        set: (name, object) => list.set(name, object),
        unreadable: (name) => list.setUnreadable(name),
        names: () => list.names(),
      },
    )
  }
}

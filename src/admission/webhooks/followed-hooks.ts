/** The configurations of webhooks, kept current by watches of the cache. */
import { FollowedResource } from '../../cache/followed-resource.ts'
import type { ObjectReader } from '../../cache/reader.ts'
import type { Fields } from '../../api/object.ts'
import type { Log } from '../../lib/log.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ResourceKeys } from '../../storage/keys.ts'
import type { WebhookParts } from '../../webhooks/call.ts'
import { HookList } from './hook-list.ts'

export const configurationGroup = 'admissionregistration.k8s.io'

export type ConfigurationResource = 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations'

type ConfigurationAccess = { readonly keys: ResourceKeys; readonly reader: Pick<ObjectReader, 'list' | 'watch'> }

export type FollowedHooksParts = {
  readonly registry: Pick<Registry, 'inGroup' | 'changes'>
  /** Undefined: the resource is not served. */
  readonly accessOf: (resource: ConfigurationResource) => ConfigurationAccess | undefined
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
    const access = accessOf(resource)
    if (access === undefined) return []
    const { keys, reader } = access
    return [
      new FollowedResource<Fields>({
        name: `${resource}.${configurationGroup}`,
        reader,
        range: keys.range(),
        read: (item) => item.peek(),
        set: (key, object) => list.set(key.slice(keys.prefix.length), object),
        unreadable: (key) => list.setUnreadable(key.slice(keys.prefix.length)),
        *known() {
          for (const name of list.names()) yield keys.key(undefined, name)
        },
        log,
      }),
    ]
  }
}

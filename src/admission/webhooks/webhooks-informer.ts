/**
 * Keeps the configurations of webhooks current by watching the cache. When a client writes a
 * configuration, the response is sent only after the configuration is in force (`informedStore`).
 */
import { type InformerAccess, informByName } from '../../storage/cache/informer-by-name.ts'
import type { Informer } from '../../storage/cache/informer.ts'
import { informedStore } from '../../storage/cache/informed-store.ts'
import type { Fields } from '../../api/object.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ObjectStore } from '../../storage/store.ts'
import type { CredentialsFor, WebhookClientOptions } from '../../net/outbound/call.ts'
import { admissionGroup } from '../admission.ts'
import { WebhookList } from './webhook-list.ts'
import type { WebhookType } from './metrics.ts'

export const configurationResources = [
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
] as const
export type ConfigurationResource = (typeof configurationResources)[number]

export type WebhooksInformerOptions = {
  readonly registry: Pick<Registry, 'inGroup' | 'changes' | 'release'>
  /** Returns access to a resource, or undefined if it is not served. */
  readonly accessOf: (resource: ConfigurationResource) => InformerAccess | undefined
  readonly calls: Omit<WebhookClientOptions, 'credentialsFor'>
  /**
   * Credentials for mutating webhooks. Validating webhooks have separate credentials. Undefined if
   * webhooks get no credentials.
   */
  readonly mutatingCredentials?: CredentialsFor | undefined
  readonly validatingCredentials?: CredentialsFor | undefined
  /** Called with the name of a webhook when no configuration of this type contains it any more. */
  readonly onGone: (name: string, type: WebhookType) => void
  readonly log: Log
}

export class WebhooksInformer implements AsyncDisposable {
  readonly mutating: WebhookList
  readonly validating: WebhookList
  readonly #options: WebhooksInformerOptions
  readonly #resources = new Map<ConfigurationResource, Informer<Fields>>()

  constructor(options: WebhooksInformerOptions) {
    const { registry, calls, mutatingCredentials, validatingCredentials, onGone } = options
    this.#options = options
    const mutating = { ...calls, credentialsFor: mutatingCredentials }
    this.mutating = new WebhookList(registry, mutating, (name) => onGone(name, 'admit'))
    const validating = { ...calls, credentialsFor: validatingCredentials }
    this.validating = new WebhookList(registry, validating, (name) => onGone(name, 'validating'))
  }

  /**
   * Resolves when all configurations are in force. The server must await this before it accepts the
   * first request, because otherwise requests would bypass the webhooks.
   */
  async start(): Promise<void> {
    this.#follow('mutatingwebhookconfigurations', this.mutating)
    this.#follow('validatingwebhookconfigurations', this.validating)
    await Promise.all([...this.#resources.values()].map((one) => one.start()))
  }

  /**
   * Returns a store for a resource. A write to this store resolves only when the written
   * configuration is in force.
   */
  informedStore(resource: ConfigurationResource, store: ObjectStore): ObjectStore {
    return informedStore(store, () => this.#resources.get(resource))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#resources.values()].map((one) => one[Symbol.asyncDispose]()))
    this.mutating.close()
    this.validating.close()
  }

  #follow(resource: ConfigurationResource, list: WebhookList): void {
    const { accessOf, log } = this.#options
    const [followed] = informByName<Fields>(
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

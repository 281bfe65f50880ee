/**
 * All webhooks of one type, in the order in which they are called: by the name of the
 * configuration, then by their position in the configuration.
 */
import type { Fields } from '../../api/object.ts'
import type { Registry } from '../../registry/registry.ts'
import type { WebhookClientOptions } from '../../net/outbound/call.ts'
import type { Attributes } from '../admission.ts'
import type { MatchCriteria } from '../match/criteria.ts'
import { type Candidate, MatchIndex } from '../match/match-index.ts'
import { UnreadableNames } from '../match/unreadable.ts'
import { type AdmissionWebhook, readWebhooks } from './webhook.ts'

/**
 * A webhook in the list. `position` is its index among all webhooks of the list. Audit annotations
 * contain this index.
 */
export type ListedWebhook = {
  readonly hook: AdmissionWebhook
  readonly position: number
  readonly criteria: MatchCriteria
}

export class WebhookList {
  readonly #byConfiguration = new Map<string, readonly AdmissionWebhook[]>()
  readonly #unreadable = new UnreadableNames('webhook configuration')
  readonly #index: MatchIndex<ListedWebhook>
  readonly #options: WebhookClientOptions & { readonly release: number }
  readonly #onGone: (name: string) => void
  /** Whether configurations have changed since the index was built. */
  #isStale = false

  /**
   * Creates an empty list. `onGone` is called with the name of a webhook when no configuration
   * contains it any more.
   */
  constructor(
    registry: Pick<Registry, 'inGroup' | 'changes' | 'release'>,
    options: WebhookClientOptions,
    onGone: (name: string) => void = () => undefined,
  ) {
    this.#index = new MatchIndex(registry)
    this.#options = { ...options, release: registry.release }
    this.#onGone = onGone
  }

  /** Sets a configuration. Undefined deletes the configuration. */
  set(configuration: string, object: Fields | undefined): void {
    this.#unreadable.delete(configuration)
    const before = this.#byConfiguration.get(configuration) ?? []
    for (const { close } of before) close()
    if (object === undefined) this.#byConfiguration.delete(configuration)
    else
      this.#byConfiguration.set(
        configuration,
        readWebhooks(configuration, object, this.#options, this.#has),
      )
    this.#isStale = true
    if (before.length === 0) return
    const left = new Set(
      [...this.#byConfiguration.values()].flatMap((webhooks) => webhooks.map(({ name }) => name)),
    )
    for (const { name } of before) if (!left.has(name)) this.#onGone(name)
  }

  /**
   * Returns whether any configuration has a webhook with this name. Several configurations can have
   * webhooks with the same name.
   */
  readonly #has = (name: string): boolean => {
    for (const webhooks of this.#byConfiguration.values())
      if (webhooks.some((webhook) => webhook.name === name)) return true
    return false
  }

  /**
   * Records that a configuration cannot be decoded. The last known state of the configuration stays
   * in force.
   */
  setUnreadable(configuration: string): void {
    if (!this.#byConfiguration.has(configuration)) this.#unreadable.add(configuration)
  }

  *names(): Generator<string> {
    yield* this.#byConfiguration.keys()
    yield* this.#unreadable.names()
  }

  /**
   * Returns the webhooks whose rules match. Fails with a 403 if the list is incomplete, because a
   * configuration could not be decoded.
   */
  candidates(attributes: Attributes): readonly Candidate<ListedWebhook>[] {
    this.#unreadable.refuse(attributes)
    if (this.#isStale) this.#renew()
    return this.#index.candidates(attributes)
  }

  close(): void {
    for (const webhooks of this.#byConfiguration.values()) for (const { close } of webhooks) close()
  }

  #renew(): void {
    const names = [...this.#byConfiguration.keys()].toSorted()
    const webhooks = names.flatMap((name) => this.#byConfiguration.get(name) ?? [])
    this.#index.entries = webhooks.map((webhook, position) => ({
      hook: webhook,
      position,
      criteria: webhook.criteria,
    }))
    this.#isStale = false
  }
}

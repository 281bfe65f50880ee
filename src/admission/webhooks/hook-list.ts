/** All webhooks of one type, in the order in which they are called: by the name of their configuration, then as they stand in it. */
import type { Fields } from '../../api/object.ts'
import type { Registry } from '../../registry/registry.ts'
import type { WebhookParts } from '../../webhooks/call.ts'
import type { Attributes } from '../admission.ts'
import type { MatchCriteria } from '../match/criteria.ts'
import { type Candidate, MatchIndex } from '../match/match-index.ts'
import { type Hook, readHooks } from './hook.ts'

/** `position`: among all webhooks, as audit annotations number them. */
export type ListedHook = { readonly hook: Hook; readonly position: number; readonly criteria: MatchCriteria }

export class HookList {
  readonly #byConfiguration = new Map<string, readonly Hook[]>()
  readonly #index: MatchIndex<ListedHook>
  readonly #parts: WebhookParts
  /** Configurations changed since the index was made. */
  #isStale = false

  constructor(registry: Pick<Registry, 'inGroup' | 'changes'>, parts: WebhookParts) {
    this.#index = new MatchIndex(registry)
    this.#parts = parts
  }

  /** Undefined: the configuration was deleted, or cannot be decoded. */
  set(configuration: string, object: Fields | undefined): void {
    for (const { close } of this.#byConfiguration.get(configuration) ?? []) close()
    if (object === undefined) this.#byConfiguration.delete(configuration)
    else this.#byConfiguration.set(configuration, readHooks(configuration, object, this.#parts))
    this.#isStale = true
  }

  names(): Iterable<string> {
    return this.#byConfiguration.keys()
  }

  /** The webhooks whose rules match. */
  candidates(attributes: Attributes): readonly Candidate<ListedHook>[] {
    if (this.#isStale) this.#renew()
    return this.#index.candidates(attributes)
  }

  close(): void {
    for (const hooks of this.#byConfiguration.values()) for (const { close } of hooks) close()
  }

  #renew(): void {
    const names = [...this.#byConfiguration.keys()].toSorted()
    const hooks = names.flatMap((name) => this.#byConfiguration.get(name) ?? [])
    this.#index.entries = hooks.map((hook, position) => ({ hook, position, criteria: hook.criteria }))
    this.#isStale = false
  }
}

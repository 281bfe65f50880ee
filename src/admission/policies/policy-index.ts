/** All policies that have bindings, found by what they match. */
import type { Registry } from '../../registry/registry.ts'
import type { Attributes } from '../admission.ts'
import type { MatchCriteria } from '../match/criteria.ts'
import { type Candidate, MatchIndex } from '../match/match-index.ts'
import { Unreadable } from '../match/unreadable.ts'
import type { Binding, Policy } from './policy.ts'

/** Sorted by name. */
export type BoundPolicy = {
  readonly policy: Policy
  readonly criteria: MatchCriteria
  readonly bindings: readonly Binding[]
}

export class PolicyIndex {
  readonly #policies = new Map<string, Policy>()
  readonly #bindings = new Map<string, Binding>()
  readonly #unreadable = {
    policies: new Unreadable('validating admission policy'),
    bindings: new Unreadable('validating admission policy binding'),
  } as const
  readonly #index: MatchIndex<BoundPolicy>
  #isChanged = false

  readonly #onUnbound: (binding: Binding) => void

  /** `onUnbound`: a binding no longer exists, or was changed. */
  constructor(registry: Pick<Registry, 'inGroup' | 'changes'>, onUnbound: (binding: Binding) => void) {
    this.#index = new MatchIndex(registry)
    this.#onUnbound = onUnbound
  }

  /** Undefined: it was deleted. A policy whose spec is the same stays compiled. */
  setPolicy(name: string, policy: Policy | undefined): void {
    this.#unreadable.policies.delete(name)
    if (policy === undefined) this.#policies.delete(name)
    else if (this.#policies.get(name)?.version !== policy.version) this.#policies.set(name, policy)
    else return
    this.#isChanged = true
  }

  setBinding(name: string, binding: Binding | undefined): void {
    this.#unreadable.bindings.delete(name)
    const before = this.#bindings.get(name)
    if (before !== undefined) this.#onUnbound(before)
    if (binding === undefined) this.#bindings.delete(name)
    else this.#bindings.set(name, binding)
    this.#isChanged = true
  }

  /** It cannot be decoded: its last known state stays in force. */
  setUnreadable(what: 'policies' | 'bindings', name: string): void {
    const known = what === 'policies' ? this.#policies : this.#bindings
    if (!known.has(name)) this.#unreadable[what].add(name)
  }

  *names(what: 'policies' | 'bindings'): Generator<string> {
    yield* (what === 'policies' ? this.#policies : this.#bindings).keys()
    yield* this.#unreadable[what].names()
  }

  /** The policies whose rules match the request, sorted by name. Fails with a 403 if not all policies and bindings are known. */
  candidates(attributes: Attributes): readonly Candidate<BoundPolicy>[] {
    this.#unreadable.policies.refuse(attributes)
    this.#unreadable.bindings.refuse(attributes)
    if (this.#isChanged) {
      this.#isChanged = false
      this.#index.entries = this.#bound()
    }
    return this.#index.candidates(attributes)
  }

  #bound(): readonly BoundPolicy[] {
    const bindings = Map.groupBy([...this.#bindings.values()].toSorted(byName), ({ policyName }) => policyName)
    return [...this.#policies.values()].toSorted(byName).flatMap((policy) => {
      const own = bindings.get(policy.name)
      return own === undefined ? [] : { policy, criteria: policy.criteria, bindings: own }
    })
  }
}

type Named = { readonly name: string }
const byName = (a: Named, b: Named): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

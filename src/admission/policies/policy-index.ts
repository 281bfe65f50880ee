/** Index of all policies that have bindings, which finds the policies that match a request. */
import type { Registry } from '../../registry/registry.ts'
import type { Attributes } from '../admission.ts'
import type { MatchCriteria } from '../match/criteria.ts'
import { type Candidate, MatchIndex } from '../match/match-index.ts'
import { UnreadableNames } from '../match/unreadable.ts'
import type { Binding, Policy } from './policy.ts'

export type PolicyType = 'validating' | 'mutating'

/** A policy with its bindings, sorted by name. */
export type BoundPolicy<C> = {
  readonly policy: Policy<C>
  readonly criteria: MatchCriteria
  readonly bindings: readonly Binding[]
}

/** An index of policies of one type. `C` is the type of their compiled expressions. */
export class PolicyIndex<C> {
  readonly #policies = new Map<string, Policy<C>>()
  readonly #bindings = new Map<string, Binding>()
  readonly #unreadable: { readonly policies: UnreadableNames; readonly bindings: UnreadableNames }
  readonly #index: MatchIndex<BoundPolicy<C>>
  #isChanged = false

  readonly #onUnbound: (binding: Binding) => void

  /**
   * Creates an empty index. Error messages contain `type`. `onUnbound` is called when a binding is
   * deleted or changed.
   */
  constructor(
    type: PolicyType,
    registry: Pick<Registry, 'inGroup' | 'changes'>,
    onUnbound: (binding: Binding) => void = () => undefined,
  ) {
    const kind = `${type} admission policy`
    this.#unreadable = {
      policies: new UnreadableNames(kind),
      bindings: new UnreadableNames(`${kind} binding`),
    }
    this.#index = new MatchIndex(registry)
    this.#onUnbound = onUnbound
  }

  /**
   * Adds or replaces a policy, or removes it if `policy` is undefined. If the spec is unchanged,
   * the compiled expressions are reused.
   */
  setPolicy(name: string, policy: Policy<C> | undefined): void {
    this.#unreadable.policies.delete(name)
    if (policy === undefined) this.#policies.delete(name)
    else if (this.#policies.get(name)?.isSameAs(policy) === true) return
    else this.#policies.set(name, policy)
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

  /**
   * Records that an object cannot be decoded. The last known state of the object stays in force.
   */
  setUnreadable(what: 'policies' | 'bindings', name: string): void {
    const known = what === 'policies' ? this.#policies : this.#bindings
    if (!known.has(name)) this.#unreadable[what].add(name)
  }

  *names(what: 'policies' | 'bindings'): Generator<string> {
    yield* (what === 'policies' ? this.#policies : this.#bindings).keys()
    yield* this.#unreadable[what].names()
  }

  /**
   * Returns the policies whose rules match the request, sorted by name. Fails with a 403 if the
   * index is incomplete, because a policy or binding could not be decoded.
   */
  candidates(attributes: Attributes): readonly Candidate<BoundPolicy<C>>[] {
    this.#unreadable.policies.refuse(attributes)
    this.#unreadable.bindings.refuse(attributes)
    if (this.#isChanged) {
      this.#isChanged = false
      this.#index.entries = this.#bound()
    }
    return this.#index.candidates(attributes)
  }

  #bound(): readonly BoundPolicy<C>[] {
    const bindings = Map.groupBy(
      [...this.#bindings.values()].toSorted(byName),
      ({ policyName }) => policyName,
    )
    return [...this.#policies.values()].toSorted(byName).flatMap((policy) => {
      const own = bindings.get(policy.name)
      return own === undefined ? [] : { policy, criteria: policy.criteria, bindings: own }
    })
  }
}

type NamedPolicy = { readonly name: string }
const byName = (a: NamedPolicy, b: NamedPolicy): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0

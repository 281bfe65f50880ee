/**
 * The MutatingAdmissionPolicy plugin. It evaluates all policies whose rules, selectors and bindings
 * match a request, one after another. Each policy gets the object that the previous one returned.
 * Then all mutating plugins run once more, including the policies with reinvocationPolicy IfNeeded.
 */
import { type ApiError, failedByPolicies, type PolicyFault } from '../../api/errors.ts'
import { FAULTS_CHARACTERS_MAX } from '../../api/field-fault.ts'
import type { KubeObject } from '../../api/object.ts'
import { awaitMaybe, type MaybeAsync, runMaybeAsync } from '../../lib/concurrency/maybe-promise.ts'
import { CelError, type Result } from '../../objects/cel/values.ts'
import { addAll } from '../../lib/scheduling/long-lists.ts'
import { TextRoom } from '../../lib/text/bounded-texts.ts'
import { inSlices } from '../../lib/scheduling/slices.ts'
import type { Resource } from '../../registry/resource.ts'
import { isSame } from '../../objects/schema/equal.ts'
import { type Attributes, type Plugin, refusal, type Rounds } from '../admission.ts'
import { isExemptFromPolicies } from '../match/exempt.ts'
import type { Candidate } from '../match/match-index.ts'
import { convertTo, kindAt } from '../match/versions.ts'
import { SelectorIndex } from '../match/selected.ts'
import { Reinvocations } from '../reinvocations.ts'
import { applyConfiguration } from './apply-configuration.ts'
import type { CompiledMutations, Mutation } from './compile-mutations.ts'
import { OVER_BUDGET, POLICY_COST_MAX } from './costs.ts'
import {
  allVariables,
  Expressions,
  matchesConditions,
  type PolicyInput,
  Scope,
} from './expressions.ts'
import { mutatedBy } from './mutated.ts'
import { MutationFault } from './native-value.ts'
import { ConfigurationFault, paramResource } from './params.ts'
import { patchObject } from './patch-object.ts'
import type { Binding, Policy } from './policy.ts'
import type { BoundPolicy, PolicyIndex } from './policy-index.ts'
import { type Params, type PolicyRequestOptions, PolicyRequest } from './policy-request.ts'

export type MutatingPoliciesOptions = PolicyRequestOptions & {
  readonly index: PolicyIndex<CompiledMutations>
}

type MutatingPolicy = Policy<CompiledMutations>

export function createMutatingPolicies(options: MutatingPoliciesOptions): Plugin {
  const selected = new SelectorIndex<BoundPolicy<CompiledMutations>>(options.objects)
  const reinvocations = new WeakMap<Rounds, Reinvocations>()
  return {
    name: 'MutatingAdmissionPolicy',
    mutate: (attributes, rounds) => {
      // A delete has no object that could be mutated.
      if (attributes.operation === 'DELETE' || isExemptFromPolicies(attributes))
        return attributes.object
      const candidates = selected.of(options.index.candidates(attributes), attributes)
      if (candidates.length === 0) return attributes.object
      const known = reinvocations.get(rounds) ?? new Reinvocations()
      reinvocations.set(rounds, known)
      const review = new Review(attributes, { ...options, rounds, reinvocations: known })
      return runMaybeAsync(review.run(candidates))
    },
  }
}

type MatchedPolicy = Candidate<BoundPolicy<CompiledMutations>>

/**
 * A policy with one of its bindings and the parameters of the binding. There may be thousands of
 * parameters, so each one is read only when it is needed.
 */
type Invocation = {
  readonly policy: MutatingPolicy
  readonly binding: Binding
  readonly resource: Resource
  readonly params: Iterable<Params>
}

type MutatingReviewOptions = MutatingPoliciesOptions & {
  readonly rounds: Rounds
  readonly reinvocations: Reinvocations
}

/** Evaluates all matching policies on one request. */
class Review {
  readonly #attributes: Attributes
  readonly #options: MutatingReviewOptions
  readonly #request: PolicyRequest
  readonly #faults: PolicyFault[] = []
  readonly #room = new TextRoom(FAULTS_CHARACTERS_MAX)
  #object: KubeObject | undefined
  #isMutated = false

  constructor(attributes: Attributes, options: MutatingReviewOptions) {
    this.#attributes = attributes
    this.#options = options
    this.#request = new PolicyRequest(attributes, options)
    this.#object = attributes.object
  }

  /**
   * Returns the object after all policies have run. Fails with an ApiError if a policy denies the
   * request.
   */
  *run(policies: readonly MatchedPolicy[]): MaybeAsync<KubeObject | undefined> {
    const { rounds, reinvocations } = this.#options
    // Before any policy changes the object, determine which policies match it.
    const invocations: Invocation[] = []
    for (const matched of policies) {
      addAll(invocations, yield* this.#invocationsOf(matched))
      yield* this.#turn()
    }
    // If the object differs from the last result of the policies, another plugin has changed it in
    // the meantime. Policies with reinvocationPolicy IfNeeded then have to run again.
    if (rounds.isSecond && !isSame(reinvocations.lastOutput, this.#attributes.object))
      reinvocations.require()
    for (const invocation of invocations) {
      for (const params of invocation.params) {
        yield* this.#invoke(invocation, params)
        yield* this.#turn()
      }
    }
    if (this.#faults.length > 0) throw this.#denial()
    // If a policy has mutated the object, all mutating plugins run a second time, as in
    // kube-apiserver. This happens even if the mutated object is equal to the original one.
    if (this.#isMutated) {
      reinvocations.require()
      rounds.needsSecond = true
    }
    reinvocations.lastOutput = this.#object
    return this.#object
  }

  *#turn(): MaybeAsync<void> {
    const turn = this.#request.turn()
    if (turn !== undefined) yield turn
  }

  #denial(): ApiError {
    return failedByPolicies(refusal(this.#attributes, ''), this.#faults)
  }

  *#invocationsOf(matched: MatchedPolicy): MaybeAsync<Invocation[]> {
    const found: Invocation[] = []
    yield* this.#orFault(matched.entry.policy, undefined, this.#findInvocations(matched, found))
    return found
  }

  *#findInvocations(
    { entry: { policy, bindings }, resource }: MatchedPolicy,
    found: Invocation[],
  ): MaybeAsync<void> {
    if (!(yield* this.#request.isSelected(policy.criteria))) return
    const kind = policy.paramKind && paramResource(policy.paramKind, this.#options.resourcesOf)
    const request = this.#request
    for (const binding of bindings) {
      const find = function* (): MaybeAsync<void> {
        if (!(yield* request.isBound(binding))) return
        found.push({
          policy,
          binding,
          resource,
          params: yield* awaitMaybe(request.paramsOf(binding, kind)),
        })
      }
      yield* this.#orFault(policy, binding, find())
      // Yield even after a binding that does not match, because there may be thousands of bindings.
      yield* this.#turn()
    }
  }

  *#invoke(invocation: Invocation, params: Params): MaybeAsync<void> {
    const { policy, binding } = invocation
    const { mutations } = yield* awaitMaybe(policy.compiled())
    yield* this.#orFault(policy, binding, this.#mutateAll(mutations, invocation, params))
  }

  *#mutateAll(
    mutations: readonly Mutation[],
    invocation: Invocation,
    params: Params,
  ): MaybeAsync<void> {
    const { policy, binding, resource } = invocation
    const { rounds, reinvocations } = this.#options
    const matches = yield* this.#matches(
      policy,
      yield* awaitMaybe(this.#request.input(resource, params)),
    )
    if (!matches) return
    const key = keyOf(policy, binding, params)
    if (rounds.isSecond && !reinvocations.isRequired(key)) return
    const before = this.#object
    for (const mutation of mutations) {
      if (this.#object === undefined) break
      const mutating = { policy, mutation, resource, params }
      yield* this.#orFault(policy, binding, this.#mutateBy(this.#object, mutating))
      yield* this.#turn()
    }
    if (!isSame(before, this.#object)) {
      reinvocations.require()
      rounds.needsSecond = true
    }
    if (policy.isReinvoked) reinvocations.invoked(key)
  }

  *#mutateBy(object: KubeObject, mutating: Mutating): MaybeAsync<void> {
    this.#object = yield* this.#mutate(object, mutating)
    this.#request.object = this.#object
    this.#isMutated = true
  }

  /**
   * Runs `work`. If it fails with a MutationFault or ConfigurationFault, records the fault, unless
   * the policy ignores errors. Recorded faults deny the request after all policies have run.
   */
  *#orFault(
    policy: MutatingPolicy,
    binding: Binding | undefined,
    work: MaybeAsync<void>,
  ): MaybeAsync<void> {
    try {
      yield* work
    } catch (error) {
      const isOfConfiguration = error instanceof ConfigurationFault
      if (!isOfConfiguration && !(error instanceof MutationFault)) throw error
      if (policy.ignoresErrors) return
      const what = isOfConfiguration
        ? `failed to configure ${binding === undefined ? 'policy' : 'binding'}: `
        : ''
      const by =
        binding === undefined
          ? `policy "${policy.name}"`
          : `policy '${policy.name}' with binding '${binding.name}'`
      const message = `${by} denied request: ${what}${error.message}`
      this.#faults.push({ message, reason: isOfConfiguration ? 'Forbidden' : 'Invalid' })
      this.#room.take(message)
      if (this.#room.isFull) throw this.#denial()
    }
  }

  /**
   * Returns whether all match conditions are true. If a condition is false, errors of other
   * conditions are ignored. Otherwise, the first error causes a MutationFault.
   */
  *#matches(policy: MutatingPolicy, input: PolicyInput): MaybeAsync<boolean> {
    const request = this.#request
    const compiled = yield* awaitMaybe(policy.compiled())
    if (compiled.conditions.length === 0) return true
    const matches = yield* awaitMaybe(
      request.run(policy, (running) => matchesConditions(compiled, input, running)),
    )
    if (matches instanceof CelError) throw new MutationFault(matches.message)
    return matches
  }

  /**
   * Applies one mutation. If it fails, throws a MutationFault, to which the failurePolicy applies,
   * or an ApiError, which rejects the request regardless of the failurePolicy.
   */
  *#mutate(
    object: KubeObject,
    { policy, mutation, resource, params }: Mutating,
  ): MaybeAsync<KubeObject> {
    const { resource: own, subresource } = this.#attributes
    const { convertByWebhook } = this.#options
    const result = yield* this.#evaluate(
      policy,
      mutation,
      yield* awaitMaybe(this.#request.input(resource, params)),
    )
    const mutated = mutatedBy(resource, this.#attributes)
    const versioned = yield* awaitMaybe(
      convertTo(object, { from: own, to: resource, subresource }, convertByWebhook),
    )
    const change = mutation.patchType === 'ApplyConfiguration' ? applyConfiguration : patchObject
    const changed = yield* awaitMaybe(inSlices(change(result, versioned, mutated)))
    const isOfResource = kindAt(own, subresource).kind === own.kind
    if (resource !== own && isOfResource && !own.isCustom)
      throw new MutationFault(unknownConversion(resource, own))
    return yield* awaitMaybe(
      convertTo(changed, { from: resource, to: own, subresource }, convertByWebhook),
    )
  }

  *#evaluate(
    policy: MutatingPolicy,
    { expression }: Mutation,
    input: PolicyInput,
  ): MaybeAsync<Result> {
    if (expression.fault !== undefined)
      throw new MutationFault(`compilation failed: ${expression.fault}`)
    const request = this.#request
    const compiled = yield* awaitMaybe(policy.compiled())
    const evaluated = request.run(policy, (running) => {
      const scope = new Scope(input, allVariables, { policy: compiled, running })
      return new Expressions(scope, running, POLICY_COST_MAX).evaluate([expression])
    })
    const results = yield* awaitMaybe(evaluated)
    if (results === undefined) throw new MutationFault(OVER_BUDGET)
    const [result = null] = results
    if (result instanceof CelError) throw new MutationFault(result.message)
    return result
  }
}

type Mutating = {
  readonly policy: MutatingPolicy
  readonly mutation: Mutation
  readonly resource: Resource
  readonly params: Params
}

/**
 * Returns a string that identifies a policy, one of its bindings and one parameter within a
 * request.
 */
function keyOf(policy: MutatingPolicy, binding: Binding, params: Params): string {
  const { namespace = '', name = '' } = params?.object.metadata ?? {}
  return [policy.name, binding.name, namespace, name].join('/')
}

/**
 * Returns the error for a policy that matches a built-in kind in another version than that of the
 * request. kube-apiserver does not convert the object in this case, so the policy fails.
 */
const unknownConversion = (from: Resource, to: Resource): string =>
  `converting (${from.version}.${from.kind}) to (${to.version}.${to.kind}): unknown conversion`

/**
 * The MutatingAdmissionPolicy plugin: evaluates all policies whose rules, selectors and bindings match a request, one after the other, each
 * on the object as the one before it left it. After that all mutating plugins run once more, and with them the policies that ask for it
 * (reinvocationPolicy).
 */
import { type ApiError, failedByPolicies, type PolicyFault } from '../../api/errors.ts'
import { FAULTS_CHARACTERS_MAX } from '../../api/field-fault.ts'
import { fieldsOf, type KubeObject, textOf } from '../../api/object.ts'
import { nowOrInTurns } from '../../cel/turns.ts'
import { CelError, type Result } from '../../cel/values.ts'
import { TextRoom } from '../../lib/bounded-texts.ts'
import { inSlices } from '../../lib/slices.ts'
import type { Resource } from '../../registry/resource.ts'
import { isSame } from '../../schema/equal.ts'
import { type Attributes, type Plugin, refusal, type Rounds } from '../admission.ts'
import { isExemptFromPolicies } from '../match/exempt.ts'
import { convertTo, kindAt } from '../match/versions.ts'
import { Selected } from '../match/selected.ts'
import { Reinvocations } from '../reinvocations.ts'
import { applyConfiguration } from './apply-configuration.ts'
import type { CompiledMutations, Mutation } from './compile-mutations.ts'
import { OVER_BUDGET, POLICY_COST_MAX } from './costs.ts'
import { askingOf, Expressions, matchesConditions, type PolicyInput } from './expressions.ts'
import { mutatedBy } from './mutated.ts'
import { MutationFault } from './native-value.ts'
import { ConfigurationFault, paramResource } from './params.ts'
import { patchObject } from './patch-object.ts'
import type { Binding, Policy } from './policy.ts'
import type { BoundPolicy, PolicyIndex } from './policy-index.ts'
import { type Params, type PolicyParts, PolicyRequest } from './policy-request.ts'

export type MutatingPoliciesParts = PolicyParts & { readonly index: PolicyIndex<CompiledMutations> }

type MutatingPolicy = Policy<CompiledMutations>

export function createMutatingPolicies(parts: MutatingPoliciesParts): Plugin {
  const selected = new Selected<BoundPolicy<CompiledMutations>>(parts.objects)
  const reinvocations = new WeakMap<Rounds, Reinvocations>()
  return {
    name: 'MutatingAdmissionPolicy',
    mutate: (attributes, rounds) => {
      // A delete has nothing to mutate.
      if (attributes.operation === 'DELETE' || isExemptFromPolicies(attributes)) return attributes.object
      const candidates = selected.of(parts.index.candidates(attributes), attributes)
      if (candidates.length === 0) return attributes.object
      const known = reinvocations.get(rounds) ?? new Reinvocations()
      reinvocations.set(rounds, known)
      const review = new Review(attributes, { ...parts, rounds, reinvocations: known })
      return review.run(candidates.map(({ entry, resource }) => ({ ...entry, resource })))
    },
  }
}

type Matched = BoundPolicy<CompiledMutations> & { readonly resource: Resource }

/** A policy with one binding and its parameters, which are read when they are needed: there may be thousands. */
type Invocation = {
  readonly policy: MutatingPolicy
  readonly binding: Binding
  readonly resource: Resource
  readonly params: Iterable<Params>
}

type ReviewParts = MutatingPoliciesParts & { readonly rounds: Rounds; readonly reinvocations: Reinvocations }

/** The evaluation of all matching policies on one request. */
class Review {
  readonly #attributes: Attributes
  readonly #parts: ReviewParts
  readonly #request: PolicyRequest
  readonly #faults: PolicyFault[] = []
  readonly #room = new TextRoom(FAULTS_CHARACTERS_MAX)
  #object: KubeObject | undefined
  #isMutated = false

  constructor(attributes: Attributes, parts: ReviewParts) {
    this.#attributes = attributes
    this.#parts = parts
    this.#request = new PolicyRequest(attributes, parts)
    this.#object = attributes.object
  }

  /** The object as the policies leave it. Fails with an ApiError. */
  async run(policies: readonly Matched[]): Promise<KubeObject | undefined> {
    const { rounds, reinvocations } = this.#parts
    // All policies are matched with the object before any of them changes it.
    const invocations: Invocation[] = []
    for (const matched of policies) {
      invocations.push(...(await this.#invocationsOf(matched)))
      await this.#request.turn()
    }
    // Other plugins changed what the policies had left.
    if (rounds.isSecond && !isSame(reinvocations.lastOutput, this.#attributes.object)) reinvocations.require()
    for (const invocation of invocations) {
      for (const params of invocation.params) {
        await this.#invoke(invocation, params)
        await this.#request.turn()
      }
    }
    if (this.#faults.length > 0) throw this.#denial()
    // Even if nothing has changed, as upstream.
    if (this.#isMutated) {
      reinvocations.require()
      rounds.needsSecond = true
    }
    reinvocations.lastOutput = this.#object
    return this.#object
  }

  #denial(): ApiError {
    return failedByPolicies(refusal(this.#attributes, ''), this.#faults)
  }

  async #invocationsOf({ policy, bindings, resource }: Matched): Promise<Invocation[]> {
    const found: Invocation[] = []
    await this.#orFault(policy, undefined, async () => {
      if (!(await this.#request.isSelected(policy.criteria))) return
      const kind = policy.paramKind && paramResource(policy.paramKind, this.#parts.resourcesOf)
      for (const binding of bindings) {
        await this.#orFault(policy, binding, async () => {
          if (!(await this.#request.isBound(binding))) return
          const params = await this.#request.paramsOf(binding, kind)
          found.push({ policy, binding, resource, params })
        })
      }
    })
    return found
  }

  async #invoke({ policy, binding, resource }: Invocation, params: Params): Promise<void> {
    const { rounds, reinvocations } = this.#parts
    const { mutations } = await policy.compiled()
    await this.#orFault(policy, binding, async () => {
      const matches = await this.#matches(policy, await this.#request.input(resource, params))
      if (!matches) return
      const key = keyOf(policy, binding, params)
      if (rounds.isSecond && !reinvocations.isRequired(key)) return
      const before = this.#object
      for (const mutation of mutations) {
        if (this.#object === undefined) break
        const object = this.#object
        await this.#orFault(policy, binding, async () => {
          this.#object = await this.#mutate(object, { policy, mutation, resource, params })
          this.#request.object = this.#object
          this.#isMutated = true
        })
        await this.#request.turn()
      }
      if (!isSame(before, this.#object)) {
        reinvocations.require()
        rounds.needsSecond = true
      }
      if (policy.isReinvoked) reinvocations.invoked(key)
    })
  }

  /** A fault denies the request at the end, unless the policy ignores errors. */
  async #orFault(policy: MutatingPolicy, binding: Binding | undefined, run: () => Promise<void>): Promise<void> {
    try {
      await run()
    } catch (error) {
      const isOfConfiguration = error instanceof ConfigurationFault
      if (!isOfConfiguration && !(error instanceof MutationFault)) throw error
      if (policy.ignoresErrors) return
      const what = isOfConfiguration ? `failed to configure ${binding === undefined ? 'policy' : 'binding'}: ` : ''
      const by =
        binding === undefined ? `policy "${policy.name}"` : `policy '${policy.name}' with binding '${binding.name}'`
      const message = `${by} denied request: ${what}${error.message}`
      this.#faults.push({ message, reason: isOfConfiguration ? 'Forbidden' : 'Invalid' })
      this.#room.take(message)
      if (this.#room.isFull) throw this.#denial()
    }
  }

  /** Fails with a MutationFault. */
  async #matches(policy: MutatingPolicy, input: PolicyInput): Promise<boolean> {
    const request = this.#request
    const compiled = await policy.compiled()
    const matches = await nowOrInTurns(
      (slice) => matchesConditions(compiled, input, request.running(policy, slice)),
      request.tools,
    )
    if (matches instanceof CelError) throw new MutationFault(matches.message)
    return matches
  }

  /** Fails with a MutationFault, or with an ApiError whatever the failurePolicy is. */
  async #mutate(object: KubeObject, { policy, mutation, resource, params }: Mutating): Promise<KubeObject> {
    const { resource: own, subresource } = this.#attributes
    const { convertByWebhook } = this.#parts
    const result = await this.#evaluate(policy, mutation, await this.#request.input(resource, params))
    const mutated = mutatedBy(resource, this.#attributes)
    const versioned = await convertTo(object, { from: own, to: resource, subresource }, convertByWebhook)
    const change = mutation.patchType === 'ApplyConfiguration' ? applyConfiguration : patchObject
    const changed = await inSlices(change(result, versioned, mutated))
    const isOfResource = kindAt(own, subresource).kind === own.kind
    if (resource !== own && isOfResource && !own.isCustom) throw new MutationFault(unknownConversion(resource, own))
    return convertTo(changed, { from: resource, to: own, subresource }, convertByWebhook)
  }

  async #evaluate(policy: MutatingPolicy, { expression }: Mutation, input: PolicyInput): Promise<Result> {
    if (expression.fault !== undefined) throw new MutationFault(`compilation failed: ${expression.fault}`)
    const request = this.#request
    const compiled = await policy.compiled()
    const results = await nowOrInTurns((slice) => {
      const running = { ...request.running(policy, slice), costMax: POLICY_COST_MAX }
      return new Expressions(compiled, askingOf(input), running).evaluate([expression])
    }, request.tools)
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

/** Unique among all invocations of a request. */
function keyOf(policy: MutatingPolicy, binding: Binding, params: Params): string {
  const { namespace, name } = fieldsOf(params?.['metadata'])
  return [policy.name, binding.name, textOf(namespace), textOf(name)].join('/')
}

/** Upstream converts only from the version of the request: a policy for another version of a built-in kind fails. */
const unknownConversion = (from: Resource, to: Resource): string =>
  `converting (${from.version}.${from.kind}) to (${to.version}.${to.kind}): unknown conversion`

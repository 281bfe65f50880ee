/**
 * The ValidatingAdmissionPolicy plugin. It evaluates all policies whose rules, selectors and
 * bindings match a request. The actions of the bindings determine whether a failed validation
 * denies the request, causes a warning, or is added to the audit event. If there are several
 * denials, the first one is reported, in the order of the names of policies and bindings.
 */
import { deniedByPolicy } from '../../api/errors.ts'
import {
  awaitMaybe,
  type MaybeAsync,
  type MaybePromise,
  runMaybeAsync,
} from '../../lib/concurrency/maybe-promise.ts'
import { printString } from '../../objects/codec/json.ts'
import type { Resource } from '../../registry/resource.ts'
import { type Attributes, type Plugin, refusal } from '../admission.ts'
import { isExemptFromPolicies } from '../match/exempt.ts'
import type { Candidate } from '../match/match-index.ts'
import { isDecided, SelectorIndex } from '../match/selected.ts'
import type { CompiledPolicy } from './compile-policy.ts'
import { OVER_BUDGET } from './costs.ts'
import { type Decision, type Evaluation, evaluatePolicy } from './evaluate-policy.ts'
import type { PolicyInput } from './expressions.ts'
import type { Check, PolicyMetrics } from './metrics.ts'
import { ConfigurationFault, paramResource } from './params.ts'
import type { Binding, Policy } from './policy.ts'
import type { BoundPolicy, PolicyIndex } from './policy-index.ts'
import { type Params, type PolicyRequestOptions, PolicyRequest } from './policy-request.ts'

export type ValidatingPoliciesOptions = PolicyRequestOptions & {
  readonly index: PolicyIndex<CompiledPolicy>
  readonly metrics: Pick<PolicyMetrics, 'count'>
}

type ValidatingPolicy = Policy<CompiledPolicy>

export function createValidatingPolicies(options: ValidatingPoliciesOptions): Plugin {
  const selected = new SelectorIndex<BoundPolicy<CompiledPolicy>>(options.objects)
  return {
    name: 'ValidatingAdmissionPolicy',
    validate: (attributes) => {
      if (isExemptFromPolicies(attributes)) return undefined
      const candidates = selected.of(options.index.candidates(attributes), attributes)
      return candidates.length === 0
        ? undefined
        : runMaybeAsync(new Review(attributes, options).run(candidates))
    },
  }
}

type MatchedPolicy = Candidate<BoundPolicy<CompiledPolicy>>

/** Audit annotations to publish: the values for each key. */
type Annotations = Map<string, Set<string>>

type Denial = {
  readonly policy: ValidatingPolicy
  /** Binding that caused the denial. Undefined if the policy itself has an error. */
  readonly binding: Binding | undefined
  readonly message: string
  readonly reason: string
}

/** Evaluates all matching policies on one request. */
class Review {
  readonly #attributes: Attributes
  readonly #options: ValidatingPoliciesOptions
  readonly #request: PolicyRequest
  readonly #denials: Denial[] = []

  constructor(attributes: Attributes, options: ValidatingPoliciesOptions) {
    this.#attributes = attributes
    this.#options = options
    this.#request = new PolicyRequest(attributes, options)
  }

  /** Evaluates the policies. Fails with an ApiError if the request is denied. */
  *run(policies: readonly MatchedPolicy[]): MaybeAsync<void> {
    for (const matched of policies) yield* this.#review(matched)
    const [first] = this.#denials
    if (first !== undefined)
      throw deniedByPolicy(refusal(this.#attributes, textOf(first)), first.reason, textOf(first))
  }

  *#turn(): MaybeAsync<void> {
    const turn = this.#request.turn()
    if (turn !== undefined) yield turn
  }

  *#review(matched: MatchedPolicy): MaybeAsync<void> {
    const { policy, bindings } = matched.entry
    const annotations: Annotations = new Map()
    try {
      const { criteria } = policy
      if (!isDecided(criteria, this.#attributes) && !(yield* this.#request.isSelected(criteria))) {
        return yield* this.#turn()
      }
      const paramKind =
        policy.paramKind && paramResource(policy.paramKind, this.#options.resourcesOf)
      for (const binding of bindings) {
        yield* this.#reviewBound(matched, binding, { paramKind, annotations })
        // Yield even after a binding that does not match, because there may be thousands of
        // bindings.
        yield* this.#turn()
      }
    } catch (error) {
      this.#fail(policy, undefined, error)
    }
    for (const [key, values] of annotations) {
      this.#attributes.context.annotate(`${policy.name}/${key}`, [...values].join(', '))
    }
  }

  *#reviewBound(
    { entry: { policy }, resource }: MatchedPolicy,
    binding: Binding,
    {
      paramKind,
      annotations,
    }: { readonly paramKind: Resource | undefined; readonly annotations: Annotations },
  ): MaybeAsync<void> {
    const request = this.#request
    try {
      if (!binding.criteria.isEverything && !(yield* request.isBound(binding))) return
      const found = request.paramsOf(binding, paramKind)
      for (const params of found instanceof Promise ? yield* awaitMaybe(found) : found) {
        const evaluated = this.#evaluate(policy, resource, params)
        const evaluation = evaluated instanceof Promise ? yield* awaitMaybe(evaluated) : evaluated
        this.#act(policy, binding, evaluation, annotations)
        if (params !== undefined) yield* this.#turn()
      }
    } catch (error) {
      this.#fail(policy, binding, error)
    }
  }

  /**
   * Records a configuration error. The error denies the request, unless the policy ignores errors.
   */
  #fail(policy: ValidatingPolicy, binding: Binding | undefined, error: unknown): void {
    if (!(error instanceof ConfigurationFault)) throw error
    if (policy.ignoresErrors) return
    const message = `failed to configure ${binding === undefined ? 'policy' : 'binding'}: ${error.message}`
    this.#denials.push({ policy, binding, message, reason: 'Invalid' })
  }

  #evaluate(
    policy: ValidatingPolicy,
    resource: Resource,
    params: Params,
  ): MaybePromise<Evaluation> {
    const compiled = policy.compiled()
    // When the promise resolves, evaluate again: `policy.compiled` then returns the expressions
    // instead of a promise.
    if (compiled instanceof Promise)
      return compiled.then(() => this.#evaluate(policy, resource, params))
    const input = this.#request.input(resource, params)
    return input instanceof Promise
      ? input.then((made) => this.#run(policy, compiled, made))
      : this.#run(policy, compiled, input)
  }

  #run(
    policy: ValidatingPolicy,
    compiled: CompiledPolicy,
    input: PolicyInput,
  ): MaybePromise<Evaluation> {
    return this.#request.run(policy, (running) => evaluatePolicy(compiled, input, running))
  }

  #act(
    policy: ValidatingPolicy,
    binding: Binding,
    evaluation: Evaluation,
    annotations: Annotations,
  ): void {
    for (const [at, decision] of evaluation.decisions.entries()) {
      if (decision.kind === 'admit') continue
      const check = checkOf(policy, binding, {
        message: decision.message,
        ms: evaluation.times[at] ?? 0,
      })
      if (decision.kind === 'error' && policy.ignoresErrors)
        this.#options.metrics.count('allow', check)
      else this.#enforce(policy, binding, { decision, at, check })
    }
    for (const annotation of evaluation.annotations) {
      if (annotation.kind === 'publish') {
        const values = annotations.get(annotation.key) ?? new Set<string>()
        annotations.set(
          annotation.key,
          values.add(annotation.value.slice(0, ANNOTATION_CHARACTERS_MAX)),
        )
      } else if (!policy.ignoresErrors) {
        this.#options.metrics.count(
          'deny',
          checkOf(policy, binding, { message: annotation.message, ms: 0 }),
        )
        this.#denials.push({ policy, binding, message: annotation.message, reason: 'Invalid' })
      }
    }
  }

  #enforce(policy: ValidatingPolicy, binding: Binding, { decision, at, check }: FailedCheck): void {
    const { context } = this.#attributes
    const { metrics } = this.#options
    const { message } = decision
    for (const action of binding.actions) {
      if (action === 'Deny') {
        const reason = decision.kind === 'deny' ? decision.reason : 'Invalid'
        this.#denials.push({ policy, binding, message, reason })
        metrics.count('deny', check)
      } else if (action === 'Warn') {
        const by = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`
        context.warn(`Validation failed for ${by}: ${message}`)
        metrics.count('warn', check)
      } else if (action === 'Audit') {
        context.annotate(
          `validation.policy.admission.k8s.io/validation_failure`,
          failureText(binding, message, at),
        )
        metrics.count('audit', check)
      }
    }
  }
}

const ANNOTATION_CHARACTERS_MAX = 10 * 1024

type FailedCheck = {
  readonly decision: Exclude<Decision, { readonly kind: 'admit' }>
  readonly at: number
  readonly check: Check
}

function checkOf(
  policy: ValidatingPolicy,
  binding: Binding,
  { message, ms }: { readonly message: string; readonly ms: number },
): Check {
  const error =
    message === OVER_BUDGET
      ? 'out_of_budget'
      : message.startsWith('compilation')
        ? 'compile_error'
        : 'invalid_error'
  return { policy: policy.name, binding: binding.name, error, seconds: ms / 1_000 }
}

function textOf({ policy, binding, message }: Denial): string {
  const by = binding === undefined ? '' : ` with binding '${binding.name}'`
  return `ValidatingAdmissionPolicy '${policy.name}'${by} denied request: ${message}`
}

/** Formats the audit annotation of a failed validation as Go does. */
function failureText({ name, policyName, actions }: Binding, message: string, at: number): string {
  const [reported, policy, binding] = [message, policyName, name].map(printString)
  const listed = actions.map(printString).join(',')
  return `[{"message":${reported},"policy":${policy},"binding":${binding},"expressionIndex":${at},"validationActions":[${listed}]}]`
}

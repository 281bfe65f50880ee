/**
 * The ValidatingAdmissionPolicy plugin: evaluates all policies whose rules, selectors and bindings match a request, and denies, warns or
 * audits as the bindings say. Of several denials the first one is reported, by the names of policies and bindings.
 */
import { ApiError, deniedByPolicy, serviceUnavailable } from '../../api/errors.ts'
import type { Fields } from '../../api/object.ts'
import type { AnswerPattern } from '../../cel/pattern-thread.ts'
import { valueOf } from '../../cel/json-values.ts'
import type { CheckedResource } from '../../cel/library/authorizer.ts'
import type { Activation } from '../../cel/run.ts'
import { nowOrInTurns, type TurnTools } from '../../cel/turns.ts'
import { dyn } from '../../cel/types.ts'
import type { Result } from '../../cel/values.ts'
import { printString } from '../../codec/json.ts'
import type { Clock } from '../../lib/clock.ts'
import { Slices } from '../../lib/slices.ts'
import type { Resource } from '../../registry/resource.ts'
import { type Attributes, type Plugin, refusal } from '../admission.ts'
import { type MatchCriteria, matchesObjectSelector, matchRules } from '../match/criteria.ts'
import { isExemptFromPolicies } from '../match/exempt.ts'
import { equivalentsOf } from '../match/match-index.ts'
import { findNamespace, isOfNamespaces, matchesNamespaceSelector, namespaceOf } from '../match/namespaces.ts'
import type { ConvertByWebhook } from '../match/versions.ts'
import type { Objects } from '../objects.ts'
import { type Decision, type Evaluation, evaluatePolicy, OVER_BUDGET } from './evaluate-policy.ts'
import type { Check, PolicyMetrics } from './metrics.ts'
import { ConfigurationFault, paramResource, readParams } from './params.ts'
import type { Binding, Policy } from './policy.ts'
import type { BoundPolicy, PolicyIndex } from './policy-index.ts'
import { namespaceValue, type ObjectValues, RequestValues } from './request-values.ts'
import { SelectedPolicies } from './selected-policies.ts'

export type ValidatingPoliciesParts = {
  readonly index: PolicyIndex
  readonly objects: Pick<Objects, 'get' | 'list'>
  readonly registry: Parameters<typeof equivalentsOf>[0]
  readonly resourcesOf: (apiVersion: string, kind: string) => readonly Resource[]
  readonly convertByWebhook: ConvertByWebhook
  /** The variables `authorizer` and `authorizer.requestResource` of a request. */
  readonly authorizerOf: (context: Attributes['context'], requestResource: CheckedResource) => Activation
  readonly answerPattern: AnswerPattern
  readonly metrics: Pick<PolicyMetrics, 'count'>
  readonly clock: Pick<Clock, 'monotonicMs'>
}

export function createValidatingPolicies(parts: ValidatingPoliciesParts): Plugin {
  const selected = new SelectedPolicies(parts.objects)
  return {
    name: 'ValidatingAdmissionPolicy',
    validate: (attributes) => {
      if (isExemptFromPolicies(attributes)) return undefined
      const candidates = selected.of(parts.index.candidates(attributes), attributes)
      if (candidates.length === 0) return undefined
      const review = new Review(attributes, parts)
      return review.run(candidates.map(({ entry, resource }) => ({ ...entry, resource })))
    },
  }
}

type Matched = BoundPolicy & { readonly resource: Resource }

type Denial = {
  readonly policy: Policy
  /** Undefined: the policy itself has a fault. */
  readonly binding: Binding | undefined
  readonly message: string
  readonly reason: string
}

/** The evaluation of all matching policies on one request. */
class Review {
  readonly #attributes: Attributes
  readonly #parts: ValidatingPoliciesParts
  readonly #values: RequestValues
  readonly #tools: Required<TurnTools>
  /** Of all evaluations together: none of them needs to be long. */
  readonly #slices = new Slices()
  readonly #denials: Denial[] = []
  #authorizer: Activation | undefined
  #namespace: Promise<Result> | undefined

  constructor(attributes: Attributes, parts: ValidatingPoliciesParts) {
    this.#attributes = attributes
    this.#parts = parts
    this.#values = new RequestValues(attributes, parts.convertByWebhook)
    const { context } = attributes
    this.#tools = {
      answer: parts.answerPattern,
      refuse: () => {
        if (context.signal.aborted) throw serviceUnavailable('the request was cancelled')
      },
    }
  }

  /** Fails with an ApiError if the request is denied. */
  async run(policies: readonly Matched[]): Promise<void> {
    for (const matched of policies) {
      const { policy } = matched
      await this.#orDenied(policy, undefined, async () => {
        if (await this.#isSelected(policy.criteria)) await this.#review(matched)
      })
      if (this.#slices.isOver) await this.#turn()
    }
    const [first] = this.#denials
    if (first !== undefined) throw deniedByPolicy(refusal(this.#attributes, textOf(first)), first.reason, textOf(first))
  }

  async #review({ policy, bindings, resource }: Matched): Promise<void> {
    const { resourcesOf } = this.#parts
    const params = policy.paramKind && paramResource(policy.paramKind, resourcesOf)
    const annotations = new Map<string, Set<string>>()
    for (const binding of bindings) {
      await this.#orDenied(policy, binding, async () => {
        if (!(await this.#isBound(binding))) return
        for (const param of await this.#paramsOf(binding, params)) {
          const evaluation = await this.#evaluate(policy, resource, param)
          this.#act(policy, binding, evaluation, annotations)
          if (this.#slices.isOver) await this.#turn()
        }
      })
      if (this.#slices.isOver) await this.#turn()
    }
    for (const [key, values] of annotations) {
      this.#attributes.context.annotate(`${policy.name}/${key}`, [...values].join(', '))
    }
  }

  /** Fails if the request was cancelled. */
  async #turn(): Promise<void> {
    this.#tools.refuse()
    await this.#slices.turn()
  }

  /** A fault of the configuration denies the request, unless the policy ignores errors. */
  async #orDenied(policy: Policy, binding: Binding | undefined, run: () => Promise<void>): Promise<void> {
    try {
      await run()
    } catch (error) {
      if (!(error instanceof ConfigurationFault)) throw error
      if (policy.ignoresErrors) return
      const message = `failed to configure ${binding === undefined ? 'policy' : 'binding'}: ${error.message}`
      this.#denials.push({ policy, binding, message, reason: 'Invalid' })
    }
  }

  /** Fails with a ConfigurationFault, such as for a namespace that does not exist. */
  async #isSelected(criteria: MatchCriteria): Promise<boolean> {
    try {
      if (!(await matchesNamespaceSelector(criteria, this.#attributes, this.#parts.objects))) return false
      return matchesObjectSelector(criteria, this.#attributes)
    } catch (error) {
      throw error instanceof ApiError ? new ConfigurationFault(error.message, { cause: error }) : error
    }
  }

  async #isBound({ criteria }: Binding): Promise<boolean> {
    if (!(await this.#isSelected(criteria))) return false
    if (criteria.rules === undefined && criteria.excluded.length === 0) return true
    const equivalents = equivalentsOf(this.#parts.registry, this.#attributes)
    return matchRules(criteria, { target: this.#attributes, equivalents }) !== undefined
  }

  /** Undefined: `params` is not declared. Null: it is null. */
  async #paramsOf({ paramRef }: Binding, resource: Resource | undefined): Promise<Iterable<Fields | null | undefined>> {
    if (resource === undefined) return [undefined]
    if (paramRef === undefined) return [null]
    const { objects } = this.#parts
    return readParams(resource, paramRef, { namespace: namespaceOf(this.#attributes), objects })
  }

  async #evaluate(policy: Policy, resource: Resource, params: Fields | null | undefined): Promise<Evaluation> {
    const compiled = await policy.compiled()
    const { object, oldObject } = await this.#objectsIn(resource)
    const input = {
      object,
      oldObject,
      request: this.#values.requestAs(resource),
      namespaceObject: await this.#namespaceObject(),
      params: params === undefined ? undefined : valueOf(params, dyn),
      authorizer: this.#authorizerVariables(),
    }
    const tools = this.#tools
    const nowMs = this.#parts.clock.monotonicMs
    return nowOrInTurns((slice) => evaluatePolicy(compiled, input, { slice, tools, nowMs }), tools)
  }

  /** Fails with a ConfigurationFault if a webhook cannot convert them. */
  async #objectsIn(resource: Resource): Promise<ObjectValues> {
    try {
      return await this.#values.objectsIn(resource)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      throw new ConfigurationFault(`failed to convert object version: ${error.message}`, { cause: error })
    }
  }

  #authorizerVariables(): Activation {
    const { resource, subresource, name, context } = this.#attributes
    const { group, plural } = resource
    const namespace = namespaceOf(this.#attributes)
    const asked = { group, resource: plural, subresource, namespace, name }
    return (this.#authorizer ??= this.#parts.authorizerOf(context, asked))
  }

  /** Null for objects in no namespace, and for namespaces themselves. */
  #namespaceObject(): Promise<Result> | null {
    const name = isOfNamespaces(this.#attributes) ? '' : this.#attributes.namespace
    if (name === '') return null
    return (this.#namespace ??= findNamespace(this.#parts.objects, name).then(namespaceValue))
  }

  #act(policy: Policy, binding: Binding, evaluation: Evaluation, annotations: Map<string, Set<string>>): void {
    for (const [at, decision] of evaluation.decisions.entries()) {
      if (decision.kind === 'admit') continue
      const check = checkOf(policy, binding, { message: decision.message, ms: evaluation.times[at] ?? 0 })
      if (decision.kind === 'error' && policy.ignoresErrors) this.#parts.metrics.count('allow', check)
      else this.#enforce(policy, binding, { decision, at, check })
    }
    for (const annotation of evaluation.annotations) {
      if (annotation.kind === 'publish') {
        const values = annotations.get(annotation.key) ?? new Set<string>()
        annotations.set(annotation.key, values.add(annotation.value.slice(0, ANNOTATION_CHARACTERS_MAX)))
      } else if (!policy.ignoresErrors) {
        this.#parts.metrics.count('deny', checkOf(policy, binding, { message: annotation.message, ms: 0 }))
        this.#denials.push({ policy, binding, message: annotation.message, reason: 'Invalid' })
      }
    }
  }

  #enforce(policy: Policy, binding: Binding, { decision, at, check }: Failed): void {
    const { context } = this.#attributes
    const { metrics } = this.#parts
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
        context.annotate(`validation.policy.admission.k8s.io/validation_failure`, failureText(binding, message, at))
        metrics.count('audit', check)
      }
    }
  }
}

const ANNOTATION_CHARACTERS_MAX = 10 * 1024

type Failed = {
  readonly decision: Exclude<Decision, { readonly kind: 'admit' }>
  readonly at: number
  readonly check: Check
}

function checkOf(
  policy: Policy,
  binding: Binding,
  { message, ms }: { readonly message: string; readonly ms: number },
): Check {
  const error =
    message === OVER_BUDGET ? 'out_of_budget' : message.startsWith('compilation') ? 'compile_error' : 'invalid_error'
  return { policy: policy.name, binding: binding.name, error, seconds: ms / 1_000 }
}

function textOf({ policy, binding, message }: Denial): string {
  const by = binding === undefined ? '' : ` with binding '${binding.name}'`
  return `ValidatingAdmissionPolicy '${policy.name}'${by} denied request: ${message}`
}

/** As Go prints it. */
function failureText({ name, policyName, actions }: Binding, message: string, at: number): string {
  const [told, policy, binding] = [message, policyName, name].map(printString)
  const listed = actions.map(printString).join(',')
  return `[{"message":${told},"policy":${policy},"binding":${binding},"expressionIndex":${at},"validationActions":[${listed}]}]`
}

/**
 * The part of the evaluation of policies that is the same for all types of policies. For one
 * request, it determines whether a policy matches, which parameters the policy has, and which
 * variables its expressions can use.
 */
import { ApiError, internalError, serviceUnavailable, tooManyRequests } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import {
  awaitMaybe,
  type MaybeAsync,
  type MaybePromise,
  runMaybeAsync,
} from '../../lib/concurrency/maybe-promise.ts'
import { lazyValueOf } from '../../objects/cel/json-values.ts'
import type { CheckedResource } from '../../objects/cel/library/authorizer.ts'
import type { AnswerPattern } from '../../objects/cel/pattern-thread.ts'
import type { Activation } from '../../objects/cel/run.ts'
import { nowOrInTurns, type TurnTools, type Turns } from '../../objects/cel/turns.ts'
import type { Result } from '../../objects/cel/values.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import type { Resource } from '../../registry/resource.ts'
import { WebhookError } from '../../net/outbound/call.ts'
import type { Attributes } from '../admission.ts'
import type { ConditionMetrics } from '../match/condition-metrics.ts'
import { type MatchCriteria, matchesObjectSelector, matchRules } from '../match/criteria.ts'
import { equivalentsOf } from '../match/match-index.ts'
import {
  findNamespace,
  isOfNamespaces,
  matchesNamespaceSelector,
  namespaceOf,
} from '../match/namespaces.ts'
import type { ConvertByWebhook } from '../match/versions.ts'
import type { Objects } from '../../api/object-access.ts'
import type { PolicyInput, EvaluationContext } from './expressions.ts'
import { LazyWire } from './lazy-wire.ts'
import { ConfigurationFault, type Param, readParams } from './params.ts'
import type { Binding } from './policy.ts'
import { namespaceValue, type ObjectValues, RequestValues } from './request-values.ts'

/**
 * Retry-After header in seconds when too many calls are in flight, as for other requests rejected
 * with 429.
 */
const RETRY_SECONDS = 1

export type PolicyRequestOptions = {
  readonly objects: Pick<Objects, 'get' | 'select'>
  readonly registry: Parameters<typeof equivalentsOf>[0]
  readonly resourcesOf: (apiVersion: string, kind: string) => readonly Resource[]
  readonly convertByWebhook: ConvertByWebhook
  /** Returns the variables `authorizer` and `authorizer.requestResource` of a request. */
  readonly authorizerOf: (
    context: Attributes['context'],
    requestResource: CheckedResource,
  ) => Activation
  readonly answerPattern: AnswerPattern
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly conditionMetrics: Pick<ConditionMetrics, 'observePolicy'>
}

/**
 * The parameter with which a policy is evaluated. Null if the binding has no parameters; undefined
 * if the policy has no paramKind.
 */
export type Params = Param | null | undefined

export class PolicyRequest {
  readonly attributes: Attributes
  /**
   * Callbacks for evaluations. They match slow regular expressions on a worker thread, and stop an
   * evaluation if the request was canceled.
   */
  readonly #tools: Required<TurnTools>
  readonly #options: PolicyRequestOptions
  #values: RequestValues
  /**
   * All evaluations of the request share one time slice. When it ends, they yield to the event
   * loop, which many short evaluations together could otherwise block.
   */
  readonly #slices = new Slices()
  #authorizer: Activation | undefined
  #equivalents: readonly Resource[] | undefined
  /** Namespace of the object. Null if the object is cluster-scoped, including a Namespace. */
  #namespace: KubeObject | null | undefined
  #namespaceValue: Result | undefined

  constructor(attributes: Attributes, options: PolicyRequestOptions) {
    this.attributes = attributes
    this.#options = options
    const isInNone = attributes.namespace === '' || isOfNamespaces(attributes)
    this.#namespace = isInNone ? null : attributes.known.namespace
    this.#values = new RequestValues(attributes, options.convertByWebhook)
    const { context } = attributes
    this.#tools = {
      answer: options.answerPattern,
      refuse: () => {
        if (context.signal.aborted) throw serviceUnavailable('the request was cancelled')
      },
    }
  }

  /**
   * Sets the object for later expressions. Rules and selectors of policies are still compared with
   * the original object.
   */
  set object(object: KubeObject) {
    this.#values = this.#values.with(object)
  }

  /**
   * Runs expressions of a policy. Returns a promise only if they take more than one slice of time.
   */
  run<T>(
    policy: { readonly name: string },
    work: (running: EvaluationContext) => Turns<T>,
  ): MaybePromise<T> {
    const { clock, conditionMetrics } = this.#options
    const { operation } = this.attributes
    const tools = this.#tools
    const nowMs = clock.monotonicMs
    const onUnmatched = (ms: number, errors: number): void =>
      conditionMetrics.observePolicy({
        policy: policy.name,
        operation,
        seconds: ms / 1_000,
        errors,
      })
    return nowOrInTurns((slice) => work({ slice, tools, nowMs, onUnmatched }), tools, this.#slices)
  }

  /**
   * Yields to the event loop if the time slice is over. Otherwise returns undefined. Fails if the
   * request was canceled.
   */
  turn(): Promise<void> | undefined {
    if (!this.#slices.isOver) return undefined
    this.#tools.refuse()
    return this.#slices.turn()
  }

  /**
   * Returns whether the selectors match. If this cannot be decided, for example because the
   * namespace does not exist, fails with a ConfigurationFault.
   */
  *isSelected(criteria: MatchCriteria): MaybeAsync<boolean> {
    try {
      if (
        !(yield* awaitMaybe(
          matchesNamespaceSelector(criteria, this.attributes, this.#options.objects),
        ))
      )
        return false
      return matchesObjectSelector(criteria, this.attributes)
    } catch (error) {
      throw error instanceof ApiError
        ? new ConfigurationFault(error.message, { cause: error })
        : error
    }
  }

  *isBound({ criteria }: Binding): MaybeAsync<boolean> {
    if (!(yield* this.isSelected(criteria))) return false
    if (criteria.rules === undefined && criteria.excluded.length === 0) return true
    this.#equivalents ??= equivalentsOf(this.#options.registry, this.attributes)
    return (
      matchRules(criteria, { target: this.attributes, equivalents: this.#equivalents }) !==
      undefined
    )
  }

  /**
   * Returns the parameters of a binding. `resource` is their resource, or undefined if the policy
   * has no paramKind. Fails with a ConfigurationFault in the same cases as `readParams`.
   */
  paramsOf({ paramRef }: Binding, resource: Resource | undefined): MaybePromise<Iterable<Params>> {
    if (resource === undefined) return [undefined]
    if (paramRef === undefined) return [null]
    const { objects } = this.#options
    return readParams(resource, paramRef, { namespace: namespaceOf(this.attributes), objects })
  }

  /**
   * Returns the variables of the expressions. `resource` is the resource in the version that the
   * policy names. Fails like `objectsIn`, and with NotFound if the namespace does not exist.
   */
  input(resource: Resource, params: Params): MaybePromise<PolicyInput> {
    return resource === this.attributes.resource && this.#namespace !== undefined
      ? new LazyInput(this, { resource, objects: this.#values.own, params })
      : runMaybeAsync(this.#makeInput(resource, params))
  }

  *#makeInput(resource: Resource, params: Params): MaybeAsync<PolicyInput> {
    const objects = yield* this.objectsIn(resource)
    this.#namespace ??= yield* awaitMaybe(
      findNamespace(this.#options.objects, this.attributes.namespace),
    )
    return new LazyInput(this, { resource, objects, params })
  }

  /**
   * Returns the object and the old object, converted to the version of `resource`. Fails with a
   * ConfigurationFault if the conversion webhook fails, and with an ApiError if the conversion
   * exceeds a limit of this server.
   */
  *objectsIn(resource: Resource): MaybeAsync<ObjectValues> {
    try {
      return yield* awaitMaybe(this.#values.objectsIn(resource))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const message = `failed to convert object version: ${error.message}`
      const limit = error.cause instanceof WebhookError ? error.cause.limit : undefined
      // If a limit of this server is exceeded, reject the request. A ConfigurationFault would admit
      // it if the failurePolicy is Ignore.
      if (limit === 'busy') throw tooManyRequests(message, RETRY_SECONDS)
      if (limit === 'answer') throw internalError(message, error)
      throw new ConfigurationFault(message, { cause: error })
    }
  }

  /**
   * Returns the variable `request`. `matched` is the resource in the version that the policy names.
   */
  requestAs(matched: Resource): Result {
    return this.#values.requestAs(matched)
  }

  get authorizer(): Activation {
    const { resource, subresource, name, context } = this.attributes
    const { group, plural } = resource
    const namespace = namespaceOf(this.attributes)
    const asked = { group, resource: plural, subresource, namespace, name }
    return (this.#authorizer ??= this.#options.authorizerOf(context, asked))
  }

  get namespaceObject(): Result {
    return (this.#namespaceValue ??= this.#namespace ? namespaceValue(this.#namespace) : null)
  }
}

type LaterInput = {
  readonly resource: Resource
  readonly objects: ObjectValues
  readonly params: Params
}

/**
 * The input of expressions. Values that only some expressions use are built when an expression
 * reads them.
 */
class LazyInput implements PolicyInput {
  readonly object: Result
  readonly oldObject: Result
  readonly params: Result | undefined
  readonly #request: PolicyRequest
  readonly #resource: Resource

  constructor(request: PolicyRequest, { resource, objects, params }: LaterInput) {
    this.object = objects.object
    this.oldObject = objects.oldObject
    this.params = params ? lazyValueOf(new LazyWire(params.object, params.struct)) : params
    this.#request = request
    this.#resource = resource
  }

  get request(): Result {
    return this.#request.requestAs(this.#resource)
  }

  get namespaceObject(): Result {
    return this.#request.namespaceObject
  }

  get authorizer(): Activation {
    return this.#request.authorizer
  }
}

/**
 * The webhook authorizer. It sends a SubjectAccessReview to another server and caches the responses
 * for a while. A decision is synchronous if it comes from the cache or if the match conditions
 * exclude the request.
 */
import { hash } from 'node:crypto'
import type { AccessAttributes, AccessDecision } from '../../api/access.ts'
import { tooManyRequests } from '../../api/errors.ts'
import type { User } from '../../api/user.ts'
import { messageOf } from '../../lib/errors.ts'
import { type MaybePromise, thenMaybe } from '../../lib/concurrency/maybe-promise.ts'
import type { AnswerPattern } from '../../objects/cel/pattern-thread.ts'
import type { AuthorizationWebhook } from '../../config/files/authorization-webhook.ts'
import { TtlCache } from '../../lib/cache/ttl-cache.ts'
import { type BoundedLog, createBoundedLog } from '../../lib/telemetry/bounded-log.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { systemTime, type Time } from '../../lib/time/timers.ts'
import { CallError, type CallFailure } from '../../net/outbound/call-error.ts'
import type { KubeconfigClient } from '../../net/outbound/kubeconfig-client.ts'
import { type Backoff, retry, webhookBackoff } from '../../net/outbound/retry.ts'
import {
  type Authorizer,
  noOpinion,
  noRights,
  type Rights,
  type WaitingRequest,
} from './authorizer.ts'
import { type ConditionResult, matchConditions } from './match-conditions.ts'
import type { AuthorizationMetrics } from './metrics.ts'
import { type ReviewSpec, reviewSpecOf } from './review-spec.ts'
import { printReview, readReviewStatus, type ReviewStatus } from './webhook-review.ts'

/** Maximum number of cached responses, as in kube-apiserver. */
const CACHE_ENTRIES_MAX = 8192
/**
 * Maximum total length of the attributes, which clients control. As in kube-apiserver, the response
 * is not cached if the attributes are longer.
 */
const ATTRIBUTES_LENGTH_MAX = 10_000
/**
 * Maximum length of the reason in a cached response, so that all reasons together occupy at most 80
 * MB.
 */
const REASON_LENGTH_MAX = 10_000
/** Delays between retries, as in kube-apiserver. */
const BACKOFF = webhookBackoff(500)
/** Delay in the Retry-After header, as for other requests rejected with 429. */
const RETRY_SECONDS = 1
const tooManyCalls = 'too many requests are being authorized, please try again later'

export type WebhookAuthorizerOptions = {
  readonly name: string
  readonly webhook: AuthorizationWebhook
  /** Minor version of Kubernetes that this server implements. */
  readonly release: number
  readonly client: Pick<KubeconfigClient, 'post'>
  readonly metrics: AuthorizationMetrics
  readonly log: Log
  readonly random: () => number
  /** Whether the AuthorizeWithSelectors feature gate is enabled. */
  readonly hasSelectors: boolean
  readonly answerPattern?: AnswerPattern | undefined
  readonly time?: Time
  readonly backoff?: Backoff
}

export function createWebhookAuthorizer(options: WebhookAuthorizerOptions): Authorizer {
  const webhook = new WebhookAuthorizer(options)
  return {
    authorize: (user, attributes, waiting) => webhook.authorize(user, attributes, waiting),
    rightsOf: () => unknownRights,
  }
}

const unknownRights: Rights = {
  ...noRights,
  incomplete: true,
  evaluationError: 'webhook authorizer does not support user rule resolution',
}

class WebhookAuthorizer {
  readonly #options: WebhookAuthorizerOptions
  readonly #time: Time
  readonly #answers: TtlCache<ReviewStatus>
  /**
   * The rate of log entries is limited, because any client can cause calls while the webhook is
   * down.
   */
  readonly #logFailure: BoundedLog

  constructor(options: WebhookAuthorizerOptions) {
    this.#options = options
    this.#time = options.time ?? systemTime
    this.#logFailure = createBoundedLog(options.log, this.#time)
    this.#answers = new TtlCache({ sizeMax: CACHE_ENTRIES_MAX }, this.#time)
  }

  authorize(
    user: User,
    attributes: AccessAttributes,
    waiting?: WaitingRequest,
  ): MaybePromise<AccessDecision> {
    const { webhook, hasSelectors } = this.#options
    const spec = reviewSpecOf(user, attributes, hasSelectors)
    const keep = isShort(attributes)
    if (webhook.conditions.length === 0) return this.#ask(spec, keep, waiting)
    const matched = this.#match(spec)
    if (!(matched instanceof Promise)) return this.#askIf(matched, spec, keep, waiting)
    return matched.then((later) => this.#askIf(later, spec, keep, waiting))
  }

  #match(spec: ReviewSpec): MaybePromise<ConditionResult> {
    const { webhook, hasSelectors, answerPattern, metrics, name } = this.#options
    const { conditions } = webhook
    const startMs = this.#time.monotonicMs()
    const reported = (matched: ConditionResult): ConditionResult => {
      metrics.matchConditions.seconds
        .with(name, 'Webhook')
        .observe((this.#time.monotonicMs() - startMs) / 1000)
      if (matched.error !== undefined) metrics.matchConditions.errors.with(name, 'Webhook').add()
      else if (!matched.isMatch) metrics.matchConditions.exclusions.with(name, 'Webhook').add()
      return matched
    }
    const matched = matchConditions(spec, { conditions, hasSelectors, answerPattern })
    return thenMaybe(matched, reported)
  }

  #askIf(
    { isMatch, error }: ConditionResult,
    spec: ReviewSpec,
    keep: boolean,
    waiting: WaitingRequest | undefined,
  ): MaybePromise<AccessDecision> {
    if (error !== undefined) return this.#onError(error)
    return isMatch ? this.#ask(spec, keep, waiting) : noOpinion
  }

  #ask(
    spec: ReviewSpec,
    keep: boolean,
    waiting: WaitingRequest | undefined,
  ): MaybePromise<AccessDecision> {
    const body = printReview(spec, this.#options.webhook.reviewVersion, this.#options.release)
    const key = hash('sha256', body, 'base64')
    const known = this.#answers.get(key)
    return known === undefined
      ? this.#call(body, keep ? key : undefined, waiting)
      : decisionOf(known)
  }

  /**
   * Calls the webhook, with retries. `key` is the cache key; if it is undefined, the response is
   * not cached.
   */
  async #call(
    body: string,
    key: string | undefined,
    waiting: WaitingRequest | undefined,
  ): Promise<AccessDecision> {
    const { webhook, random, metrics, name, backoff = BACKOFF } = this.#options
    const signal = waiting?.signal
    let result = ''
    try {
      const call = async (): Promise<ReviewStatus> => {
        const called = await this.#callOnce(body, signal)
        result = called.result
        if (called.result !== 'success') throw called.error
        return called.status
      }
      const status = await retry(call, { backoff, timers: this.#time, random, signal })
      if (key !== undefined && status.reason.length <= REASON_LENGTH_MAX) {
        this.#answers.set(key, status, {
          ttlMs: status.isAllowed ? webhook.authorizedMs : webhook.unauthorizedMs,
        })
      }
      return decisionOf(status)
    } catch (error) {
      const message = messageOf(error)
      this.#logFailure('error', 'failed to call an authorization webhook', () => ({
        webhook: name,
        error: message,
      }))
      // If the request has already ended, deny it, so that no other authorizer allows it. Otherwise
      // a client could choose a timeout so short that the webhook cannot deny the request in time.
      if (signal?.aborted === true) return { verdict: 'deny', reason: '', error: message }
      // The failure policy applies only to failures of the webhook. A limit of this server must not
      // allow requests that the webhook might deny.
      if (failedBy(error, 'busy')) throw tooManyRequests(tooManyCalls, RETRY_SECONDS)
      if (failedBy(error, 'too-large')) return { verdict: 'deny', reason: '', error: message }
      if (webhook.failurePolicy === 'NoOpinion') metrics.webhooks.failOpen.with(name, result).add()
      return this.#onError(message)
    }
  }

  async #callOnce(body: string, signal: AbortSignal | undefined): Promise<CallResult> {
    const { client, webhook, metrics, name } = this.#options
    const startMs = this.#time.monotonicMs()
    let called: CallResult
    try {
      const status = readReviewStatus(await client.post(body, signal), webhook.reviewVersion)
      called =
        'fault' in status
          ? failed(new CallError(status.fault, 'other'))
          : { result: 'success', status }
    } catch (error) {
      called = failed(error, signal)
    }
    metrics.webhooks.calls.with(name, called.result).add()
    metrics.webhooks.seconds
      .with(name, called.result)
      .observe((this.#time.monotonicMs() - startMs) / 1000)
    return called
  }

  #onError(error: string): AccessDecision {
    const verdict = this.#options.webhook.failurePolicy === 'Deny' ? 'deny' : 'no-opinion'
    return { verdict, reason: '', error }
  }
}

/** The outcome of one call. `result` is the value of the metric label. */
type CallResult =
  | { readonly result: 'success'; readonly status: ReviewStatus }
  | { readonly result: 'canceled' | 'timeout' | 'error'; readonly error: unknown }

function failed(error: unknown, signal?: AbortSignal): CallResult {
  if (signal?.aborted === true) return { result: 'canceled', error }
  const isLate = error instanceof CallError && (error.failure === 'timeout' || error.status === 504)
  return { result: isLate ? 'timeout' : 'error', error }
}

const failedBy = (error: unknown, failure: CallFailure): boolean =>
  error instanceof CallError && error.failure === failure

function decisionOf({ isAllowed, isDenied, reason }: ReviewStatus): AccessDecision {
  if (isDenied && isAllowed) {
    const error = 'webhook subject access review returned both allow and deny response'
    return { verdict: 'deny', reason, error }
  }
  return { verdict: isDenied ? 'deny' : isAllowed ? 'allow' : 'no-opinion', reason }
}

function isShort(attributes: AccessAttributes): boolean {
  if (attributes.kind === 'path')
    return attributes.path.length + attributes.verb.length < ATTRIBUTES_LENGTH_MAX
  const { namespace, verb, group, version, plural, subresource, name } = attributes
  const texts = [namespace, verb, group, version, plural, subresource, name]
  return texts.reduce((length, text) => length + text.length, 0) < ATTRIBUTES_LENGTH_MAX
}

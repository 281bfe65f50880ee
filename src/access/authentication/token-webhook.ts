/**
 * The webhook token authenticator. It sends a TokenReview to another server, which returns the user
 * that a token belongs to.
 */
import { emptyMetadata } from '../../api/zero-time.ts'
import { type Fields, fieldsOf, isFields, type Json, textOf, textsOf } from '../../api/object.ts'
import { tooManyRequests } from '../../api/errors.ts'
import { quote } from '../../api/quote.ts'
import type { User } from '../../api/user.ts'
import { createBoundedLog } from '../../lib/telemetry/bounded-log.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { ownText } from '../../lib/text/own-text.ts'
import { deadline, systemTime, type Time } from '../../lib/time/timers.ts'
import { fieldsIn } from '../../net/outbound/body.ts'
import { CallError } from '../../net/outbound/call-error.ts'
import type { KubeconfigClient } from '../../net/outbound/kubeconfig-client.ts'
import { type Backoff, retry, webhookBackoff } from '../../net/outbound/retry.ts'
import {
  type AuthenticateToken,
  badToken,
  type TokenResult,
  unknownToken,
} from './token-authenticator.ts'

/** Time limit of each call, as in kube-apiserver. */
export const CALL_MS_MAX = 30_000
/** Time limit of a lookup including all retries, as in kube-apiserver. */
const LOOKUP_MS_MAX = 30_000
/** Delays between retries, as in kube-apiserver. */
const BACKOFF = webhookBackoff(500)
/**
 * Delay in the Retry-After header, as for other requests rejected with 429. Any client can cause
 * the limit of concurrent reviews to be reached. The token of another client may be valid
 * nevertheless, so that client is asked to retry instead of being rejected with 401.
 */
const RETRY_SECONDS = 1
const tooManyReviews = 'too many tokens are being reviewed, please try again later'

export type ReviewVersion = 'v1' | 'v1beta1'

export type TokenWebhookOptions = {
  readonly client: Pick<KubeconfigClient, 'post'>
  readonly reviewVersion: ReviewVersion
  /** Minor version of Kubernetes that this server implements. */
  readonly release: number
  /** The audiences of the server. They are used for webhooks that do not return audiences. */
  readonly served: readonly string[]
  readonly log: Log
  readonly random: () => number
  readonly time?: Time
  readonly backoff?: Backoff
}

export function createTokenWebhook(options: TokenWebhookOptions): AuthenticateToken {
  const { client, reviewVersion, random, time = systemTime, backoff = BACKOFF } = options
  // The rate of log entries is limited, because any client can send tokens while the webhook is
  // down.
  const logFailure = createBoundedLog(options.log, time)
  return async (token, audiences) => {
    const body = printReview(token, audiences, options)
    using limit = deadline(time, LOOKUP_MS_MAX)
    const { signal } = limit
    try {
      const text = await retry(() => client.post(body, signal), {
        backoff,
        timers: time,
        random,
        signal,
      })
      return resultOf(readStatus(text, reviewVersion), audiences, options)
    } catch (error) {
      const why = messageOf(error)
      logFailure('error', 'Failed to make webhook authenticator request', () => ({ error: why }))
      if (error instanceof CallError && error.failure === 'busy')
        throw tooManyRequests(tooManyReviews, RETRY_SECONDS)
      return badToken(why)
    }
  }
}

const apiVersionOf = (version: ReviewVersion): string => `authentication.k8s.io/${version}`

function printReview(
  token: string,
  audiences: readonly string[],
  { reviewVersion: version, release }: TokenWebhookOptions,
): string {
  return JSON.stringify({
    kind: 'TokenReview',
    apiVersion: apiVersionOf(version),
    metadata: emptyMetadata(release),
    spec: { token, ...(audiences.length === 0 ? {} : { audiences }) },
    status: { user: {} },
  })
}

type ReviewStatus = {
  readonly isAuthenticated: boolean
  readonly user: User
  readonly audiences: readonly string[]
  readonly error: string
}

/**
 * Reads the status of the review. A body without kind and apiVersion is assumed to be a TokenReview
 * in the requested version. Throws if the body has another kind or version, or is not a review.
 */
function readStatus(text: string, version: ReviewVersion): ReviewStatus {
  const fields = fieldsIn(text)
  if (fields === undefined) {
    throw new Error(
      "couldn't get version/kind; json parse error: the response is not a JSON object",
    )
  }
  const kind = textOf(fields['kind']) || 'TokenReview'
  const apiVersion = textOf(fields['apiVersion']) || apiVersionOf(version)
  if (kind !== 'TokenReview' || apiVersion !== apiVersionOf(version)) {
    throw new Error(
      `the response is a ${quote(kind)} of ${quote(apiVersion)}, not the review that was sent`,
    )
  }
  const { status } = fields
  const { authenticated, user, audiences, error } = fieldsOf(status)
  const { username, uid, groups, extra } = fieldsOf(user)
  const isReadable =
    isA(status, isFields) &&
    isA(authenticated, (value) => typeof value === 'boolean') &&
    isA(user, isFields) &&
    isA(extra, isFields) &&
    [error, username, uid].every((one) => isA(one, isText)) &&
    [audiences, groups, ...Object.values(fieldsOf(extra))].every((one) => isA(one, isTexts))
  if (!isReadable)
    throw new Error('the status of the response has fields whose types do not match a TokenReview')
  // The user is cached for minutes. Copy the strings, because a substring would retain the whole
  // response in memory.
  const known = {
    name: ownText(textOf(username)),
    uid: ownText(textOf(uid)),
    groups: textsOf(groups).map(ownText),
  }
  const more = extraOf(fieldsOf(extra))
  return {
    isAuthenticated: authenticated === true,
    user: Object.keys(more).length === 0 ? known : { ...known, extra: more },
    audiences: textsOf(audiences).map(ownText),
    error: textOf(error),
  }
}

const isText = (value: Json): boolean => typeof value === 'string'
const isTexts = (value: Json): boolean => Array.isArray(value) && value.every(isText)
const isA = (value: Json | undefined, is: (value: Json) => boolean): boolean =>
  value === undefined || value === null || is(value)

const extraOf = (extra: Fields): { readonly [key: string]: readonly string[] } =>
  Object.fromEntries(
    Object.entries(extra).map(([key, values]) => [key, textsOf(values).map(ownText)]),
  )

function resultOf(
  { isAuthenticated, user, audiences: reported, error }: ReviewStatus,
  audiences: readonly string[],
  { served }: TokenWebhookOptions,
): TokenResult {
  // Bounded: a list has at most AUDIENCES_MAX audiences, or is the short list of the server.
  const shared = (reported.length === 0 ? served : reported).filter((audience) =>
    audiences.includes(audience),
  )
  if (audiences.length > 0 && shared.length === 0) return unknownToken
  if (isAuthenticated) return { kind: 'known', user, audiences: shared }
  return error === '' ? unknownToken : badToken(error)
}

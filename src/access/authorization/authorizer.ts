/** The interface of authorizers. */
import type { AccessAttributes, AccessDecision } from '../../api/access.ts'
import type { Fields } from '../../api/object.ts'
import type { User } from '../../api/user.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'

/**
 * The request that is being authorized. `signal` aborts the decision when the request ends. The
 * AbortSignal is created when `signal` is read for the first time.
 */
export type WaitingRequest = { readonly signal: AbortSignal }

/**
 * Decides whether a user is authorized to do something. Returns a promise only if a webhook is
 * called; all other authorizers decide from memory. Rejects with an ApiError if too many requests
 * wait for the webhook.
 */
export type Authorize = (
  user: User,
  attributes: AccessAttributes,
  waiting?: WaitingRequest,
) => MaybePromise<AccessDecision>

/**
 * Everything that a user is allowed to do in a namespace, as listed in a SelfSubjectRulesReview.
 */
export type Rights = {
  readonly resourceRules: readonly Fields[]
  readonly nonResourceRules: readonly Fields[]
  /**
   * Whether the list is incomplete, because an authorizer might allow requests that it cannot list,
   * or because the list would be too long.
   */
  readonly incomplete: boolean
  readonly evaluationError?: string
}

/** The request that waits for the list of the user's rights. */
export type RightsRequest = WaitingRequest & {
  /** Reserves memory for the list, in bytes. Throws if there is not enough memory. */
  readonly reserve: (bytes: number) => void
}

export const noRights: Rights = { resourceRules: [], nonResourceRules: [], incomplete: false }

export type Authorizer = {
  readonly authorize: Authorize
  readonly rightsOf: (user: User, namespace: string, waiting: RightsRequest) => MaybePromise<Rights>
  /**
   * Explains why this authorizer made its decision, or what a different decision would require.
   * Absent if the reason of the decision already contains the whole explanation.
   */
  readonly explain?: (
    user: User,
    attributes: AccessAttributes,
    waiting?: WaitingRequest,
  ) => Promise<Fields>
}

export const allowed: AccessDecision = { verdict: 'allow', reason: '' }
export const noOpinion: AccessDecision = { verdict: 'no-opinion', reason: '' }

/** What an authorizer is. */
import type { AccessAttributes, AccessDecision } from '../../api/access.ts'
import type { Fields } from '../../api/object.ts'
import type { User } from '../../api/user.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'

/**
 * The request that waits for a decision: a decision that takes time ends with it. Its signal is
 * created when it is read.
 */
export type WaitingRequest = { readonly signal: AbortSignal }

/**
 * A promise only where a webhook is asked: all others decide from memory. It fails with an ApiError
 * if too many wait for the webhook.
 */
export type Authorize = (
  user: User,
  attributes: AccessAttributes,
  waiting?: WaitingRequest,
) => MaybePromise<AccessDecision>

/** All that a user may do in a namespace, as a SelfSubjectRulesReview lists it. */
export type Rights = {
  readonly resourceRules: readonly Fields[]
  readonly nonResourceRules: readonly Fields[]
  /** True if an authorizer may allow more than it can list. */
  readonly incomplete: boolean
  readonly evaluationError?: string
}

export const noRights: Rights = { resourceRules: [], nonResourceRules: [], incomplete: false }

export type Authorizer = {
  readonly authorize: Authorize
  readonly rightsOf: (user: User, namespace: string) => Rights
  /**
   * What the decision is based on, or what would be needed for another one. Undefined: it knows no
   * more than its reason.
   */
  readonly explain?: (user: User, attributes: AccessAttributes) => Promise<Fields>
}

export const allowed: AccessDecision = { verdict: 'allow', reason: '' }
export const noOpinion: AccessDecision = { verdict: 'no-opinion', reason: '' }

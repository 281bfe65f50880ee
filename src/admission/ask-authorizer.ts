/**
 * The type of the function with which plugins check permissions that the request needs in addition
 * to those for its own path.
 */
import type { AccessAttributes, AccessDecision } from '../api/access.ts'
import type { User } from '../api/user.ts'
import type { MaybePromise } from '../lib/concurrency/maybe-promise.ts'

/**
 * Asks the authorizers whether a user has access. `waiting` is the request that is being admitted;
 * its signal aborts the check.
 */
export type AskAuthorizer = (
  user: User,
  attributes: AccessAttributes,
  waiting: { readonly signal: AbortSignal },
) => MaybePromise<AccessDecision>

/**
 * The type of the function that plugins call to check whether a user has access to something that
 * is not in the path of the request.
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

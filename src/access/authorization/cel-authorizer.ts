/**
 * The CEL variables `authorizer` and `authorizer.requestResource`, which query the authorizer
 * chain. If several expressions of a request repeat a check, the chain is called only once.
 */
import type { AccessAttributes, AccessDecision } from '../../api/access.ts'
import { accessSelectors } from '../../api/access-selectors.ts'
import type { User } from '../../api/user.ts'
import { accountGroups, accountUserName } from '../../api/service-account.ts'
import { type MaybePromise, thenMaybe } from '../../lib/concurrency/maybe-promise.ts'
import {
  type AccessCheck,
  authorizerValue,
  type CheckDecision,
  type CheckedResource,
  requestResourceValue,
} from '../../objects/cel/library/authorizer.ts'
import type { Value } from '../../objects/cel/values.ts'
import type { Authorize, WaitingRequest } from './authorizer.ts'

/**
 * Maximum number of cached decisions per request. This is more than an expression can use: the cost
 * limit allows only a few dozen authorization checks per expression.
 */
const KEPT_MAX = 1_000

export type CelAuthorizerOptions = {
  readonly authorize: Authorize
  /** The user that sends the request. */
  readonly user: User
  readonly requestResource: CheckedResource
  readonly waiting?: WaitingRequest
}

export type CelAuthorizer = {
  readonly authorizer: Value
  readonly 'authorizer.requestResource': Value
}

/** Creates the variables that all expressions of a request share. */
export function celAuthorizer({
  authorize,
  user,
  requestResource,
  waiting,
}: CelAuthorizerOptions): CelAuthorizer {
  const kept = new Map<string, MaybePromise<CheckDecision>>()
  const checkAccess = (check: AccessCheck): MaybePromise<CheckDecision> => {
    const key = JSON.stringify(check)
    const known = kept.get(key)
    if (known !== undefined) return known
    const decision = authorize(checkedUser(check, user), attributesOf(check), waiting)
    const reported = thenMaybe(decision, toldOf)
    if (kept.size < KEPT_MAX) kept.set(key, reported)
    return reported
  }
  return {
    authorizer: authorizerValue(checkAccess),
    'authorizer.requestResource': requestResourceValue(checkAccess, requestResource),
  }
}

const toldOf = ({ verdict, reason, error }: AccessDecision): CheckDecision => ({
  isAllowed: verdict === 'allow',
  reason,
  ...(error === undefined ? {} : { error }),
})

/**
 * Returns the user whose access the expression checks. A service account gets the groups that are
 * in its tokens.
 */
function checkedUser({ serviceAccount }: AccessCheck, user: User): User {
  if (serviceAccount === undefined) return user
  const { namespace } = serviceAccount
  return { name: accountUserName(serviceAccount), uid: '', groups: accountGroups(namespace) }
}

function attributesOf(check: AccessCheck): AccessAttributes {
  const {
    verb,
    path,
    group = '',
    resource = '',
    subresource = '',
    namespace = '',
    name = '',
  } = check
  if (path !== undefined) return { kind: 'path', verb, path }
  return {
    kind: 'resource',
    verb,
    group,
    version: '*',
    plural: resource,
    subresource,
    namespace,
    name,
    selectors: accessSelectors(check.fieldSelector ?? '', check.labelSelector ?? ''),
  }
}

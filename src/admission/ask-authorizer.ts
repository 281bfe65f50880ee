/** How plugins ask whether a user has access to something that is not in the path of the request. */
import type { AccessAttributes, AccessDecision } from '../api/access.ts'
import type { User } from '../api/user.ts'

export type AskAuthorizer = (user: User, attributes: AccessAttributes) => AccessDecision | Promise<AccessDecision>

/** What an authenticator says about a request. */
import type { User } from '../../api/user.ts'

export type AuthenticatedUser = {
  readonly user: User
  /** For the client, with each response. */
  readonly warnings?: readonly string[]
  /** For the audit log. */
  readonly annotations?: { readonly [key: string]: string }
}

export type Attempt =
  | ({ readonly kind: 'known' } & AuthenticatedUser)
  /** The request has a credential of this kind that is not valid. The reason is for the log. */
  | { readonly kind: 'bad'; readonly why: string }
  | { readonly kind: 'unknown' }

export const unknownCaller: Attempt = { kind: 'unknown' }

/** The result of trying to authenticate a request with one authenticator. */
import type { User } from '../../api/user.ts'

export type AuthenticatedUser = {
  readonly user: User
  /** Warnings to send to the client with the response. */
  readonly warnings?: readonly string[]
  /** Annotations to add to the audit event of the request. */
  readonly annotations?: { readonly [key: string]: string }
}

export type Attempt =
  | ({ readonly kind: 'known' } & AuthenticatedUser)
  /**
   * The request has a credential for this authenticator, but the credential is not valid. The
   * reason is logged, but not sent to the client.
   */
  | { readonly kind: 'bad'; readonly why: string }
  | { readonly kind: 'unknown' }

export const unknownCaller: Attempt = { kind: 'unknown' }

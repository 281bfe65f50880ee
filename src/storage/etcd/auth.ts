/**
 * etcd's Auth service. Fetches a token for a user, and contains the calls for creating users and
 * roles.
 *
 * A token is fetched before the first call and sent with each call. etcd drops tokens after 5
 * minutes without use and at a restart, and rejects them when roles have changed. A new token is
 * then fetched and the call is retried once.
 */
import type { CallOptions, Channel, Method, TokenSource } from '../../net/grpc/channel.ts'
import { encodeGrantPermission, encodeNames, type Permission, readToken } from './codec/auth.ts'
import { emptyRequest, readHeaderOnly } from './codec/header.ts'
import type { WireReader } from '../../net/grpc/codec/reader.ts'
import { GrpcError } from '../../net/grpc/errors.ts'

export class Auth {
  readonly #channel: Channel

  constructor(channel: Channel) {
    this.#channel = channel
  }

  /**
   * Fetches a token for this user. If a client has the `user` option, it does this automatically.
   */
  authenticate(user: string, password: string, call?: CallOptions): Promise<string> {
    return this.#channel.unary(authenticate, encodeNames(user, password), call)
  }

  async authEnable(call?: CallOptions): Promise<void> {
    await this.#channel.unary(enable, emptyRequest(), call)
  }

  async authDisable(call?: CallOptions): Promise<void> {
    await this.#channel.unary(disable, emptyRequest(), call)
  }

  async userAdd(user: string, password: string, call?: CallOptions): Promise<void> {
    await this.#channel.unary(userAdd, encodeNames(user, password), call)
  }

  async userChangePassword(user: string, password: string, call?: CallOptions): Promise<void> {
    await this.#channel.unary(userChangePassword, encodeNames(user, password), call)
  }

  async roleAdd(role: string, call?: CallOptions): Promise<void> {
    await this.#channel.unary(roleAdd, encodeNames(role), call)
  }

  async userGrantRole(
    grant: { readonly user: string; readonly role: string },
    call?: CallOptions,
  ): Promise<void> {
    await this.#channel.unary(userGrantRole, encodeNames(grant.user, grant.role), call)
  }

  async roleGrantPermission(
    role: string,
    permission: Permission,
    call?: CallOptions,
  ): Promise<void> {
    await this.#channel.unary(roleGrantPermission, encodeGrantPermission(role, permission), call)
  }
}

/**
 * etcd's messages for a token that is missing, unknown, or older than the last change of users and
 * roles. If they are the reason for a canceled watch, they have a prefix.
 */
const refusals: readonly string[] = [
  'etcdserver: invalid auth token',
  'etcdserver: revision of auth store is old',
  'etcdserver: user name is empty',
]

export type Password = string | (() => Promise<string>)

/** The token of one user. All calls of a client share it. */
export class UserToken implements TokenSource {
  readonly #auth: Auth
  readonly #user: string
  readonly #password: Password
  // null means that authentication is disabled in etcd, so no token is needed.
  #token: string | null | undefined
  #fetching: Promise<void> | undefined

  constructor(auth: Auth, user: string, password: Password) {
    this.#auth = auth
    this.#user = user
    this.#password = password
  }

  readonly current = (): string | undefined => this.#token ?? undefined

  readonly isNeeded = (): boolean => this.#token === undefined

  readonly isRefusal = (message: string): boolean =>
    refusals.some((refusal) => message.endsWith(refusal))

  readonly drop = (): void => {
    this.#token = undefined
  }

  /** Fetches a new token. Calls that need one at the same time share the request. */
  readonly renew = (): Promise<void> => {
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined
    })
    return this.#fetching
  }

  async #fetch(): Promise<void> {
    const password = typeof this.#password === 'string' ? this.#password : await this.#password()
    try {
      this.#token = await this.#auth.authenticate(this.#user, password)
    } catch (error) {
      const isDisabled =
        error instanceof GrpcError && error.message === 'etcdserver: authentication is not enabled'
      if (isDisabled) this.#token = null
      else throw unsent(error)
    }
  }
}

/**
 * Returns an error which says that the call was not applied. The call that needs the token has not
 * been sent.
 */
function unsent(error: unknown): unknown {
  if (!(error instanceof GrpcError)) return error
  const { code, message, isUnavailable, endpoint } = error
  return new GrpcError(code, message, { isUnavailable, endpoint, cause: error })
}

// Fetching a token twice does no harm, so the call is treated as a read, which can be retried.
const authenticate = { ...method('Authenticate', readToken), isRead: true, isTokenless: true }
const enable = method('AuthEnable', readHeaderOnly)
const disable = method('AuthDisable', readHeaderOnly)
const userAdd = method('UserAdd', readHeaderOnly)
const userChangePassword = method('UserChangePassword', readHeaderOnly)
const roleAdd = method('RoleAdd', readHeaderOnly)
const userGrantRole = method('UserGrantRole', readHeaderOnly)
const roleGrantPermission = method('RoleGrantPermission', readHeaderOnly)

function method<T>(name: string, read: (reader: WireReader) => T): Method<T> {
  return { path: `/etcdserverpb.Auth/${name}`, read, isRead: false, requireLeader: true }
}

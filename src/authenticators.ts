/** Who sends a request: the authenticators of the configuration, in upstream's order. */
import type { Accounts } from './accounts.ts'
import { type Authenticate, createAuthenticate } from './authentication/authenticate.ts'
import { createVerifyCertificate } from './authentication/client-certificate.ts'
import { createStaticTokens } from './authentication/static-tokens.ts'
import type { AuthenticateToken } from './authentication/token-authenticator.ts'
import { createTokenChain } from './authentication/token-chain.ts'
import type { Config } from './config/config.ts'
import type { Clock } from './lib/clock.ts'
import type { Log } from './lib/log.ts'

export type Authenticators = {
  readonly authenticate: Authenticate
  /** For TokenReviews. No audiences: those of the server. */
  readonly authenticateToken: AuthenticateToken
}

export type AuthenticatorsParts = {
  readonly accounts: Accounts | undefined
  readonly clock: Clock
  readonly log: Log
}

export function createAuthenticators(config: Config, { accounts, clock, log }: AuthenticatorsParts): Authenticators {
  const served = config.serviceAccounts?.audiences ?? []
  const chain = createTokenChain([
    createStaticTokens(config.tokens, served),
    ...(accounts === undefined ? [] : [accounts.authenticateAccount]),
  ])
  const authenticateToken: AuthenticateToken = (token, audiences) =>
    chain(token, audiences.length === 0 ? served : audiences)
  const authenticate = createAuthenticate({
    authenticateToken: (token) => chain(token, served),
    verifyCertificate: config.clientCaPem === null ? undefined : createVerifyCertificate(clock.wallMs),
    anonymous: config.authentication.anonymous,
    log,
  })
  return { authenticate, authenticateToken }
}

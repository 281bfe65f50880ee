/**
 * JWT authenticators, which are created from the configuration and replaced when the file in
 * --authentication-config changes.
 */
import { JwtAuthenticators } from '../../access/authentication/oidc/jwt-authenticators.ts'
import type { ParseToken } from '../../access/authentication/parse-token.ts'
import type { TokenResult } from '../../access/authentication/token-authenticator.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { PatternThread } from '../../objects/cel/pattern-thread.ts'
import type { Config } from '../../config/config.ts'
import { rereadAuthenticationConfiguration } from '../../config/files/authentication.ts'
import { ConfigReloader } from '../../config/files/reload.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Metrics } from '../../lib/telemetry/metrics.ts'
import type { Time } from '../../lib/time/timers.ts'
import { addReloadMetrics } from '../reload-metrics.ts'

export type JwtIssuers = AsyncDisposable & {
  readonly authenticate: (token: string) => MaybePromise<TokenResult>
  /**
   * Checks whether the file in --authentication-config has changed. Undefined if no file is
   * configured.
   */
  readonly reloader: { readonly check: () => Promise<void> } | undefined
}

export type JwtIssuersOptions = {
  readonly parse: ParseToken
  readonly time: Time
  readonly log: Log
  readonly metrics: Metrics
  /** The name of this server, for metrics. */
  readonly serverId: string
}

/** Creates the JWT authenticators. Undefined if neither a flag nor a file configures an issuer. */
export function createJwtIssuers(config: Config, parts: JwtIssuersOptions): JwtIssuers | undefined {
  const { jwt, signingAlgorithms: algorithms, file } = config.authentication
  if (jwt.length === 0 && file === null) return undefined
  const owned = new AsyncDisposableStack()
  const patterns = owned.use(new PatternThread())
  const authenticators = owned.use(
    new JwtAuthenticators(jwt, {
      ...parts,
      algorithms,
      answer: (question) => patterns.answer(question),
    }),
  )
  const reloader =
    file === null ? undefined : owned.use(createReloader(config, file, authenticators, parts))
  return {
    authenticate: authenticators.authenticate,
    reloader,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function createReloader(
  { featureGates: gates, authentication: { serviceAccounts } }: Config,
  { path, bytes, initial }: NonNullable<Config['authentication']['file']>,
  authenticators: JwtAuthenticators,
  { log, time, metrics, serverId }: JwtIssuersOptions,
) {
  const options = { gates, disallowedIssuers: serviceAccounts?.issuers ?? [] }
  const reloader = new ConfigReloader(path, bytes, {
    read: (changed) => rereadAuthenticationConfiguration(changed, options, initial),
    use: ({ jwt }) => authenticators.replace(jwt),
    what: 'authentication config',
    log,
    clock: time,
  })
  addReloadMetrics(metrics, { what: 'authentication', serverId, reloads: () => reloader.reloads })
  return reloader
}

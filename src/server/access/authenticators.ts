/**
 * Authenticates requests with the configured authenticators, in the same order as kube-apiserver.
 */
import type { ServiceAccountTokens } from './service-accounts.ts'
import { type Authenticate, createAuthenticate } from '../../access/authentication/authenticate.ts'
import { ClientAuthorities } from '../../access/authentication/client-authorities.ts'
import { createVerifyCertificate } from '../../access/authentication/client-certificate.ts'
import type { AuthenticationMetrics } from '../../access/authentication/metrics.ts'
import { createVerifyProxy } from '../../access/authentication/request-header.ts'
import { createStaticTokens } from '../../access/authentication/static-tokens.ts'
import {
  type AuthenticateToken,
  withServerAudiences,
} from '../../access/authentication/token-authenticator.ts'
import { createTokenCache } from '../../access/authentication/token-cache.ts'
import { createTokenChain } from '../../access/authentication/token-chain.ts'
import { CALL_MS_MAX, createTokenWebhook } from '../../access/authentication/token-webhook.ts'
import { createBootstrapTokens } from '../../access/authentication/bootstrap-token.ts'
import type { Objects } from '../../api/object-access.ts'
import type { IdentityHeaders } from '../../api/identity-headers.ts'
import type { Config } from '../../config/config.ts'
import type { JwtIssuers } from './jwt-issuers.ts'
import type { RequestHeaderConfig } from '../../config/request-header.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Dial } from '../../lib/net/dial.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { KubeconfigClient } from '../../net/outbound/kubeconfig-client.ts'

/**
 * How long the results for tokens are cached, as in kube-apiserver. A revoked token can be accepted
 * for up to SUCCESS_MS after its revocation. A rejected token is looked up each time.
 */
const SUCCESS_MS = 10_000
const FAILURE_MS = 0

export type Authenticators = Disposable & {
  readonly authenticate: Authenticate
  /**
   * Authenticates the token of a TokenReview. If the list of audiences is empty, the audiences of
   * the server are used.
   */
  readonly authenticateToken: AuthenticateToken
  /** The CAs of client certificates, which are replaced when their files change. */
  readonly authorities: ClientAuthorities
}

export type AuthenticatorsOptions = {
  readonly serviceAccounts: ServiceAccountTokens | undefined
  /** The JWT authenticators. Undefined if no JWT issuer is configured. */
  readonly issuers: Pick<JwtIssuers, 'authenticate'> | undefined
  readonly objects: Pick<Objects, 'get'>
  readonly metrics: AuthenticationMetrics
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  /** Opens connections to the webhook. If undefined, the connections are direct. */
  readonly dial?: Dial | undefined
}

export function createAuthenticators(
  config: Config,
  options: AuthenticatorsOptions,
): Authenticators {
  const { metrics, clock, log } = options
  const served = config.authentication.serviceAccounts?.audiences ?? []
  const staticTokens = createStaticTokens(config.authentication.tokens, served)
  const webhook = createWebhook(config, options)
  const others = createTokenChain([
    ...localAuthenticators(config, options),
    ...remoteAuthenticators(config, options, webhook),
  ])
  const chain = createTokenChain([staticTokens, others])
  const { requestHeader } = config.authentication
  const { wallMs } = clock
  const authorities = new ClientAuthorities(
    { client: config.authentication.clientCaPem, requestHeader: requestHeader?.caPem ?? null },
    wallMs,
  )
  const authenticate = createAuthenticate({
    verifyProxy:
      requestHeader === null
        ? undefined
        : createVerifyProxy({
            headers: identityHeadersOf(requestHeader),
            allowedNames: requestHeader.allowedNames,
            faultOf: (peer) => authorities.faultOf(peer, 'requestHeader'),
            wallMs,
          }),
    verifyCertificate:
      config.authentication.clientCaPem === null
        ? undefined
        : createVerifyCertificate({
            faultOf: (peer) => authorities.faultOf(peer, 'client'),
            parsesUid: config.featureGates.isOn('AllowParsingUserUIDFromCertAuth'),
            wallMs,
            lifetimes: metrics.certificateSeconds,
          }),
    fixedToken: (token) => {
      const result = staticTokens(token, served)
      return result.kind === 'known' ? result : undefined
    },
    authenticateToken: (token) => others(token, served),
    anonymous: config.authentication.anonymous,
    metrics,
    clock,
    log,
  })
  return {
    authenticate,
    authorities,
    [Symbol.dispose]: () => webhook?.client[Symbol.dispose](),
    authenticateToken: (token, audiences) =>
      chain(token, audiences.length === 0 ? served : audiences),
  }
}

/**
 * Returns the authenticators that need only data in memory. Their results are not cached, so that a
 * token becomes invalid as soon as the object to which it is bound is deleted.
 */
function localAuthenticators(
  { authentication }: Config,
  options: AuthenticatorsOptions,
): readonly AuthenticateToken[] {
  const served = authentication.serviceAccounts?.audiences ?? []
  return [
    ...(options.serviceAccounts?.authenticators ?? []),
    authentication.hasBootstrapTokens
      ? withServerAudiences(served, bootstrapTokens(options))
      : undefined,
  ].filter(isThere)
}

/**
 * Returns a cached chain of the authenticators that call other servers. The result is an empty list
 * if no such authenticator is configured.
 */
function remoteAuthenticators(
  { authentication }: Config,
  { issuers, clock, metrics }: AuthenticatorsOptions,
  webhook: Webhook | undefined,
): readonly AuthenticateToken[] {
  const served = authentication.serviceAccounts?.audiences ?? []
  const remote = [
    issuers && withServerAudiences(served, issuers.authenticate),
    webhook?.authenticate,
  ].filter(isThere)
  if (remote.length === 0) return []
  const cached = createTokenCache(createTokenChain(remote), {
    successMs: SUCCESS_MS,
    failureMs: FAILURE_MS,
    clock,
    metrics: metrics.cache,
  })
  return [cached]
}

type Webhook = { readonly authenticate: AuthenticateToken; readonly client: KubeconfigClient }

/**
 * Creates the webhook authenticator. By default, its results are cached longer than those of other
 * authenticators.
 */
function createWebhook(
  { authentication, featureGates: { release } }: Config,
  { metrics, clock, random, log, dial }: AuthenticatorsOptions,
): Webhook | undefined {
  if (authentication.webhook === null) return undefined
  const { kubeconfig, reviewVersion, cacheMs } = authentication.webhook
  const client = new KubeconfigClient(kubeconfig, { timeoutMs: CALL_MS_MAX, dial })
  const served = authentication.serviceAccounts?.audiences ?? []
  const authenticate = createTokenWebhook({
    client,
    reviewVersion,
    release,
    served,
    random,
    log,
  })
  return {
    client,
    authenticate: createTokenCache(authenticate, {
      successMs: cacheMs,
      failureMs: cacheMs,
      clock,
      metrics: metrics.cache,
    }),
  }
}

const secretsId = { group: '', version: 'v1', plural: 'secrets' } as const

const bootstrapTokens = ({ objects, clock, log }: AuthenticatorsOptions) =>
  createBootstrapTokens({
    readSecret: (name, at) => objects.get(secretsId, { namespace: 'kube-system', name }, at),
    wallMs: clock.wallMs,
    log,
  })

const lower = (names: readonly string[]): readonly string[] =>
  names.map((name) => name.trim().toLowerCase())

export const identityHeadersOf = (config: RequestHeaderConfig): IdentityHeaders => ({
  username: lower(config.usernameHeaders),
  uid: lower(config.uidHeaders),
  group: lower(config.groupHeaders),
  extraPrefixes: lower(config.extraHeaderPrefixes),
})

const isThere = (one: AuthenticateToken | undefined): one is AuthenticateToken => one !== undefined

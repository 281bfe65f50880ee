/**
 * Service account tokens, set up from the configuration. TokenRequests issue them, and
 * authenticators verify them.
 */
import type { Objects } from '../../api/object-access.ts'
import type { ServiceAccountClaims } from '../../api/service-account-claims.ts'
import { checkPathSegment } from '../../api/names.ts'
import type { KubeObject } from '../../api/object.ts'
import { request } from '../../api/own-request.ts'
import type { Handler } from '../../api/request.ts'
import {
  type ServiceAccountKeys,
  fixedKeys,
} from '../../access/authentication/service-account-keys.ts'
import type { ServiceAccountMetrics } from '../../access/authentication/service-account-metrics.ts'
import { createServiceAccountAuthenticator } from '../../access/authentication/service-account-token.ts'
import {
  createAuthenticateLegacy,
  lastUsedLabel,
} from '../../access/authentication/legacy-token.ts'
import type { ParseToken } from '../../access/authentication/parse-token.ts'
import type { AuthenticateToken } from '../../access/authentication/token-authenticator.ts'
import type { ExternalSigner } from '../../access/authentication/signer/external-signer.ts'
import type { Config } from '../../config/config.ts'
import type { ServiceAccounts } from '../../config/service-accounts.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { assert } from '../../lib/errors.ts'
import { readSigningKey, readVerifyingKeys, signJwt } from '../../lib/jwt.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { Review } from '../../request/verbs/reviews/question.ts'
import { createTokenRequest } from '../../request/verbs/token-request.ts'

export type ServiceAccountTokens = {
  /**
   * Authenticators in the same order as in kube-apiserver: legacy tokens in Secrets first, then
   * bound tokens.
   */
  readonly authenticators: readonly AuthenticateToken[]
  readonly requestToken: Review
}

export type ServiceAccountsOptions = {
  readonly parse: ParseToken
  readonly objects: Pick<Objects, 'get'>
  /** Handles the requests that this server sends to label the Secrets of tokens that are used. */
  readonly handle: Handler
  /** The external signer. Undefined if a configured key signs the tokens. */
  readonly signer: ExternalSigner | undefined
  readonly metrics: ServiceAccountMetrics
  readonly clock: Clock
  readonly log: Log
}

/** Sets up service account tokens. Returns undefined if no issuer is configured. */
export function createServiceAccountTokens(
  { authentication, featureGates }: Config,
  { parse, objects, handle, signer, metrics, clock: { wallMs }, log }: ServiceAccountsOptions,
): ServiceAccountTokens | undefined {
  const { serviceAccounts } = authentication
  if (serviceAccounts === null) return undefined
  const { audiences, extendsExpiration, issuers, secondsMax } = serviceAccounts
  const { keys, sign } = signingOf(serviceAccounts, signer)
  const [issuer] = issuers
  const core = { group: '', version: 'v1' } as const
  const shared = {
    keys,
    parse,
    read: async (place: ObjectLocation, at: 'any' | 'latest') => {
      const { plural, ...named } = place
      return isPossible(place) ? objects.get({ ...core, plural }, named, at) : undefined
    },
    metrics,
    wallMs,
  }
  const looksUp = authentication.looksUpServiceAccounts
  const legacy = { ...shared, served: audiences, looksUp, label: createLabel(handle, log) }
  return {
    authenticators: [
      createAuthenticateLegacy(legacy),
      createServiceAccountAuthenticator({ ...shared, issuers }),
    ],
    requestToken: createTokenRequest({
      gates: featureGates,
      issuer,
      audiences,
      secondsMax: secondsMax ?? signer?.secondsMax ?? null,
      extendedSeconds: extendsExpiration
        ? Math.min(YEAR_SECONDS, signer?.secondsMax ?? YEAR_SECONDS)
        : null,
      sign,
      read: async (plural, namespace, name) =>
        objects.get({ ...core, plural }, { namespace, name }, 'latest'),
      wallMs,
    }),
  }
}

const YEAR_SECONDS = 365 * 24 * 3600

type Signing = {
  readonly keys: ServiceAccountKeys
  readonly sign: (claims: ServiceAccountClaims) => MaybePromise<string>
}

function signingOf({ signing }: ServiceAccounts, signer: ExternalSigner | undefined): Signing {
  if (signing.kind === 'endpoint') {
    assert(signer !== undefined, 'a signer is started for an endpoint')
    return { keys: signer.keys, sign: (claims) => signer.sign(claims) }
  }
  const key = readSigningKey(signing.pem)
  assert(key !== undefined, 'the configuration was checked with its keys')
  return {
    keys: fixedKeys(signing.verifyingPems.flatMap(readVerifyingKeys)),
    sign: (claims) => signJwt(claims, key),
  }
}

type ObjectLocation = { readonly plural: string; readonly namespace: string; readonly name: string }

/**
 * Whether an object can exist with this namespace and name. The claims of a token can contain any
 * strings.
 */
const isPossible = ({ plural, namespace, name }: ObjectLocation): boolean =>
  isName(name) && (plural === 'nodes' ? namespace === '' : isName(namespace))

const isName = (text: string): boolean => text !== '' && checkPathSegment(text).length === 0

/**
 * Maximum time that a request waits until the label is set. If this takes longer, the request
 * continues, and the label is set at the next use of the token.
 */
const LABEL_MS_MAX = 10_000
const FAILURE = 300

/**
 * Returns a function that labels a Secret with the day on which its token was last used. Concurrent
 * requests share one write.
 */
function createLabel(
  handle: Handler,
  log: Log,
): (secret: KubeObject, day: string) => Promise<void> {
  const writes = new Map<string, Promise<void>>()
  const write = async ({ metadata }: KubeObject, day: string): Promise<void> => {
    const { namespace = '', name = '', uid = '' } = metadata
    const path = `/api/v1/namespaces/${namespace}/secrets/${name}`
    // The body contains the uid, because another Secret with the same name may have been created in
    // the meantime.
    const body = { metadata: { uid, labels: { [lastUsedLabel]: day } } }
    const signal = AbortSignal.timeout(LABEL_MS_MAX)
    const { status } = await request(handle, {
      method: 'PATCH',
      path,
      body,
      isMergePatch: true,
      signal,
    })
    if (status < FAILURE) return
    log('error', 'Failed to label legacy service account token with last-used date', {
      namespace,
      name,
      status,
    })
  }
  return (secret, day) => {
    const { uid = '' } = secret.metadata
    const known = writes.get(uid)
    if (known !== undefined) return known
    const writing = write(secret, day)
      .catch((error: unknown) =>
        log('error', 'Failed to label legacy service account token', { error: String(error) }),
      )
      .finally(() => writes.delete(uid))
    writes.set(uid, writing)
    return writing
  }
}

/** ServiceAccount tokens, set up from the configuration: issued by TokenRequests, verified by the gate. */
import type { Objects } from '../../api/object-access.ts'
import type { AccountClaims } from '../../api/account-claims.ts'
import { checkPathSegment } from '../../api/names.ts'
import type { KubeObject } from '../../api/object.ts'
import { request } from '../../api/own-request.ts'
import type { Handler } from '../../api/request.ts'
import { type AccountKeys, fixedKeys } from '../../access/authentication/account-keys.ts'
import type { AccountMetrics } from '../../access/authentication/account-metrics.ts'
import { createAuthenticateAccount } from '../../access/authentication/account-token.ts'
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

export type Accounts = {
  /** In upstream's order: tokens of secrets, then bound ones. */
  readonly authenticators: readonly AuthenticateToken[]
  readonly requestToken: Review
}

export type AccountsParts = {
  readonly parse: ParseToken
  readonly objects: Pick<Objects, 'get'>
  /** For the labels of secrets whose tokens are used. */
  readonly handle: Handler
  /** Undefined: a key of the configuration signs. */
  readonly signer: ExternalSigner | undefined
  readonly metrics: AccountMetrics
  readonly clock: Clock
  readonly log: Log
}

/** Undefined if no issuer is configured. */
export function createAccounts(
  { authentication }: Config,
  { parse, objects, handle, signer, metrics, clock: { wallMs }, log }: AccountsParts,
): Accounts | undefined {
  const { serviceAccounts } = authentication
  if (serviceAccounts === null) return undefined
  const { audiences, extendsExpiration, issuers, secondsMax } = serviceAccounts
  const { keys, sign } = signingOf(serviceAccounts, signer)
  const [issuer] = issuers
  const core = { group: '', version: 'v1' } as const
  const shared = {
    keys,
    parse,
    read: async (place: Place, at: 'any' | 'latest') => {
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
      createAuthenticateAccount({ ...shared, issuers }),
    ],
    requestToken: createTokenRequest({
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
  readonly keys: AccountKeys
  readonly sign: (claims: AccountClaims) => MaybePromise<string>
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

type Place = { readonly plural: string; readonly namespace: string; readonly name: string }

/** Whether an object can have this place: claims may name anything. */
const isPossible = ({ plural, namespace, name }: Place): boolean =>
  isName(name) && (plural === 'nodes' ? namespace === '' : isName(namespace))

const isName = (text: string): boolean => text !== '' && checkPathSegment(text).length === 0

/** How long a request may wait for the label. It is set again with the next use. */
const LABEL_MS_MAX = 10_000
const FAILURE = 300

/** Requests that come together share one write. */
function createLabel(
  handle: Handler,
  log: Log,
): (secret: KubeObject, day: string) => Promise<void> {
  const writes = new Map<string, Promise<void>>()
  const write = async ({ metadata }: KubeObject, day: string): Promise<void> => {
    const { namespace = '', name = '', uid = '' } = metadata
    const path = `/api/v1/namespaces/${namespace}/secrets/${name}`
    // With its uid: a new secret of the same name is another one.
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

/**
 * Service account tokens, which are signed by this server or by a server that shares its keys. They
 * are valid for some audiences and a limited time. The service account and the object that the
 * token is bound to must exist and have the uids in the claims.
 */
import { accountGroups, accountUserName } from '../../api/service-account.ts'
import { type Fields, fieldsOf, type KubeObject, numberOf, textOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import type { User } from '../../api/user.ts'
import type { Jwt } from '../../lib/jwt.ts'
import { audiencesOf, matchingAudiences, wrongAudiences } from './service-account-audiences.ts'
import type { ServiceAccountKeys } from './service-account-keys.ts'
import type { ServiceAccountMetrics } from './service-account-metrics.ts'
import { ServiceAccountSignatures } from './service-account-signatures.ts'
import type { ParseToken } from './parse-token.ts'
import {
  type AuthenticateToken,
  badToken as bad,
  type TokenResult,
  unknownToken,
} from './token-authenticator.ts'

/** Tolerated clock skew between servers that share their keys, as in kube-apiserver. */
const LEEWAY_SECONDS = 60
/**
 * How long a token stays valid after the deletionTimestamp of its service account or bound object.
 * A terminating pod, for example, may need its token to finish its work.
 */
const GONE_GRACE_MS = 60_000

type ObjectLocation = { readonly plural: string; readonly namespace: string; readonly name: string }

/** Reads an object of the core API group. */
export type ReadObject = (
  place: ObjectLocation,
  at: 'any' | 'latest',
) => Promise<KubeObject | undefined>

export type ServiceAccountTokenOptions = {
  readonly issuers: readonly string[]
  readonly keys: ServiceAccountKeys
  readonly parse: ParseToken
  readonly read: ReadObject
  readonly metrics: Pick<ServiceAccountMetrics, 'stale_tokens_total' | 'valid_tokens_total'>
  readonly wallMs: () => number
}

export function createServiceAccountAuthenticator(
  options: ServiceAccountTokenOptions,
): AuthenticateToken {
  const signatures = new ServiceAccountSignatures(options.issuers, options.keys, options.parse)
  const authenticate = async (
    token: string,
    jwt: Jwt,
    audiences: readonly string[],
  ): Promise<TokenResult> => {
    const why = await signatures.verify(token, jwt)
    return why === undefined ? check(jwt.claims, audiences, options) : bad(why)
  }
  return (token, audiences) => {
    const jwt = signatures.parse(token)
    return jwt === undefined ? unknownToken : authenticate(token, jwt, audiences)
  }
}

async function check(
  claims: Fields,
  targets: readonly string[],
  options: ServiceAccountTokenOptions,
): Promise<TokenResult> {
  const given = audiencesOf(claims)
  const audiences = matchingAudiences(given, targets)
  if (audiences.length === 0) return wrongAudiences(given, targets)
  const own = fieldsOf(claims['kubernetes.io'])
  const nowSeconds = options.wallMs() / 1000
  const why =
    timeFault(claims, nowSeconds) ??
    (await serviceAccountFault(own, options)) ??
    (await boundFault(own, options))
  if (why !== undefined) return bad(why)
  const user = userOf(claims)
  const lateSeconds = Math.floor(nowSeconds) - numberOf(own['warnafter'])
  const isStale = own['warnafter'] !== undefined && lateSeconds > 0
  options.metrics[isStale ? 'stale_tokens_total' : 'valid_tokens_total'].add()
  if (!isStale) return { kind: 'known', user, audiences }
  const stale = `subject: ${textOf(claims['sub'])}, seconds after warning threshold: ${lateSeconds}`
  return {
    kind: 'known',
    user,
    audiences,
    annotations: { 'authentication.k8s.io/stale-token': stale },
  }
}

function timeFault(claims: Fields, nowSeconds: number): string | undefined {
  const [nbf, exp, iat] = [claims['nbf'], claims['exp'], claims['iat']].map(numberOf)
  if (nowSeconds + LEEWAY_SECONDS < (nbf ?? 0)) return 'service account token is not valid yet'
  if (nowSeconds - LEEWAY_SECONDS > (exp ?? 0)) return 'service account token has expired'
  if (nowSeconds + LEEWAY_SECONDS < (iat ?? 0))
    return 'service account token is issued in the future'
  return undefined
}

async function serviceAccountFault(
  claims: Fields,
  options: ServiceAccountTokenOptions,
): Promise<string | undefined> {
  const { name, uid } = fieldsOf(claims['serviceaccount'])
  const place = {
    plural: 'serviceaccounts',
    namespace: textOf(claims['namespace']),
    name: textOf(name),
  }
  const account = await find(place, textOf(uid), options)
  if (account === undefined) return `serviceaccounts ${quote(place.name)} not found`
  if (isGone(account, options))
    return `service account ${place.namespace}/${place.name} has been deleted`
  const found = account.metadata.uid ?? ''
  return found === uid
    ? undefined
    : `service account UID (${found}) does not match claim (${textOf(uid)})`
}

/**
 * Kinds of objects that a token can be bound to. If a token is bound to a pod, its node claim is
 * informational and only the pod is checked.
 */
const bindings = [
  { claim: 'secret', plural: 'secrets', isNamespaced: true },
  { claim: 'pod', plural: 'pods', isNamespaced: true },
  { claim: 'node', plural: 'nodes', isNamespaced: false },
] as const

async function boundFault(
  claims: Fields,
  options: ServiceAccountTokenOptions,
): Promise<string | undefined> {
  const bound = bindings.find(({ claim }) => claims[claim] !== undefined)
  if (bound === undefined) return undefined
  const { claim, plural, isNamespaced } = bound
  const { name, uid } = fieldsOf(claims[claim])
  const namespace = isNamespaced ? textOf(claims['namespace']) : ''
  const object = await find({ plural, namespace, name: textOf(name) }, textOf(uid), options)
  if (object === undefined || isGone(object, options))
    return 'service account token has been invalidated'
  const found = object.metadata.uid ?? ''
  if (found === uid) return undefined
  return `${claim} UID (${found}) does not match service account ${claim} ref claim (${textOf(uid)})`
}

/**
 * Reads an object. The cache may lag behind, so if it does not contain an object with this uid, the
 * object is read from the database.
 */
async function find(
  place: ObjectLocation,
  uid: string,
  { read }: ServiceAccountTokenOptions,
): Promise<KubeObject | undefined> {
  const cached = await read(place, 'any')
  return cached?.metadata.uid === uid ? cached : read(place, 'latest')
}

function isGone({ metadata }: KubeObject, { wallMs }: ServiceAccountTokenOptions): boolean {
  const { deletionTimestamp } = metadata
  return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) + GONE_GRACE_MS < wallMs()
}

const extraPrefix = 'authentication.kubernetes.io/'

function userOf(claims: Fields): User {
  const { namespace, node, pod, serviceaccount } = fieldsOf(claims['kubernetes.io'])
  const place = textOf(namespace)
  const { name, uid } = fieldsOf(serviceaccount)
  const extra = [
    ['credential-id', claims['jti'] === undefined ? undefined : `JTI=${textOf(claims['jti'])}`],
    ['node-name', fieldsOf(node)['name']],
    ['node-uid', fieldsOf(node)['uid']],
    ['pod-name', fieldsOf(pod)['name']],
    ['pod-uid', fieldsOf(pod)['uid']],
  ] as const
  const reported = extra.filter(([, value]) => value !== undefined)
  return {
    name: accountUserName({ namespace: place, name: textOf(name) }),
    uid: textOf(uid),
    groups: accountGroups(place),
    extra: Object.fromEntries(
      reported.map(([key, value]) => [`${extraPrefix}${key}`, [textOf(value)]]),
    ),
  }
}

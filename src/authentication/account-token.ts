/**
 * Service account tokens: signed by this server or one that shares its keys, for some audiences, for some time. A token is valid as long as
 * the service account, and the object that it is bound to, exist with the uids in its claims.
 */
import { hash } from 'node:crypto'
import { accountUserName } from '../api/account-claims.ts'
import { type Fields, fieldsOf, type KubeObject, numberOf, textOf, textsOf } from '../api/object.ts'
import { quote } from '../api/quote.ts'
import type { User } from '../api/user.ts'
import { parseJson } from '../api/json-value.ts'
import { type JwtKey, parseJwt, verifyJwt } from '../lib/jwt.ts'
import { type AuthenticateToken, badToken as bad, type TokenResult, unknownToken } from './token-authenticator.ts'

/** Digests of this many tokens with a valid signature are cached: verifying a signature takes longer than all else here. */
const VERIFIED_MAX = 4096
/** A token has a few hundred characters; one that is longer than any header may be is not parsed. */
const TOKEN_CHARACTERS_MAX = 64 * 1024
/** The clock skew between servers that share their keys that is tolerated, as upstream. */
const LEEWAY_SECONDS = 60
/** A pod, or another object, that is being deleted may still finish its work. */
const GONE_GRACE_MS = 60_000

type Place = { readonly plural: string; readonly namespace: string; readonly name: string }

export type AccountTokenParts = {
  readonly issuers: readonly string[]
  readonly keys: readonly JwtKey[]
  /** Reads an object of the core group. */
  readonly read: (place: Place, at: 'any' | 'latest') => Promise<KubeObject | undefined>
  readonly wallMs: () => number
}

export function createAuthenticateAccount(parts: AccountTokenParts): AuthenticateToken {
  const verified = new Set<string>()
  return (token, audiences) => {
    const jwt = token.length > TOKEN_CHARACTERS_MAX ? undefined : parseJwt(token, parseJson)
    if (jwt === undefined || !parts.issuers.includes(textOf(jwt.claims['iss']))) return unknownToken
    const digest = hash('sha256', token, 'base64')
    if (!verified.has(digest)) {
      const keys = parts.keys.filter(({ id }) => jwt.keyId === '' || jwt.keyId === id)
      if (keys.length === 0) return bad('invalid signature, no keys found')
      if (!keys.some((key) => verifyJwt(jwt, key))) return bad('go-jose/go-jose: error in cryptographic primitive')
      remember(verified, digest)
    }
    return check(jwt.claims, audiences, parts)
  }
}

/** Evicts the oldest digest. */
function remember(verified: Set<string>, digest: string): void {
  const [oldest] = verified
  if (verified.size >= VERIFIED_MAX && oldest !== undefined) verified.delete(oldest)
  verified.add(digest)
}

async function check(claims: Fields, targets: readonly string[], parts: AccountTokenParts): Promise<TokenResult> {
  const given = typeof claims['aud'] === 'string' ? [claims['aud']] : textsOf(claims['aud'])
  const audiences = targets.filter((audience) => given.includes(audience))
  if (audiences.length === 0) {
    return bad(`token audiences ${shown(given)} is invalid for the target audiences ${shown(targets)}`)
  }
  const own = fieldsOf(claims['kubernetes.io'])
  const why =
    timeFault(claims, parts.wallMs() / 1000) ?? (await accountFault(own, parts)) ?? (await boundFault(own, parts))
  return why === undefined ? { kind: 'known', user: userOf(claims), audiences } : bad(why)
}

function timeFault(claims: Fields, nowSeconds: number): string | undefined {
  const [nbf, exp, iat] = [claims['nbf'], claims['exp'], claims['iat']].map(numberOf)
  if (nowSeconds + LEEWAY_SECONDS < (nbf ?? 0)) return 'service account token is not valid yet'
  if (nowSeconds - LEEWAY_SECONDS > (exp ?? 0)) return 'service account token has expired'
  if (nowSeconds + LEEWAY_SECONDS < (iat ?? 0)) return 'service account token is issued in the future'
  return undefined
}

const shown = (texts: readonly string[]): string => `[${texts.map(quote).join(' ')}]`

async function accountFault(claims: Fields, parts: AccountTokenParts): Promise<string | undefined> {
  const { name, uid } = fieldsOf(claims['serviceaccount'])
  const place = { plural: 'serviceaccounts', namespace: textOf(claims['namespace']), name: textOf(name) }
  const account = await find(place, textOf(uid), parts)
  if (account === undefined) return `serviceaccounts ${quote(place.name)} not found`
  if (isGone(account, parts)) return `service account ${place.namespace}/${place.name} has been deleted`
  const found = account.metadata.uid ?? ''
  return found === uid ? undefined : `service account UID (${found}) does not match claim (${textOf(uid)})`
}

/** What a token may be bound to. The node of a token that is bound to a pod is informational: only the pod is checked. */
const bindings = [
  { claim: 'secret', plural: 'secrets', isNamespaced: true },
  { claim: 'pod', plural: 'pods', isNamespaced: true },
  { claim: 'node', plural: 'nodes', isNamespaced: false },
] as const

async function boundFault(claims: Fields, parts: AccountTokenParts): Promise<string | undefined> {
  const bound = bindings.find(({ claim }) => claims[claim] !== undefined)
  if (bound === undefined) return undefined
  const { claim, plural, isNamespaced } = bound
  const { name, uid } = fieldsOf(claims[claim])
  const namespace = isNamespaced ? textOf(claims['namespace']) : ''
  const object = await find({ plural, namespace, name: textOf(name) }, textOf(uid), parts)
  if (object === undefined || isGone(object, parts)) return 'service account token has been invalidated'
  const found = object.metadata.uid ?? ''
  if (found === uid) return undefined
  return `${claim} UID (${found}) does not match service account ${claim} ref claim (${textOf(uid)})`
}

/** The cache may lag behind: an object that it does not have, or has with another uid, is read from etcd. */
async function find(place: Place, uid: string, { read }: AccountTokenParts): Promise<KubeObject | undefined> {
  const cached = await read(place, 'any')
  return cached?.metadata.uid === uid ? cached : read(place, 'latest')
}

function isGone({ metadata }: KubeObject, { wallMs }: AccountTokenParts): boolean {
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
  const told = extra.filter(([, value]) => value !== undefined)
  return {
    name: accountUserName(place, textOf(name)),
    uid: textOf(uid),
    groups: ['system:serviceaccounts', `system:serviceaccounts:${place}`],
    extra: Object.fromEntries(told.map(([key, value]) => [`${extraPrefix}${key}`, [textOf(value)]])),
  }
}

/**
 * Bootstrap tokens, which nodes use to join a cluster. A token has the form `id.secret`, and the
 * Secret kube-system/bootstrap-token-<id> defines it. A token that cannot be used is treated like a
 * token that does not exist, whatever the reason, so that clients cannot find out which ids exist.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { fieldsOf, type KubeObject, textOf } from '../../api/object.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { parseTimestamp } from '../../objects/cel/time.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { type TokenResult, unknownToken } from './token-authenticator.ts'

const form = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const extraGroup = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/
const NANOS_PER_MS = 1_000_000n

export type BootstrapTokenOptions = {
  /**
   * Reads a Secret in the kube-system namespace, either from the cache or with a linearizable read.
   */
  readonly readSecret: (name: string, at: 'any' | 'latest') => MaybePromise<KubeObject | undefined>
  readonly wallMs: () => number
  readonly log: Log
}

export function createBootstrapTokens(
  options: BootstrapTokenOptions,
): (token: string) => MaybePromise<TokenResult> {
  return (token) => {
    const [, id = '', secret = ''] = form.exec(token) ?? []
    return id === '' ? unknownToken : authenticate(id, secret, options)
  }
}

/**
 * Authenticates a token. A token is rejected only after a linearizable read, because the cache may
 * lag behind the write of a Secret. All rejections take the same time, whatever the reason.
 */
async function authenticate(
  id: string,
  secret: string,
  options: BootstrapTokenOptions,
): Promise<TokenResult> {
  const name = `bootstrap-token-${id}`
  const readAt = async (at: 'any' | 'latest'): Promise<ReadToken | string> => {
    const object = await options.readSecret(name, at)
    return object === undefined
      ? 'does not exist'
      : readToken(object, { id, secret, nowMs: options.wallMs() })
  }
  const cached = await readAt('any')
  const read = typeof cached === 'string' ? await readAt('latest') : cached
  if (typeof read !== 'string') {
    return {
      kind: 'known',
      user: { name: `system:bootstrap:${id}`, uid: '', groups: read.groups },
      audiences: [],
    }
  }
  options.log('debug', 'rejected a bootstrap token', { secret: `kube-system/${name}`, why: read })
  return unknownToken
}

type ReadToken = { readonly groups: readonly string[] }
type BootstrapCredentials = { readonly id: string; readonly secret: string; readonly nowMs: number }

/** Returns the groups of the token, or the reason why it cannot be used. */
function readToken(
  object: KubeObject,
  { id, secret, nowMs }: BootstrapCredentials,
): ReadToken | string {
  const data = fieldsOf(object['data'])
  const valueOf = (key: string): string => Buffer.from(textOf(data[key]), 'base64').toString('utf8')
  if (object.metadata.deletionTimestamp !== undefined) return 'is being deleted'
  if (object['type'] !== 'bootstrap.kubernetes.io/token')
    return 'is not of type bootstrap.kubernetes.io/token'
  if (!isSame(valueOf('token-secret'), secret)) return 'has a different token-secret'
  if (valueOf('token-id') !== id) return 'has a different token-id'
  if (isExpired(valueOf('expiration'), nowMs)) return 'has expired'
  if (valueOf('usage-bootstrap-authentication') !== 'true') return 'is not for authentication'
  const extra = valueOf('auth-extra-groups')
  const groups = extra === '' ? [] : extra.split(',')
  if (!groups.every((group) => extraGroup.test(group)))
    return 'has an invalid group in auth-extra-groups'
  return { groups: [...new Set(['system:bootstrappers', ...groups])].toSorted() }
}

/**
 * Compares two secrets in constant time. Compares their digests, because the secrets can differ in
 * length.
 */
const isSame = (one: string, other: string): boolean =>
  timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))

/**
 * Whether a token has expired. A token without an expiration never expires. A token with an
 * expiration that cannot be parsed has expired. Lowercase `t` and `z` are rejected, because Go's
 * RFC 3339 parser accepts only capitals.
 */
function isExpired(expiration: string, nowMs: number): boolean {
  if (expiration === '') return false
  const end = /[tz]/.test(expiration) ? undefined : parseTimestamp(expiration)
  return end === undefined || Number(end.nanos / NANOS_PER_MS) <= nowMs
}

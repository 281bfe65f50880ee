/**
 * Caches the results of token authenticators for some seconds, as kube-apiserver does, because most
 * authenticators verify signatures, read objects or call other servers. Concurrent requests with
 * the same token share one lookup. The keys are keyed hashes, so that the cache contains no tokens.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/time/clock.ts'
import { TtlCache } from '../../lib/cache/ttl-cache.ts'
import type { TokenCacheMetrics } from './metrics.ts'
import type { AuthenticateToken, TokenResult } from './token-authenticator.ts'

/**
 * Maximum number of cached results, as in kube-apiserver. The largest clusters have half as many
 * nodes and namespaces together.
 */
const RESULTS_MAX = 32 * 1024
/**
 * Maximum size of a cached result. A larger result, for example with very many groups, is not
 * cached.
 */
const RESULT_BYTES_MAX = 16 * 1024
/** Maximum size of all cached results, enough for 32 Ki users with a few groups each. */
const RESULTS_BYTES_MAX = 64 << 20
/**
 * Estimated memory of a string in a list, in addition to its characters: the header of the string,
 * and its reference in the list.
 */
const TEXT_BYTES = 24
const KEY_BYTES = 32

export type TokenCacheOptions = {
  /** How long the result for a known token is cached. */
  readonly successMs: number
  /**
   * How long the result for an unknown token is cached; 0 disables caching. Failures of an
   * authenticator are never cached.
   */
  readonly failureMs: number
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly metrics: TokenCacheMetrics
}

export function createTokenCache(
  authenticate: AuthenticateToken,
  { successMs, failureMs, clock, metrics }: TokenCacheOptions,
): AuthenticateToken {
  const secret = randomBytes(KEY_BYTES)
  const results = new TtlCache<TokenResult>(
    { sizeMax: RESULTS_MAX, weightMax: RESULTS_BYTES_MAX },
    clock,
  )
  const lookups = new Map<string, Promise<TokenResult>>()

  const keep = (key: string, result: TokenResult): TokenResult => {
    const ttlMs = result.kind === 'known' ? successMs : result.kind === 'unknown' ? failureMs : 0
    if (ttlMs <= 0) return result
    const weight = weightOf(result)
    if (weight <= RESULT_BYTES_MAX) results.set(key, result, { ttlMs, weight })
    return result
  }

  const lookUp = (
    key: string,
    token: string,
    audiences: readonly string[],
  ): Promise<TokenResult> => {
    const lookup = fetch(key, token, audiences)
    const forget = (): void => void lookups.delete(key)
    lookups.set(key, lookup)
    lookup.then(forget, forget)
    return lookup
  }

  const fetch = async (
    key: string,
    token: string,
    audiences: readonly string[],
  ): Promise<TokenResult> => {
    metrics.begin()
    let result: TokenResult | undefined
    try {
      result = await authenticate(token, audiences)
      return keep(key, result)
    } finally {
      metrics.finish(result === undefined || result.kind === 'bad' ? 'error' : 'ok')
    }
  }

  const wait = async (lookup: Promise<TokenResult>, startMs: number): Promise<TokenResult> => {
    metrics.wait(1)
    try {
      return await lookup
    } finally {
      metrics.wait(-1)
      metrics.end('miss', clock.monotonicMs() - startMs)
    }
  }

  return (token, audiences) => {
    const startMs = clock.monotonicMs()
    const key = keyOf(secret, token, audiences)
    const known = results.get(key)
    if (known !== undefined) {
      metrics.end('hit', clock.monotonicMs() - startMs)
      return known
    }
    return wait(lookups.get(key) ?? lookUp(key, token, audiences), startMs)
  }
}

/** Estimates the size of a result in bytes. A character can occupy two bytes. */
function weightOf(result: TokenResult): number {
  if (result.kind !== 'known') return TEXT_BYTES
  const { groups, extra = {} } = result.user
  const texts = groups.length + result.audiences.length + Object.values(extra).flat().length
  return 2 * JSON.stringify(result).length + texts * TEXT_BYTES
}

/**
 * Computes the cache key. The hash covers the token and the audiences as JSON, so that different
 * tokens or audiences never have the same key.
 */
const keyOf = (secret: Buffer, token: string, audiences: readonly string[]): string =>
  createHmac('sha256', secret)
    .update(JSON.stringify([token, audiences]))
    .digest('base64')

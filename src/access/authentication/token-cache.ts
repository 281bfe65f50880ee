/**
 * Caches results of token authenticators for some seconds, as upstream: most need signatures, other
 * objects or other servers. Requests with the same token that come together share one lookup. The
 * keys are keyed hashes, so that the cache contains no tokens.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/time/clock.ts'
import { TtlCache } from '../../lib/cache/ttl-cache.ts'
import type { TokenCacheMetrics } from './metrics.ts'
import type { AuthenticateToken, TokenResult } from './token-authenticator.ts'

/** Upstream has as many: twice the nodes and namespaces of the largest clusters. */
const RESULTS_MAX = 32 * 1024
/** What a token says about its user can be long: one such result is not kept, … */
const RESULT_BYTES_MAX = 16 * 1024
/** … and this is all that results may take together: 32 K users with some groups each. */
const RESULTS_BYTES_MAX = 64 << 20
/** Of a text in a list, beside its characters: its header and the place in the list. */
const TEXT_BYTES = 24
const KEY_BYTES = 32

export type TokenCacheOptions = {
  /** How long a token that is known is not looked up again. */
  readonly successMs: number
  /**
   * The same of one that is not. 0: it is looked up each time. Failures of an authenticator are
   * never kept.
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

/** About the bytes that a result takes: characters may take two each. */
function weightOf(result: TokenResult): number {
  if (result.kind !== 'known') return TEXT_BYTES
  const { groups, extra = {} } = result.user
  const texts = groups.length + result.audiences.length + Object.values(extra).flat().length
  return 2 * JSON.stringify(result).length + texts * TEXT_BYTES
}

/** Printed as JSON, so that no two lists of parts have the same key. */
const keyOf = (secret: Buffer, token: string, audiences: readonly string[]): string =>
  createHmac('sha256', secret)
    .update(JSON.stringify([token, audiences]))
    .digest('base64')

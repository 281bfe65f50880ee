import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { TokenCacheMetrics } from './metrics.ts'
import {
  type AuthenticateToken,
  badToken,
  type TokenResult,
  unknownToken,
} from './token-authenticator.ts'
import { createTokenCache } from './token-cache.ts'

const metrics = new TokenCacheMetrics(new Metrics())

/**
 * Creates an authenticator that knows tokens beginning with `good`, and records the tokens it is
 * called with.
 */
function asked({ isLater = false } = {}): {
  readonly authenticate: AuthenticateToken
  readonly questions: string[]
} {
  const questions: string[] = []
  const answer = (token: string, audiences: readonly string[]): TokenResult => {
    questions.push([token, ...audiences].join(' '))
    if (!token.startsWith('good')) return token === 'bad' ? badToken('why') : unknownToken
    return { kind: 'known', user: { name: token, uid: '', groups: [] }, audiences }
  }
  return {
    questions,
    authenticate: (token, audiences) =>
      isLater ? Promise.resolve().then(() => answer(token, audiences)) : answer(token, audiences),
  }
}

test('a known token is cached until its TTL expires, and an unknown token is not cached', async () => {
  const clock = { ms: 0, monotonicMs: () => clock.ms }
  const { authenticate, questions } = asked()
  const cached = createTokenCache(authenticate, { successMs: 10_000, failureMs: 0, clock, metrics })
  for (const ms of [0, 9_999, 10_000]) {
    clock.ms = ms
    for (const token of ['good', 'bad', 'other']) await cached(token, [])
  }
  assert.deepEqual(questions, ['good', 'bad', 'other', 'bad', 'other', 'good', 'bad', 'other'])
})

test('with failureMs, the cache stores that a token is unknown, but never that a token was rejected', async () => {
  const clock = { ms: 0, monotonicMs: () => clock.ms }
  const { authenticate, questions } = asked()
  const cached = createTokenCache(authenticate, { successMs: 0, failureMs: 1000, clock, metrics })
  for (const token of ['good', 'good', 'bad', 'bad', 'other', 'other']) await cached(token, [])
  assert.deepEqual(questions, ['good', 'good', 'bad', 'bad', 'other'])
  assert.deepEqual(await cached('bad', []), badToken('why'))
})

test('a token is cached separately for each list of requested audiences', async () => {
  const { authenticate, questions } = asked()
  const cached = createTokenCache(authenticate, {
    successMs: 1000,
    failureMs: 0,
    clock: { monotonicMs: () => 0 },
    metrics,
  })
  for (const audiences of [[], ['a'], ['b'], ['a', 'b'], ['ab'], ['a']])
    await cached('good', audiences)
  await cached('gooda', [])
  assert.deepEqual(questions, ['good', 'good a', 'good b', 'good a b', 'good ab', 'gooda'])
})

test('concurrent requests with the same token share one lookup, and a failed lookup is not cached', async () => {
  const { authenticate, questions } = asked({ isLater: true })
  const clock = { monotonicMs: () => 0 }
  const cached = createTokenCache(authenticate, { successMs: 1000, failureMs: 0, clock, metrics })
  const results = await Promise.all([cached('good', []), cached('good', []), cached('good2', [])])
  assert.deepEqual(questions, ['good', 'good2'])
  assert.equal(results[0], results[1])
  assert.ok(!(cached('good', []) instanceof Promise))

  let fails = true
  const failing = createTokenCache(
    async (token, audiences) => {
      if (fails) throw new Error('away')
      return authenticate(token, audiences)
    },
    { successMs: 1000, failureMs: 1000, clock, metrics },
  )
  await assert.rejects(async () => failing('good', []), /away/)
  fails = false
  assert.equal((await failing('good', [])).kind, 'known')
})

test('an authentication result that exceeds the size limit is not cached', async () => {
  let questions = 0
  const authenticate: AuthenticateToken = (_token, audiences) => {
    questions++
    return { kind: 'known', user: { name: 'u', uid: '', groups: ['g'.repeat(20_000)] }, audiences }
  }
  const cached = createTokenCache(authenticate, {
    successMs: 1000,
    failureMs: 0,
    clock: { monotonicMs: () => 0 },
    metrics,
  })
  for (let times = 0; times < 2; times++) await cached('t', [])
  assert.equal(questions, 2)
})

test('an authentication result with many groups is not cached, even if the group names are short', async () => {
  let questions = 0
  const groups = Array.from({ length: 1_000 }, () => '')
  const cached = createTokenCache(
    (_token, audiences) => {
      questions++
      return { kind: 'known', user: { name: 'u', uid: '', groups }, audiences }
    },
    { successMs: 1000, failureMs: 0, clock: { monotonicMs: () => 0 }, metrics },
  )
  for (let times = 0; times < 2; times++) await cached('t', [])
  assert.equal(questions, 2)
})

test('an exception that an authenticator throws synchronously is not cached', async () => {
  let fails = true
  const cached = createTokenCache(
    () => {
      if (fails) throw new Error('away')
      return unknownToken
    },
    { successMs: 1000, failureMs: 0, clock: { monotonicMs: () => 0 }, metrics },
  )
  await assert.rejects(async () => cached('t', []), /away/)
  fails = false
  assert.equal((await cached('t', [])).kind, 'unknown')
})

test('the token cache counts hits, misses, fetches and waiting requests', async () => {
  const all = new Metrics()
  const { authenticate } = asked({ isLater: true })
  const clock = { monotonicMs: () => 0 }
  const cached = createTokenCache(authenticate, {
    successMs: 1000,
    failureMs: 0,
    clock,
    metrics: new TokenCacheMetrics(all),
  })
  const waiting = [cached('good', []), cached('good', [])]
  assert.match(
    all.print(),
    /active_fetch_count\{status="blocked"\} 2\n.*active_fetch_count\{status="in_flight"\} 1/,
  )
  for (const one of waiting) await one
  await cached('good', [])
  await cached('bad', [])
  const lines = all.print().split('\n')
  const of = (name: string, status: string): string | undefined =>
    lines
      .find((line) => line.startsWith(`authentication_token_cache_${name}{status="${status}"}`))
      ?.replace(/.* /, '')
  const counted = [
    of('request_total', 'hit'),
    of('request_total', 'miss'),
    of('fetch_total', 'ok'),
    of('fetch_total', 'error'),
    of('active_fetch_count', 'blocked'),
    of('active_fetch_count', 'in_flight'),
    of('request_duration_seconds_count', 'hit'),
  ]
  assert.deepEqual(counted, ['1', '3', '1', '1', '0', '0', '1'])
})

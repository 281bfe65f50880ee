import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AuthenticateToken, badToken, type TokenResult, unknownToken } from './token-authenticator.ts'
import { createTokenCache } from './token-cache.ts'

/** Knows tokens that begin with `good`; counts what it is asked. */
function asked({ isLater = false } = {}): { readonly authenticate: AuthenticateToken; readonly questions: string[] } {
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

test('a known token is looked up again when its time is over, an unknown one each time', () => {
  const clock = { ms: 0, monotonicMs: () => clock.ms }
  const { authenticate, questions } = asked()
  const cached = createTokenCache(authenticate, { successMs: 10_000, failureMs: 0, clock })
  for (const ms of [0, 9_999, 10_000]) {
    clock.ms = ms
    for (const token of ['good', 'bad', 'other']) void cached(token, [])
  }
  assert.deepEqual(questions, ['good', 'bad', 'other', 'bad', 'other', 'good', 'bad', 'other'])
})

test('that a token is unknown is cached where that is wanted, a failure never', () => {
  const clock = { ms: 0, monotonicMs: () => clock.ms }
  const { authenticate, questions } = asked()
  const cached = createTokenCache(authenticate, { successMs: 0, failureMs: 1000, clock })
  for (const token of ['good', 'good', 'bad', 'bad', 'other', 'other']) void cached(token, [])
  assert.deepEqual(questions, ['good', 'good', 'bad', 'bad', 'other'])
  assert.deepEqual(cached('bad', []), badToken('why'))
})

test('a token is cached for the audiences that it was asked for', () => {
  const { authenticate, questions } = asked()
  const cached = createTokenCache(authenticate, { successMs: 1000, failureMs: 0, clock: { monotonicMs: () => 0 } })
  for (const audiences of [[], ['a'], ['b'], ['a', 'b'], ['ab'], ['a']]) void cached('good', audiences)
  void cached('gooda', [])
  assert.deepEqual(questions, ['good', 'good a', 'good b', 'good a b', 'good ab', 'gooda'])
})

test('requests that come together share one lookup, and a failed lookup is not kept', async () => {
  const { authenticate, questions } = asked({ isLater: true })
  const clock = { monotonicMs: () => 0 }
  const cached = createTokenCache(authenticate, { successMs: 1000, failureMs: 0, clock })
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
    { successMs: 1000, failureMs: 1000, clock },
  )
  await assert.rejects(async () => failing('good', []), /away/)
  fails = false
  assert.equal((await failing('good', [])).kind, 'known')
})

test('long results are not kept', () => {
  let questions = 0
  const authenticate: AuthenticateToken = (_token, audiences) => {
    questions++
    return { kind: 'known', user: { name: 'u', uid: '', groups: ['g'.repeat(20_000)] }, audiences }
  }
  const cached = createTokenCache(authenticate, { successMs: 1000, failureMs: 0, clock: { monotonicMs: () => 0 } })
  for (let times = 0; times < 2; times++) void cached('t', [])
  assert.equal(questions, 2)
})

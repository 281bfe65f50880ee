import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldBytes } from '../../../test/support/harness/held-bytes.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { CallError } from '../../net/outbound/call-error.ts'
import type { TokenResult } from './token-authenticator.ts'
import { createTokenWebhook, type ReviewVersion } from './token-webhook.ts'

type Answer = string | Error | object
type ReviewInput = { readonly audiences?: readonly string[]; readonly version?: ReviewVersion }

const time = { ...systemTime, after: (_ms: number, run: () => void) => setTimeout(run, 0) }
// The timer that limits the duration of a lookup (30 seconds) fires after its real delay. All other
// timers fire immediately.
const patient = {
  ...systemTime,
  after: (ms: number, run: () => void) => setTimeout(run, ms === 30_000 ? ms : 0),
}

async function ask(
  answers: readonly Answer[],
  { audiences = ['api'], version = 'v1' }: ReviewInput = {},
): Promise<{ readonly result: TokenResult; readonly sent: unknown[]; readonly logged: string[] }> {
  const [sent, logged]: [unknown[], string[]] = [[], []]
  const authenticate = createTokenWebhook({
    release: 33,
    client: {
      post: async (body) => {
        const answer = answers[Math.min(sent.length, answers.length - 1)] ?? ''
        sent.push(JSON.parse(body))
        if (answer instanceof Error) throw answer
        return typeof answer === 'string' ? answer : JSON.stringify(answer)
      },
    },
    reviewVersion: version,
    served: ['api', 'more'],
    log: (level, message, fields) =>
      void logged.push(`${level} ${message} ${String(fields?.['error'])}`),
    random: () => 0,
    time: patient,
  })
  return { result: await authenticate('secret', audiences), sent, logged }
}

const review = (status: object, apiVersion = 'authentication.k8s.io/v1'): object => ({
  kind: 'TokenReview',
  apiVersion,
  status,
})
const user = { username: 'jane', uid: 'u', groups: ['a'], extra: { k: ['v', 'w'] } }
const jane = { name: 'jane', uid: 'u', groups: ['a'], extra: { k: ['v', 'w'] } }
const known = review({ authenticated: true, user })

for (const version of ['v1', 'v1beta1'] as const) {
  test(`a token is authenticated by a TokenReview of ${version}`, async () => {
    const apiVersion = `authentication.k8s.io/${version}`
    const answer = review({ authenticated: true, user }, apiVersion)
    const { result, sent } = await ask([answer], { version })
    assert.deepEqual(result, { kind: 'known', user: jane, audiences: ['api'] })
    assert.deepEqual(sent, [
      {
        kind: 'TokenReview',
        apiVersion,
        metadata: { creationTimestamp: null },
        spec: { token: 'secret', audiences: ['api'] },
        status: { user: {} },
      },
    ])
  })
}

const audienceCases: readonly [
  string,
  readonly string[],
  readonly string[] | undefined,
  readonly string[] | undefined,
][] = [
  [
    'those of the server if the response has none',
    ['more', 'api', 'x'],
    undefined,
    ['api', 'more'],
  ],
  ['rejected if the server has none of the requested ones', ['x'], undefined, undefined],
  ['those of the response', ['api', 'x', 'y'], ['y', 'z', 'x'], ['y', 'x']],
  ['rejected if the response has none of the requested ones', ['api'], ['z'], undefined],
  ['not checked if none are requested', [], ['z'], []],
]
for (const [what, audiences, reported, wanted] of audienceCases) {
  test(`the audiences of a token are ${what}`, async () => {
    const { result } = await ask(
      [review({ authenticated: true, user, ...(reported && { audiences: reported }) })],
      {
        audiences,
      },
    )
    assert.deepEqual(result.kind === 'known' ? result.audiences : undefined, wanted)
  })
}

test('a response without `authenticated: true` does not authenticate the user', async () => {
  assert.deepEqual((await ask([review({ authenticated: false })])).result, { kind: 'unknown' })
  assert.deepEqual((await ask([review({})])).result, { kind: 'unknown' })
  assert.deepEqual((await ask([{}])).result, { kind: 'unknown' })
  const refused = await ask([review({ authenticated: false, error: 'revoked', user })])
  assert.deepEqual(refused.result, { kind: 'bad', why: 'revoked' })
})

const wrong: readonly Answer[] = [
  'no json',
  '[]',
  { kind: 'Status', apiVersion: 'v1', status: { authenticated: true } },
  review({ authenticated: true, user }, 'authentication.k8s.io/v1beta1'),
  review({ authenticated: 'true', user }),
  review({ authenticated: true, user: 'jane' }),
  review({ authenticated: true, user: { ...user, groups: 'a' } }),
  review({ authenticated: true, user: { ...user, groups: [1] } }),
  review({ authenticated: true, user: { ...user, extra: { k: 'v' } } }),
  review({ authenticated: true, user, audiences: 'api' }),
]
for (const answer of wrong) {
  test(`a response that is not a review is rejected: ${JSON.stringify(answer)}`, async () => {
    const { result, sent, logged } = await ask([answer])
    assert.equal(result.kind, 'bad')
    assert.equal(sent.length, 1)
    assert.match(logged.join(), /^error Failed to make webhook authenticator request /)
    assert.ok(!logged.join().includes('secret'))
  })
}

const failed = (status: number): CallError =>
  new CallError(`an error on the server (${status})`, 'answered', {
    answer: { status, retryAfterSec: 0 },
  })

test('transient failures of the token webhook are retried, and other failures are not', async () => {
  assert.equal((await ask([failed(500), known])).result.kind, 'known')
  assert.equal((await ask([new CallError('reset', 'reset'), known])).result.kind, 'known')
  const { result, sent } = await ask([failed(500)])
  assert.deepEqual(result, { kind: 'bad', why: 'an error on the server (500)' })
  assert.equal(sent.length, 5)
  assert.equal((await ask([failed(403)])).sent.length, 1)
  assert.equal((await ask([new CallError('refused', 'refused')])).sent.length, 1)
})

test('a token that cannot be reviewed because too many calls are in flight is rejected with 429', async () => {
  await assert.rejects(ask([new CallError('too many calls are under way', 'busy')]), {
    code: 429,
    reason: 'TooManyRequests',
    details: { retryAfterSeconds: 1 },
  })
})

test('the authentication of a token by the webhook fails at its deadline', async () => {
  const authenticate = createTokenWebhook({
    client: {
      post: (_body, signal) =>
        new Promise((_, reject) =>
          signal?.addEventListener('abort', () => reject(new Error('late'))),
        ),
    },
    reviewVersion: 'v1',
    release: 33,
    served: [],
    log: () => undefined,
    random: () => 0,
    time,
  })
  assert.deepEqual(await authenticate('t', []), { kind: 'bad', why: 'late' })
})

test('a cached user does not retain the whole response of the webhook in memory', async () => {
  const results: TokenResult[] = []
  const held = await heldBytes(async () => {
    for (let at = 0; at < 50; at++) {
      const someone = {
        username: `a-long-user-name-${at}`,
        uid: `a-long-user-uid-${at}`,
        groups: [`a-long-group-name-${at}`],
        extra: { [`a-long-key-of-extra-${at}`]: [`a-long-value-of-extra-${at}`] },
      }
      const answer = {
        spec: { token: 'a'.repeat(1 << 20) },
        ...review({ authenticated: true, user: someone }),
      }
      results.push((await ask([answer])).result)
    }
  })
  assert.equal(results.length, 50)
  assert.ok(held < 10 << 20, `${held} bytes are held`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldBytes } from '../../../test/support/harness/held-bytes.ts'
import type { AccessAttributes } from '../../api/access.ts'
import { parseFieldSelector } from '../../api/field-selector.ts'
import { parseLabelSelector } from '../../api/label-selector.ts'
import { accessReviewEnvironment } from '../../objects/cel/access.ts'
import { compile } from '../../objects/cel/compile.ts'
import type { AuthorizationWebhook } from '../../config/files/authorization-webhook.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { CallError } from '../../net/outbound/call-error.ts'
import { storedVersion } from '../../objects/cel/kubernetes.ts'
import type { Authorizer } from './authorizer.ts'
import { AuthorizationMetrics } from './metrics.ts'
import { createWebhookAuthorizer } from './webhook.ts'

const alice = { name: 'alice', uid: 'u1', groups: ['dev'], extra: { 'example.com/k': ['v'] } }
const nobody = { name: '', uid: '', groups: [] }
const getPod: Extract<AccessAttributes, { kind: 'resource' }> = {
  kind: 'resource',
  verb: 'get',
  group: '',
  version: 'v1',
  plural: 'pods',
  subresource: '',
  namespace: 'n',
  name: 'p',
}

const conditionsOf = (...texts: readonly string[]): AuthorizationWebhook['conditions'] =>
  texts.map((text) => {
    const compiled = compile(
      text,
      accessReviewEnvironment(storedVersion(33), { hasSelectors: true }),
    )
    assert.ok('program' in compiled, text)
    return { text, program: compiled.program }
  })

type WebhookFixture = {
  readonly authorizer: Authorizer
  readonly sent: unknown[]
  readonly logged: string[]
  readonly metrics: Metrics
  readonly pass: (ms: number) => void
}

type Answer = string | Error | object

function start(
  answer: () => Answer,
  webhook: Partial<AuthorizationWebhook> = {},
  hasSelectors = true,
): WebhookFixture {
  const [sent, logged]: [unknown[], string[]] = [[], []]
  const metrics = new Metrics()
  let nowMs = 0
  const time = {
    ...systemTime,
    monotonicMs: () => nowMs,
    after: (_: number, run: () => void) => setTimeout(run, 0),
  }
  const authorizer = createWebhookAuthorizer({
    name: 'w',
    release: 33,
    webhook: {
      authorizedMs: 5_000,
      unauthorizedMs: 1_000,
      timeoutMs: 3_000,
      reviewVersion: 'v1',
      failurePolicy: 'NoOpinion',
      connection: { type: 'KubeConfigFile', path: '' },
      conditions: [],
      ...webhook,
    },
    client: {
      post: async (body, signal) => {
        sent.push(JSON.parse(body))
        const said = answer()
        if (signal?.aborted === true) throw new CallError('context canceled', 'canceled')
        if (said instanceof Error) throw said
        return typeof said === 'string' ? said : JSON.stringify(said)
      },
    },
    metrics: new AuthorizationMetrics(metrics),
    log: (level, message, fields) =>
      void logged.push(`${level} ${message} ${String(fields?.['error'])}`),
    random: () => 0,
    hasSelectors,
    time,
  })
  return { authorizer, sent, logged, metrics, pass: (ms) => void (nowMs += ms) }
}

const review = (status: object): object => ({
  kind: 'SubjectAccessReview',
  apiVersion: 'authorization.k8s.io/v1',
  status,
})

test('the spec of a v1 SubjectAccessReview does not contain empty fields', async () => {
  const { authorizer, sent } = start(() => review({ allowed: true }))
  await authorizer.authorize(alice, getPod)
  await authorizer.authorize(nobody, { kind: 'path', verb: 'get', path: '/version' })
  assert.deepEqual(sent, [
    {
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: { creationTimestamp: null },
      spec: {
        resourceAttributes: {
          namespace: 'n',
          verb: 'get',
          version: 'v1',
          resource: 'pods',
          name: 'p',
        },
        user: 'alice',
        groups: ['dev'],
        extra: { 'example.com/k': ['v'] },
        uid: 'u1',
      },
      status: { allowed: false },
    },
    {
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: { creationTimestamp: null },
      spec: { nonResourceAttributes: { path: '/version', verb: 'get' } },
      status: { allowed: false },
    },
  ])
})

test('a v1beta1 SubjectAccessReview has the groups in the field `group`', async () => {
  const answer = {
    apiVersion: 'authorization.k8s.io/v1beta1',
    kind: 'SubjectAccessReview',
    status: { allowed: true },
  }
  const { authorizer, sent } = start(() => answer, { reviewVersion: 'v1beta1' })
  assert.equal((await authorizer.authorize(alice, getPod)).verdict, 'allow')
  const [first] = sent
  assert.deepEqual(JSON.parse(JSON.stringify(first)).spec.group, ['dev'])
})

const listPods: AccessAttributes = {
  ...getPod,
  verb: 'list',
  selectors: () => ({
    fields: parseFieldSelector('spec.nodeName=n,a!=b'),
    labels: parseLabelSelector('a in (x,y),!b,c,d!=e,f>1'),
  }),
}

test('a SubjectAccessReview contains the selectors as requirements if AuthorizeWithSelectors is enabled', async () => {
  const { authorizer, sent } = start(() => review({ allowed: true }))
  await authorizer.authorize(alice, listPods)
  const { resourceAttributes } = JSON.parse(JSON.stringify(sent[0])).spec
  assert.deepEqual(resourceAttributes.fieldSelector, {
    requirements: [
      { key: 'spec.nodeName', operator: 'In', values: ['n'] },
      { key: 'a', operator: 'NotIn', values: ['b'] },
    ],
  })
  assert.deepEqual(resourceAttributes.labelSelector, {
    requirements: [
      { key: 'a', operator: 'In', values: ['x', 'y'] },
      { key: 'b', operator: 'DoesNotExist' },
      { key: 'c', operator: 'Exists' },
      { key: 'd', operator: 'NotIn', values: ['e'] },
    ],
  })
  const off = start(() => review({ allowed: true }), {}, false)
  await off.authorizer.authorize(alice, listPods)
  assert.equal(
    JSON.parse(JSON.stringify(off.sent[0])).spec.resourceAttributes.fieldSelector,
    undefined,
  )
})

const both = 'webhook subject access review returned both allow and deny response'
for (const [status, expected] of [
  [
    { allowed: true, reason: 'r' },
    { verdict: 'allow', reason: 'r' },
  ],
  [
    { denied: true, reason: 'r' },
    { verdict: 'deny', reason: 'r' },
  ],
  [
    { allowed: false, denied: true },
    { verdict: 'deny', reason: '' },
  ],
  [
    { allowed: false, reason: 'r', evaluationError: 'x' },
    { verdict: 'no-opinion', reason: 'r' },
  ],
  [{}, { verdict: 'no-opinion', reason: '' }],
  [
    { allowed: true, denied: true },
    { verdict: 'deny', reason: '', error: both },
  ],
] as const) {
  test(`the status ${JSON.stringify(status)} results in ${expected.verdict}`, async () => {
    const { authorizer } = start(() => review(status))
    assert.deepEqual(await authorizer.authorize(alice, getPod), expected)
  })
}

for (const answer of [
  'no JSON',
  '[]',
  { kind: 'Pod', apiVersion: 'v1' },
  { ...review({ allowed: true }), apiVersion: 'authorization.k8s.io/v1beta1' },
  review({ allowed: 'true' }),
  review({ denied: 1 }),
  { ...review({}), status: 'allowed' },
  new CallError('refused', 'refused'),
]) {
  test(`the response ${answer instanceof Error ? answer.message : JSON.stringify(answer)} is an error and does not allow the request`, async () => {
    const open = start(() => answer)
    const { verdict, error } = await open.authorizer.authorize(alice, getPod)
    assert.equal(verdict, 'no-opinion')
    assert.ok(error !== undefined && error !== '')
    assert.equal(open.logged.length, 1)
    assert.match(
      open.metrics.print(),
      /webhook_evaluations_fail_open_total\{name="w",result="error"\} 1/,
    )
    const closed = start(() => answer, { failurePolicy: 'Deny' })
    assert.equal((await closed.authorizer.authorize(alice, getPod)).verdict, 'deny')
    assert.doesNotMatch(closed.metrics.print(), /fail_open_total\{/)
  })
}

test('a response without kind and apiVersion is read as a review of the requested version', async () => {
  const { authorizer } = start(() => ({ status: { allowed: true } }))
  assert.equal((await authorizer.authorize(alice, getPod)).verdict, 'allow')
})

test('transient errors of an authorization webhook are retried, up to five calls', async () => {
  const busy = new CallError('busy', 'answered', { answer: { status: 500, retryAfterSec: 0 } })
  const { authorizer, sent, metrics } = start(() => busy)
  assert.deepEqual(await authorizer.authorize(alice, getPod), {
    verdict: 'no-opinion',
    reason: '',
    error: 'busy',
  })
  assert.equal(sent.length, 5)
  assert.match(metrics.print(), /webhook_evaluations_total\{name="w",result="error"\} 5/)
  let calls = 0
  const recovering = start(() => (++calls < 3 ? busy : review({ allowed: true })))
  assert.equal((await recovering.authorizer.authorize(alice, getPod)).verdict, 'allow')
})

test('a timeout of an authorization webhook is not retried, and is counted with the result timeout', async () => {
  const { authorizer, sent, metrics } = start(() => new CallError('late', 'timeout'))
  await authorizer.authorize(alice, getPod)
  assert.equal(sent.length, 1)
  assert.match(metrics.print(), /webhook_evaluations_total\{name="w",result="timeout"\} 1/)
})

test('a response is cached for its TTL, and decisions from the cache are synchronous', async () => {
  let status: object = { allowed: true }
  const { authorizer, sent, pass } = start(() => review(status))
  await authorizer.authorize(alice, getPod)
  status = { denied: true, reason: 'no' }
  assert.deepEqual(authorizer.authorize(alice, getPod), { verdict: 'allow', reason: '' })
  pass(5_000)
  assert.equal((await authorizer.authorize(alice, getPod)).verdict, 'deny')
  assert.deepEqual(authorizer.authorize(alice, getPod), { verdict: 'deny', reason: 'no' })
  pass(1_000)
  assert.ok(authorizer.authorize(alice, getPod) instanceof Promise)
  assert.equal(sent.length, 3)
})

test('a response is cached only for requests with an identical SubjectAccessReview', async () => {
  const { authorizer, sent } = start(() => review({ allowed: true }))
  const questions: [typeof alice | typeof nobody, AccessAttributes][] = [
    [alice, getPod],
    [{ ...alice, name: 'bob' }, getPod],
    [{ ...alice, uid: 'u2' }, getPod],
    [{ ...alice, groups: ['dev', 'ops'] }, getPod],
    [{ ...alice, extra: { 'example.com/k': ['w'] } }, getPod],
    [alice, { ...getPod, verb: 'list' }],
    [alice, listPods],
    [alice, { ...getPod, subresource: 'log' }],
    [alice, { ...getPod, namespace: 'np', name: '' }],
    [alice, { kind: 'path', verb: 'get', path: '/pods' }],
  ]
  for (const [user, attributes] of questions) await authorizer.authorize(user, attributes)
  assert.equal(sent.length, questions.length)
  for (const [user, attributes] of questions)
    assert.ok(!(authorizer.authorize(user, attributes) instanceof Promise))
})

test('errors are not cached, and responses for requests with very long attributes are not cached', async () => {
  const failing = start(() => new CallError('refused', 'refused'))
  await failing.authorizer.authorize(alice, getPod)
  assert.ok(failing.authorizer.authorize(alice, getPod) instanceof Promise)
  const { authorizer } = start(() => review({ allowed: true }))
  const long = { ...getPod, name: 'x'.repeat(10_000) }
  await authorizer.authorize(alice, long)
  assert.ok(authorizer.authorize(alice, long) instanceof Promise)
})

test('a webhook is called only if all match conditions are true', async () => {
  const conditions = conditionsOf(
    'has(request.resourceAttributes)',
    "request.resourceAttributes.namespace == 'n'",
  )
  const { authorizer, sent, metrics } = start(() => review({ denied: true }), { conditions })
  assert.equal((await authorizer.authorize(alice, getPod)).verdict, 'deny')
  const elsewhere = await authorizer.authorize(alice, { ...getPod, namespace: 'm' })
  assert.deepEqual(elsewhere, { verdict: 'no-opinion', reason: '' })
  assert.equal(sent.length, 1)
  assert.match(metrics.print(), /match_condition_exclusions_total\{name="w",type="Webhook"\} 1/)
  assert.match(
    metrics.print(),
    /match_condition_evaluation_seconds_count\{name="w",type="Webhook"\} 2/,
  )
})

test('match conditions can read the user, the attributes and the selectors of the request', async () => {
  const all = conditionsOf(
    "request.user == 'alice' && request.uid == 'u1' && 'dev' in request.groups",
    "request.extra['example.com/k'][0] == 'v'",
    "request.resourceAttributes.subresource == '' && request.resourceAttributes.group == ''",
    "request.resourceAttributes.fieldSelector.requirements.exists(r, r.key == 'a' && r.operator == 'NotIn')",
    '!has(request.nonResourceAttributes)',
  )
  const { authorizer, sent } = start(() => review({ allowed: true }), { conditions: all })
  await authorizer.authorize(alice, listPods)
  assert.equal(sent.length, 1)
})

test('if a match condition fails, the failure policy applies, unless another match condition is false', async () => {
  const failing = "request.resourceAttributes.namespace == 'n'"
  const path: AccessAttributes = { kind: 'path', verb: 'get', path: '/x' }
  const open = start(() => review({ allowed: true }), { conditions: conditionsOf(failing) })
  assert.deepEqual(await open.authorizer.authorize(alice, path), {
    verdict: 'no-opinion',
    reason: '',
    error: `cel evaluation error: expression '${failing}' resulted in error: no such key: resourceAttributes`,
  })
  assert.match(
    open.metrics.print(),
    /match_condition_evaluation_errors_total\{name="w",type="Webhook"\} 1/,
  )
  const closed = start(() => review({}), {
    conditions: conditionsOf(failing),
    failurePolicy: 'Deny',
  })
  assert.equal((await closed.authorizer.authorize(alice, path)).verdict, 'deny')
  const excluded = start(() => review({}), {
    conditions: conditionsOf(failing, "request.user == 'bob'"),
    failurePolicy: 'Deny',
  })
  assert.deepEqual(await excluded.authorizer.authorize(alice, path), {
    verdict: 'no-opinion',
    reason: '',
  })
})

test('a match condition that exceeds its cost limit fails', async () => {
  const costly = `request.groups.all(a, request.groups.all(b, request.groups.all(c, a + b + c != 'x')))`
  const groups = Array.from({ length: 200 }, (_, at) => `group-${at}`)
  const { authorizer } = start(() => review({ allowed: true }), {
    conditions: conditionsOf(costly),
    failurePolicy: 'Deny',
  })
  const { verdict, error } = await authorizer.authorize({ ...alice, groups }, getPod)
  assert.equal(verdict, 'deny')
  assert.match(error ?? '', /actual cost limit exceeded/)
})

test('the webhook authorizer cannot list the rights of a user', () => {
  const waiting = { signal: new AbortController().signal, reserve: () => undefined }
  assert.deepEqual(start(() => '').authorizer.rightsOf(alice, 'n', waiting), {
    resourceRules: [],
    nonResourceRules: [],
    incomplete: true,
    evaluationError: 'webhook authorizer does not support user rule resolution',
  })
})

test('an aborted request is denied even if the failure policy is NoOpinion', async () => {
  const { authorizer, metrics } = start(() => review({ denied: true }))
  const ended = { signal: AbortSignal.abort() }
  assert.deepEqual(await authorizer.authorize(alice, getPod, ended), {
    verdict: 'deny',
    reason: '',
    error: 'context canceled',
  })
  assert.doesNotMatch(metrics.print(), /fail_open_total\{/)
})

for (const failurePolicy of ['NoOpinion', 'Deny'] as const) {
  test(`a request is rejected with 429 if too many calls are in flight, with failure policy ${failurePolicy}`, async () => {
    const { authorizer, metrics } = start(() => new CallError('too many calls', 'busy'), {
      failurePolicy,
    })
    const refused = { code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 1 } }
    await assert.rejects(async () => authorizer.authorize(alice, getPod), refused)
    assert.doesNotMatch(metrics.print(), /fail_open_total\{/)
  })

  test(`a request is denied if the response exceeds the size limit, with failure policy ${failurePolicy}`, async () => {
    const { authorizer } = start(() => new CallError('the response is too large', 'too-large'), {
      failurePolicy,
    })
    const decision = await authorizer.authorize(alice, getPod)
    assert.deepEqual(decision, { verdict: 'deny', reason: '', error: 'the response is too large' })
  })
}

test('a cached response does not retain the whole body of the webhook response in memory', async () => {
  let at = 0
  const { authorizer } = start(() => ({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: 'a'.repeat(1 << 20) },
    status: { allowed: true, reason: `because of rule ${at}` },
  }))
  const held = await heldBytes(async () => {
    for (at = 0; at < 50; at++) await authorizer.authorize(alice, { ...getPod, name: `p-${at}` })
  })
  assert.ok(held < 10 << 20, `${held} bytes are held`)
})

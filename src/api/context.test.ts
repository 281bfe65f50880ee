import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestContext } from './context.ts'

const user = { name: 'u', uid: '', groups: [] }
const info = { kind: 'path', verb: 'get', path: '/x' } as const

function contextFor(timeoutMs: number) {
  const client = new AbortController()
  const clock = { ms: 0 }
  const context = new RequestContext({
    auditId: 'a',
    info,
    timeoutMs,
    client,
    monotonicMs: () => clock.ms,
  })
  context.identify(user)
  return { client, clock, context }
}

test('the signal of a request context is aborted when the client disconnects or the deadline passes', async () => {
  const gone = contextFor(60_000)
  const { signal } = gone.context
  assert.equal(gone.context.signal, signal)
  gone.client.abort()
  assert.ok(signal.aborted)
  gone.context.timeOut()
  assert.equal(gone.context.hasTimedOut, false)

  const late = contextFor(5)
  await new Promise((resolve) => late.context.signal.addEventListener('abort', resolve))
  assert.equal(late.context.signal.reason.name, 'TimeoutError')
  late.context.timeOut()
  assert.ok(late.context.hasTimedOut)
})

test('if a client reports its disconnection through a callback, the request context does not read the signal of the client', () => {
  let listener: (() => void) | undefined
  const client = {
    get signal(): AbortSignal {
      throw new Error('the signal is not needed')
    },
    onGone: (given: (() => void) | undefined) => void (listener = given),
  }
  const context = new RequestContext({
    auditId: 'a',
    info,
    timeoutMs: 60_000,
    client,
    monotonicMs: () => 0,
  })
  const { signal } = context
  assert.ok(!signal.aborted)
  listener?.()
  assert.ok(signal.aborted)
  assert.equal(signal.reason.name, 'AbortError')
  context.end()
  assert.equal(listener, undefined)
})

test('a context with `isTimed` is aborted when the method `timeOut` is called', () => {
  const early = contextFor(0)
  early.context.isTimed = true
  const { signal } = early.context
  assert.ok(!signal.aborted)
  early.context.timeOut()
  assert.equal(signal.reason.name, 'TimeoutError')

  const late = contextFor(0)
  late.context.isTimed = true
  late.context.timeOut()
  assert.equal(late.context.signal.reason.name, 'TimeoutError')
  assert.ok(late.context.hasTimedOut)
})

test('a deadline beyond the maximum delay of a timer does not abort the request immediately', async () => {
  const { context } = contextFor(2 ** 31)
  const { signal } = context
  await new Promise((resolve) => void setTimeout(resolve, 20))
  assert.ok(!signal.aborted)
  context.end()
})

test('a watch uses the signal of its client and has no deadline', () => {
  const { client, context } = contextFor(Infinity)
  assert.equal(context.signal, client.signal)
})

test('a request context stores a repeated warning once, and keeps the first value of each audit annotation', () => {
  const { context } = contextFor(1)
  assert.deepEqual([context.warnings, context.annotations.size], [[], 0])
  for (const text of ['one', 'two', 'one']) context.warn(text)
  context.annotate('k', 'first')
  context.annotate('k', 'second')
  assert.deepEqual([context.warnings, context.annotations.get('k')], [['one', 'two'], 'first'])
})

test('the context of a request with impersonation returns the user who sent the request', () => {
  const { context } = contextFor(60_000)
  assert.equal(context.impersonator, undefined)
  context.identify(user)
  context.actAs({ ...user, name: 'other' })
  assert.deepEqual([context.user.name, context.impersonator], ['other', user])
})

function annotationsOf(decision: RequestContext['decision']): object {
  const { context } = contextFor(1)
  context.decision = decision
  return Object.fromEntries(context.annotations)
}

test('the audit annotations of a request contain the authorization decision, but not the error of a failed authorizer', () => {
  const [decision, reason] = ['authorization.k8s.io/decision', 'authorization.k8s.io/reason']
  assert.deepEqual(annotationsOf({ verdict: 'allow', reason: 'RBAC: x' }), {
    [decision]: 'allow',
    [reason]: 'RBAC: x',
  })
  assert.deepEqual(annotationsOf({ verdict: 'allow', reason: '', error: 'e' }), {
    [decision]: 'allow',
    [reason]: '',
  })
  assert.deepEqual(annotationsOf({ verdict: 'no-opinion', reason: '' }), {
    [decision]: 'forbid',
    [reason]: '',
  })
  assert.deepEqual(annotationsOf({ verdict: 'deny', reason: '', error: 'secret' }), {
    [reason]: 'internal error',
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anObject, attributes } from '../../../test/support/harness/admission.ts'
import { RequestContext } from '../../api/context.ts'
import type { ApiError } from '../../api/errors.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { Registry } from '../../registry/registry.ts'
import { WebhookError } from '../../net/outbound/call.ts'
import { BusyError } from '../../net/outbound/call-limit.ts'
import { ReceivedAnswers } from '../../net/outbound/received.ts'
import { TooLargeError } from '../../net/outbound/send.ts'
import type { Attributes } from '../admission.ts'
import { callWebhook, WebhookCallError, refusalOf } from './call-webhook.ts'
import { type AdmissionWebhook, readWebhooks } from './webhook.ts'
import { WebhookList } from './webhook-list.ts'
import { WebhookMetrics } from './metrics.ts'
import { Versions } from './versioned.ts'

function writeWith(signal: AbortSignal): Attributes {
  const context = new RequestContext({
    auditId: '',
    info: { kind: 'path', verb: 'get', path: '/' },
    client: { signal },
    timeoutMs: Infinity,
    monotonicMs: () => 0,
  })
  context.identify({ name: 'u', uid: '', groups: [] })
  return attributes({ plural: 'configmaps', object: anObject('ConfigMap', 'c'), context })
}

/** Returns the error for the client after a failed call, or undefined if the failure is ignored. */
const refusal = (
  error: Error,
  failurePolicy: string,
  signal?: AbortSignal,
): Promise<ApiError | undefined> =>
  refusalAfter(
    async () => {
      throw error
    },
    failurePolicy,
    { signal },
  )

type CallOptions = { signal?: AbortSignal | undefined; isMutating?: boolean; release?: number }

async function refusalAfter(
  post: () => Promise<string>,
  failurePolicy: string,
  options: CallOptions,
): Promise<ApiError | undefined> {
  const { failure, hook } = await failureAfter(post, failurePolicy, options)
  return refusalOf(failure, hook)
}

async function failureAfter(
  post: () => Promise<string>,
  failurePolicy: string,
  { signal = new AbortController().signal, isMutating = false, release = 33 }: CallOptions,
): Promise<{ readonly failure: WebhookCallError; readonly hook: AdmissionWebhook }> {
  const webhook = { name: 'h', failurePolicy, sideEffects: 'None', admissionReviewVersions: ['v1'] }
  const [read] = readWebhooks(
    'c',
    { webhooks: [webhook] },
    { release: 33, getService: () => undefined, received: new ReceivedAnswers() },
  )
  assert.ok(read)
  const hook: AdmissionWebhook = { ...read, client: () => ({ post }) }
  const options = {
    newId: () => 'id',
    clock: { monotonicMs: () => 0 },
    convertYaml: () => assert.fail(),
    metrics: new WebhookMetrics(new Metrics()),
  }
  const given = writeWith(signal)
  const write = { ...given, resource: { ...given.resource, release } }
  const versioned = await new Versions(write, () => assert.fail()).in(write.resource)
  const reviewed = { attributes: write, resource: write.resource, versioned }
  try {
    await callWebhook(hook, reviewed, { isMutating, options })
  } catch (failure) {
    assert.ok(failure instanceof WebhookCallError, String(failure))
    return { failure, hook }
  }
  return assert.fail('it was allowed')
}

const failed = (cause: Error): WebhookError => new WebhookError(cause.message, { cause })

test('failurePolicy decides whether a failed call rejects the request', async () => {
  const error = failed(new Error('connection refused'))
  assert.equal((await refusal(error, 'Fail'))?.code, 500)
  assert.equal(await refusal(error, 'Ignore'), undefined)
})

const unreachable = async (): Promise<string> => {
  throw failed(new Error('connection refused'))
}

test('since 1.34, a failed call without an HTTP status counts as 503', async () => {
  for (const [release, code] of [
    [33, 400],
    [34, 503],
  ] as const) {
    const { failure } = await failureAfter(unreachable, 'Fail', { release })
    assert.equal(failure.code, code)
  }
})

test('if a limit of this server ends a call, the request is rejected, whatever the failurePolicy', async () => {
  for (const policy of ['Fail', 'Ignore']) {
    const busy = await refusal(failed(new BusyError()), policy)
    assert.deepEqual([busy?.code, busy?.details], [429, { retryAfterSeconds: 1 }])
    assert.equal((await refusal(failed(new TooLargeError('all')), policy))?.code, 429)
    assert.equal((await refusal(failed(new TooLargeError('answer')), policy))?.code, 500)
  }
})

test('if the request ends before the call, the client gets a 504, whatever the failurePolicy', async () => {
  const ended = AbortSignal.abort()
  assert.equal(await refusal(failed(new Error('reset')), 'Ignore'), undefined)
  for (const policy of ['Fail', 'Ignore']) {
    assert.equal((await refusal(failed(new Error('aborted')), policy, ended))?.code, 504)
  }
})

test('a webhook that is removed during a call leaves no metrics behind', async () => {
  const metrics = new Metrics()
  const counts = new WebhookMetrics(metrics)
  const noParts = { getService: () => undefined, received: new ReceivedAnswers() }
  const rules = [
    { apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*'], scope: '*' },
  ]
  const webhook = {
    name: 'h',
    failurePolicy: 'Ignore',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    rules,
  }
  const registry = new Registry(
    builtInResources({ isServed: () => true, gates: { release: 33, isOn: () => true } }),
  )
  const list = new WebhookList(registry, noParts, (name) => counts.forget(name, 'validating'))
  list.set('c', { webhooks: [webhook] })
  const write = writeWith(new AbortController().signal)
  const [found] = list.candidates(write)
  assert.ok(found)
  const post = async (): Promise<string> => {
    list.set('c', undefined)
    throw failed(new Error('reset'))
  }
  const hook: AdmissionWebhook = { ...found.entry.hook, client: () => ({ post }) }
  const options = {
    newId: () => 'id',
    clock: { monotonicMs: () => 0 },
    convertYaml: () => assert.fail(),
    metrics: counts,
  }
  const versioned = await new Versions(write, () => assert.fail()).in(write.resource)
  const reviewed = { attributes: write, resource: write.resource, versioned }
  await assert.rejects(
    callWebhook(hook, reviewed, { isMutating: false, options }),
    WebhookCallError,
  )
  assert.doesNotMatch(metrics.print(), /name="h"/)
})

test('a patch with too many values rejects the request, whatever the failurePolicy', async () => {
  const patch = `[{"op":"add","path":"/metadata/finalizers","value":[${Array(200_000).fill('""').join()}]}]`
  const response = {
    uid: 'id',
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(patch).toString('base64'),
  }
  const review = JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response,
  })
  for (const policy of ['Fail', 'Ignore']) {
    const error = await refusalAfter(async () => review, policy, { isMutating: true })
    assert.equal(error?.code, 500)
    assert.match(error.message, /the patch has too many values/)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anObject, attributes, MemoryObjects } from '../../../test/support/harness/admission.ts'
import { ApiError, unclassified } from '../../api/errors.ts'
import { runMaybeAsync } from '../../lib/concurrency/maybe-promise.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { WebhookError } from '../../net/outbound/call.ts'
import { BusyError } from '../../net/outbound/call-limit.ts'
import { TooLargeError } from '../../net/outbound/send.ts'
import { ConditionMetrics } from '../match/condition-metrics.ts'
import { ConfigurationFault } from './params.ts'
import { PolicyRequest } from './policy-request.ts'

/**
 * Evaluates a policy whose object has to be converted by a webhook. The webhook fails with `cause`.
 * Returns the resulting error.
 */
async function failureAfter(cause: Error): Promise<unknown> {
  const write = attributes({ plural: 'configmaps', object: anObject('ConfigMap', 'c') })
  const resource = { ...write.resource, versions: { conversionWebhook: {} } }
  const request = new PolicyRequest(
    { ...write, resource },
    {
      objects: new MemoryObjects(),
      registry: { inGroup: () => [] },
      resourcesOf: () => [],
      convertByWebhook: () =>
        Promise.reject(
          unclassified('conversion webhook failed', new WebhookError(cause.message, { cause })),
        ),
      authorizerOf: () => assert.fail(),
      answerPattern: () => assert.fail(),
      clock: { monotonicMs: () => 0 },
      conditionMetrics: new ConditionMetrics(new Metrics()),
    },
  )
  try {
    await runMaybeAsync(request.objectsIn({ ...resource, version: 'v2' }))
  } catch (error) {
    return error
  }
  return assert.fail('it was converted')
}

test('failurePolicy applies if the conversion of an object fails', async () => {
  assert.ok((await failureAfter(new Error('connection refused'))) instanceof ConfigurationFault)
})

test('failurePolicy does not apply if the conversion of an object ended because of a limit of this server', async () => {
  const codes = []
  for (const limit of [new BusyError(), new TooLargeError('all'), new TooLargeError('answer')]) {
    const error = await failureAfter(limit)
    codes.push(error instanceof ApiError ? [error.code, error.details?.retryAfterSeconds] : error)
  }
  assert.deepEqual(codes, [
    [429, 1],
    [429, 1],
    [500, undefined],
  ])
})

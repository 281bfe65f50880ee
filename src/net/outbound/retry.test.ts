import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallError } from './call-error.ts'
import { isTransient, retry, webhookBackoff } from './retry.ts'

const answered = (status: number, retryAfterSec = 0): CallError =>
  new CallError('', 'answered', { answer: { status, retryAfterSec } })
const internal = answered(500)

function runs(failures: number, error: unknown = internal) {
  const delays: number[] = []
  let calls = 0
  const after = (ms: number, run: () => void) => {
    delays.push(ms)
    return setTimeout(run, 0)
  }
  const call = (): Promise<string> =>
    ++calls <= failures ? Promise.reject(error) : Promise.resolve('done')
  const options = { backoff: webhookBackoff(500), timers: { after }, random: () => 0.5 }
  return { result: retry(call, options), delays, calls: () => calls }
}

test('a failed call is repeated with increasing delays, and fails after five attempts', async () => {
  const { result, delays, calls } = runs(4)
  assert.equal(await result, 'done')
  assert.deepEqual(delays.map(Math.round), [550, 825, 1238, 1856])
  assert.equal(calls(), 5)
  const failing = runs(5)
  await assert.rejects(failing.result, internal)
  assert.equal(failing.calls(), 5)
})

test('an error that is not transient is not retried', async () => {
  const refused = new CallError('refused', 'refused')
  const { result, calls } = runs(1, refused)
  await assert.rejects(result, refused)
  assert.equal(calls(), 1)
})

test('a call is not retried after its signal is aborted', async () => {
  const controller = new AbortController()
  let calls = 0
  const call = (): Promise<never> => {
    calls++
    controller.abort()
    return Promise.reject(internal)
  }
  const options = {
    backoff: webhookBackoff(500),
    timers: { after: (ms: number, run: () => void) => setTimeout(run, ms) },
  }
  await assert.rejects(
    retry(call, { ...options, random: () => 0, signal: controller.signal }),
    internal,
  )
  assert.equal(calls, 1)
})

test('isTransient accepts certain status codes, Retry-After and connection resets', () => {
  for (const status of [429, 500, 501, 502, 504, 599])
    assert.ok(isTransient(answered(status)), String(status))
  for (const status of [400, 401, 403, 404, 503])
    assert.ok(!isTransient(answered(status)), String(status))
  assert.ok(isTransient(answered(503, 1)))
  assert.ok(isTransient(new CallError('', 'reset')))
  for (const failure of ['timeout', 'canceled', 'refused', 'other'] as const) {
    assert.ok(!isTransient(new CallError('', failure)), failure)
  }
  assert.ok(!isTransient(new Error('any')))
})

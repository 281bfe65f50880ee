import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest, ApiResponse } from '../api/request.ts'
import { createTrackingCheck } from './legacy-token-tracking.ts'

const start = Date.UTC(2026, 0, 31, 12)
const HALF_HOUR_MS = 30 * 60_000

const answer = (status: number, body: object = {}): ApiResponse => ({
  status,
  headers: {},
  body: Buffer.from(JSON.stringify(body)),
})

/**
 * Runs a check after a delay, and returns its writes. `found` is the response to the GET of the
 * check.
 */
async function written(found: ApiResponse, laterMs: number, status = 200): Promise<string[]> {
  const bodies: string[] = []
  let nowMs = start
  const handle = async (request: ApiRequest): Promise<ApiResponse> => {
    if (request.method === 'GET') return found
    bodies.push(`${request.method} ${(await request.body()).toString()}`)
    return answer(request.method === 'POST' ? 201 : status)
  }
  const check = createTrackingCheck(handle, () => nowMs)
  nowMs += laterMs
  await check(new AbortController().signal)
  return bodies
}

const map = (since?: string): ApiResponse =>
  answer(200, {
    metadata: { resourceVersion: '7' },
    ...(since === undefined ? {} : { data: { since } }),
  })

test('a valid start date for the tracking of legacy tokens is not changed', async () => {
  assert.deepEqual(await written(map('2020-02-29'), HALF_HOUR_MS), [])
})

test('an invalid start date for the tracking of legacy tokens is replaced by the current date', async () => {
  for (const since of ['2021-02-29', '2021-2-1', 'x', '2021-02-01T00:00:00Z', undefined]) {
    const patch = 'PATCH {"metadata":{"resourceVersion":"7"},"data":{"since":"2026-01-31"}}'
    assert.deepEqual(await written(map(since), 0), [patch])
  }
  assert.equal((await written(map(''), 0, 409)).length, 1, 'a conflict is not an error')
  await assert.rejects(written(map(''), 0, 500))
})

test('a deleted ConfigMap with the start date for the tracking of legacy tokens is recreated after half an hour', async () => {
  assert.deepEqual(await written(answer(404), HALF_HOUR_MS - 1), [])
  const [created = ''] = await written(answer(404), HALF_HOUR_MS)
  assert.match(created, /^POST .*"data":\{"since":"2026-01-31"\}/)
})

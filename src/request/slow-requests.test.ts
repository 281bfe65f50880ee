import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest } from '../api/request.ts'
import { SlowRequests } from './slow-requests.ts'

const request: ApiRequest = {
  method: 'GET',
  path: '/api/v1/pods',
  query: new URLSearchParams('token=x'),
  headers: {},
  body: () => assert.fail(),
  hasBody: false,
  pipeBody: () => assert.fail(),
  signal: new AbortController().signal,
  remoteAddress: '',
  peerCertificate: () => undefined,
}

test('requests that take half a second or more are logged, at most ten per second, with the number of omitted requests', () => {
  const lines: Record<string, unknown>[] = []
  const slow = new SlowRequests((_level, _message, fields = {}) => lines.push(fields))
  slow.record({ request, context: undefined, status: 200, ms: 499 }, 100)
  assert.equal(lines.length, 0)
  for (let at = 0; at < 25; at++)
    slow.record({ request, context: undefined, status: 200, ms: 501.4 }, 200)
  assert.equal(lines.length, 10)
  slow.record({ request, context: undefined, status: 504, ms: 900 }, 1500)
  assert.deepEqual(
    [lines[0]?.['ms'], lines.at(-1)?.['status'], lines.at(-1)?.['unreported']],
    [501, 504, 15],
  )
})

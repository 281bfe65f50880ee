import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Verbosity } from '../../lib/telemetry/verbosity.ts'
import { describeRequest, observeRequests } from './request-lines.ts'

const info = { kind: 'path', verb: 'get', path: '/' } as const
const userOf = (name: string) => ({ name, uid: '', groups: [], extra: {} })

test('the log lines of requests are aligned', () => {
  const context = { info, knownUser: userOf('admin') }
  const lines = [
    { method: 'GET', path: '/api/v1/namespaces', status: 200, ms: 2.4, context },
    { method: 'DELETE', path: '/api/v1/namespaces/shop', status: 404, ms: 1234.5, context },
  ].map(describeRequest)
  assert.deepEqual(lines, [
    'GET    200     2 ms  /api/v1/namespaces                  admin',
    'DELETE 404  1235 ms  /api/v1/namespaces/shop             admin',
  ])
})

test('the log line of a watch is marked, because its path is the same as that of a list', () => {
  const context = { info: { ...info, verb: 'watch' }, knownUser: userOf('admin') }
  const line = describeRequest({ method: 'GET', path: '/api/v1/pods', status: 200, ms: 1, context })
  assert.match(line, / \/api\/v1\/pods \(watch\) +admin$/)
})

test('the log line of a request contains no control characters, and has a dash if the user is unknown', () => {
  const line = describeRequest({
    method: 'GET',
    path: '/\u001b[2J',
    status: 401,
    ms: 1,
    context: undefined,
  })
  assert.match(line, /^GET {4}401 {5}1 ms {2}"\/\\u001b\[2J" +-$/)
})

test('keelson dev logs one line per request only at verbosity 1', () => {
  for (const level of [0, 2, 6])
    assert.deepEqual(
      observeRequests(() => undefined, new Verbosity(level)),
      {},
    )
})

import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { GrpcCode } from '../../net/grpc/errors.ts'
import { etcdStatusError } from './status-error.ts'

const cases: readonly (readonly [GrpcCode, string, boolean])[] = [
  ['Unavailable', 'etcdserver: leader changed', true],
  ['Unavailable', 'etcdserver: request timed out', true],
  ['Unavailable', 'etcdserver: request timed out, possibly due to connection lost', true],
  ['Unavailable', 'etcdserver: server stopped', true],
  ['Unavailable', 'etcdserver: no leader', false],
  ['FailedPrecondition', 'etcdserver: rpc not supported for learner', false],
  ['ResourceExhausted', 'etcdserver: mvcc: database space exceeded', true],
  ['ResourceExhausted', 'etcdserver: too many requests', false],
  ['OutOfRange', 'etcdserver: mvcc: required revision has been compacted', false],
  ['InvalidArgument', 'etcdserver: request is too large', false],
  ['PermissionDenied', 'etcdserver: permission denied', false],
  ['Unauthenticated', 'etcdserver: invalid auth token', false],
  ['DeadlineExceeded', 'context deadline exceeded', true],
  ['Cancelled', 'context canceled', true],
  ['Unknown', 'raft proposal dropped', true],
  ['Internal', 'whatever', true],
]

for (const [code, message, ambiguous] of cases) {
  test(`after ${code} "${message}", the outcome of a write is ${ambiguous ? 'unknown' : 'known'}`, () => {
    const error = etcdStatusError(code, message, 'http://a')
    equal(error.code, code)
    equal(error.ambiguous, ambiguous)
  })
}

test('a call that a learner rejects can be retried on another member', () => {
  const refusal = 'etcdserver: rpc not supported for learner'
  equal(etcdStatusError('FailedPrecondition', refusal, 'http://a').isUnavailable, true)
  equal(etcdStatusError('FailedPrecondition', 'other', 'http://a').isUnavailable, false)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GrpcError } from '../net/grpc/errors.ts'
import { StorageError } from './errors.ts'
import { toStorageError } from './etcd-errors.ts'

test('each etcd error is mapped to a storage error code and keeps its message', () => {
  const cases: [GrpcError['code'], message: string, expected: string][] = [
    ['OutOfRange', 'etcdserver: mvcc: required revision has been compacted', 'compacted'],
    ['OutOfRange', 'etcdserver: mvcc: required revision is a future revision', 'too-new'],
    ['ResourceExhausted', 'etcdserver: mvcc: database space exceeded', 'no-space'],
    ['ResourceExhausted', 'etcdserver: too many requests', 'unavailable'],
    ['ResourceExhausted', 'grpc: received message larger than max (3 vs. 2)', 'too-large'],
    ['InvalidArgument', 'etcdserver: request is too large', 'too-large'],
    ['NotFound', 'etcdserver: requested lease not found', 'missing'],
    ['Unavailable', 'etcdserver: leader changed', 'unavailable'],
    ['DeadlineExceeded', 'no answer within 5 ms', 'unavailable'],
    ['Cancelled', 'context canceled', 'unavailable'],
    ['PermissionDenied', 'etcdserver: permission denied', 'unavailable'],
  ]
  for (const [code, message, expected] of cases) {
    const error = toStorageError(new GrpcError(code, message), { isWrite: false })
    assert.ok(error instanceof StorageError)
    assert.deepEqual([error.code, error.message], [expected, message])
  }
})

test('the error for a message above the size limit of this etcd client is mapped to the code `too-large`', () => {
  const error = new GrpcError('ResourceExhausted', 'any text', { isTooLarge: true })
  const mapped = toStorageError(error, { isWrite: false })
  assert.ok(mapped instanceof StorageError)
  assert.equal(mapped.code, 'too-large')
})

test('an error has an unknown outcome only if it is the error of a write', () => {
  const lost = new GrpcError('Unavailable', 'connection closed', { ambiguous: true })
  const ambiguous = (isWrite: boolean) => {
    const error = toStorageError(lost, { isWrite })
    return error instanceof StorageError && error.ambiguous
  }
  assert.deepEqual([ambiguous(true), ambiguous(false)], [true, false])
})

test('if the caller aborted the call, the error is mapped to the code `cancelled`, whatever the error was', () => {
  const error = toStorageError(new GrpcError('Unavailable', 'x', { ambiguous: true }), {
    isWrite: true,
    signal: AbortSignal.abort(),
  })
  assert.ok(error instanceof StorageError)
  assert.deepEqual([error.code, error.ambiguous], ['cancelled', true])
})

test('an error that does not come from etcd is returned unchanged', () => {
  const error = new TypeError('ours')
  assert.equal(toStorageError(error, { isWrite: true }), error)
})

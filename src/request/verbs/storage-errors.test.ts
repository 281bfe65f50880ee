import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toStatus } from '../../api/errors.ts'
import { StorageError } from '../../storage/errors.ts'
import { fromStorage, type StorageOperation, UNREAD_MAX } from './storage-errors.ts'

const resource = { group: 'apps', plural: 'deployments' }
const sealed = new StorageError('corrupt', 'no such key')
const garbled = new StorageError('corrupt', 'unexpected EOF', { undecodableAt: 7 })
const shown = (error: StorageError, operation: Partial<StorageOperation>): unknown[] => {
  const { message, reason } = toStatus(
    fromStorage(error, { resource, name: 'a', verb: 'get', ...operation }),
  )
  return [message, reason]
}

test('decryption failures are internal errors, and decoding failures have the message of the decoder', () => {
  assert.deepEqual(shown(sealed, {}), ['Internal error occurred: no such key', 'InternalError'])
  assert.deepEqual(shown(garbled, {}), ['unexpected EOF', undefined])
})

test('the error for unreadable objects contains their keys if such objects can be deleted', () => {
  const corrupt =
    'StorageError: corrupt object, Code: 7, Key: /a/b, ResourceVersion: 0, AdditionalErrorMsg: '
  const lost = 'data from the storage is not transformable revision=0: no such key'
  for (const verb of ['get', 'delete']) {
    const operation = { verb, corruptKey: '/a/b' }
    assert.deepEqual(shown(sealed, operation), [
      `Internal error occurred: ${corrupt}${lost}`,
      'InternalError',
    ])
    const expected = `Internal error occurred: ${corrupt}object not decodable revision=7: unexpected EOF`
    assert.deepEqual(shown(garbled, operation), [expected, 'InternalError'])
  }
  const operation = { verb: 'update', corruptKey: '/a/b' }
  assert.deepEqual(shown(sealed, operation), [`Internal error occurred: ${lost}`, 'InternalError'])
  assert.deepEqual(shown(garbled, operation), [
    'object not decodable revision=7: unexpected EOF',
    undefined,
  ])
})

const retryAfter = (verb: string, ambiguous: boolean): number | undefined => {
  const error = new StorageError('unavailable', 'the connection was lost', { ambiguous })
  return toStatus(fromStorage(error, { resource, name: 'a', verb })).details?.retryAfterSeconds
}

test('storage errors ask clients to retry, except for writes that might have succeeded', () => {
  assert.deepEqual(
    [retryAfter('delete', false), retryAfter('get', true), retryAfter('list', true)],
    [2, 2, 2],
  )
  for (const verb of ['create', 'update', 'patch', 'delete'])
    assert.equal(retryAfter(verb, true), undefined, verb)
})

test('the error of a list contains the keys of its unreadable objects, up to a limit', () => {
  const { code, reason, message, details } = listStatus(2)
  assert.deepEqual(
    [code, reason, message],
    [500, 'StorageReadError', 'failed to read one or more deployments.apps from the storage'],
  )
  assert.deepEqual([details?.name, details?.group, details?.kind], ['list', 'apps', 'deployments'])
  assert.deepEqual(
    details?.causes?.map(({ reason: why, field }) => [why, field]),
    [
      ['UnexpectedServerResponse', '/registry/a/0'],
      ['UnexpectedServerResponse', '/registry/a/1'],
    ],
  )
  const many = listStatus(UNREAD_MAX + 5).details?.causes ?? []
  assert.equal(many.length, UNREAD_MAX + 1)
  assert.deepEqual(many.at(-1), {
    reason: 'TooMany',
    message: 'too many errors, the list is truncated',
  })
})

function listStatus(count: number) {
  const unread = () =>
    Array.from({ length: count }, (_, at) => ({ key: `/registry/a/${at}`, error: sealed }))
  const error = new StorageError('corrupt', 'some', { unread })
  return toStatus(fromStorage(error, { resource, name: '', verb: 'list', corruptKey: '' }))
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StorageError } from './errors.ts'
import { identity } from './transform.ts'

test('the identity transformer returns its input and rejects encrypted values', () => {
  for (const text of ['', 'k', 'k8s\0x', 'k8s:enc', '{}', ' k8s:enc:']) {
    const value = Buffer.from(text)
    assert.equal(identity.toStorage('key', value), value)
    assert.deepEqual(identity.fromStorage('key', value), { value, stale: false })
  }
  assert.throws(
    () => identity.fromStorage('key', Buffer.from('k8s:enc:aescbc:v1:key1:...')),
    (error) =>
      error instanceof StorageError &&
      error.code === 'corrupt' &&
      error.message === 'identity transformer tried to read encrypted data',
  )
})

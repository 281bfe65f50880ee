import assert from 'node:assert/strict'
import { test } from 'node:test'
import { envelopeOf } from './envelope.ts'
import { StorageError } from './errors.ts'
import { identity } from './transform.ts'

test('identity gives back what it got and refuses encrypted values', () => {
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

test('encodings of stored values', () => {
  const cases: [Buffer, string][] = [
    [Buffer.from('k8s\0...'), 'protobuf'],
    [Buffer.from('d9d9f7a0', 'hex'), 'cbor'],
    [Buffer.from('{"a":1}'), 'json'],
    [Buffer.from(' \n\t\r{'), 'json'],
    [Buffer.from(''), 'unknown'],
    [Buffer.from('kind: Pod'), 'unknown'],
    [Buffer.from('k8s:enc:x'), 'unknown'],
  ]
  for (const [value, envelope] of cases) assert.equal(envelopeOf(value), envelope, value.toString('latin1'))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAbacPolicy } from './abac.ts'

const version = 'abac.authorization.kubernetes.io/v1beta1'

test('in the current version of ABAC policies, a line without a kind is refused', () => {
  const line = JSON.stringify({
    apiVersion: version,
    spec: { user: 'a', resource: '*', namespace: '*' },
  })
  assert.deepEqual(readAbacPolicy(`${line}\n`, '/p'), {
    fault: `error reading policy file /p, line 1: ${line}: converting (v1beta1.Policy) to (v0.Policy): unknown conversion`,
  })
})

test('absent fields of ABAC policies stay empty in the current version, and match everything in the unversioned format', () => {
  const rule = {
    user: 'a',
    group: '',
    isReadOnly: false,
    apiGroup: '',
    resource: 'pods',
    namespace: '',
  }
  const current = JSON.stringify({
    apiVersion: version,
    kind: 'Policy',
    spec: { user: 'a', resource: 'pods' },
  })
  const old = JSON.stringify({ user: 'a', resource: 'pods' })
  const read = readAbacPolicy(`${current}\n${old}\n`, '/p')
  assert.ok('rules' in read)
  assert.deepEqual(read.rules, [
    { ...rule, nonResourcePath: '' },
    { ...rule, apiGroup: '*', namespace: '*', nonResourcePath: '' },
  ])
})

test('a byte order mark before a comment in an ABAC policy file is skipped', () => {
  assert.deepEqual(readAbacPolicy('\ufeff# policies\r\n\r\n', '/p'), { rules: [], warnings: [] })
})

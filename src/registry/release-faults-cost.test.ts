import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMsOf } from '../../test/support/harness/turns.ts'
import { faultsOfRelease } from './release-faults.ts'

test('since 1.34, a long value that many errors share is printed once', () => {
  const json = Array.from({ length: 5_000 }, (_, at) => ({ name: `${at}`, controller: true }))
  const faults = json.map(() => ({
    reason: 'FieldValueInvalid' as const,
    path: 'metadata.ownerReferences',
    message: 'Invalid value: []v1.OwnerReference{...}: only one controller',
    shown: '[]v1.OwnerReference{...}',
    value: { json },
  }))
  const ms = cpuMsOf(() => void faultsOfRelease(faults, 34))
  assert.ok(ms < 500, `${ms} ms`)
})

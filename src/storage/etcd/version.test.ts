import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isProgressReliable } from './version.ts'

const reliable = ['3.4.31', '3.4.40', '3.5.13', '3.5.21', '3.6.0', '3.6.0-rc.1', '3.10.0', '4.0.0']
const unreliable = [
  '',
  'main',
  '2.3.8',
  '3.3.27',
  '3.4.0',
  '3.4.30',
  '3.5.0',
  '3.5.7',
  '3.5.12',
  '3.5',
]

test('progress notifications count as reliable only in etcd versions in which two known bugs of these notifications are fixed', () => {
  for (const version of reliable) assert.equal(isProgressReliable(version), true, version)
  for (const version of unreliable) assert.equal(isProgressReliable(version), false, version)
})

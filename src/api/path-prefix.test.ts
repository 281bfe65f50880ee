import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMsOf } from '../../test/support/harness/turns.ts'
import { pathPrefix } from './path-prefix.ts'

test('stars at the end are not part of the prefix, and others are', () => {
  const patterns = ['/logs/*', '/logs/***', '/a*b', '*', '', '/a*/*']
  assert.deepEqual(patterns.map(pathPrefix), ['/logs/', '/logs/', '/a*b', '', '', '/a*/'])
})

test('a long run of stars inside the pattern is handled in linear time', () => {
  const pattern = `/${'*'.repeat(1_000_000)}x`
  assert.ok(cpuMsOf(() => assert.equal(pathPrefix(pattern), pattern)) < 1_000)
})

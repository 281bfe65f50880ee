import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMsOf } from '../../test/support/harness/turns.ts'
import { pathPrefix } from './path-prefix.ts'

test('the prefix of a path pattern contains the asterisks inside the pattern, but not those at its end', () => {
  const patterns = ['/logs/*', '/logs/***', '/a*b', '*', '', '/a*/*']
  assert.deepEqual(patterns.map(pathPrefix), ['/logs/', '/logs/', '/a*b', '', '', '/a*/'])
})

test('a long run of asterisks inside a path pattern is processed in linear time', () => {
  const pattern = `/${'*'.repeat(1_000_000)}x`
  assert.ok(cpuMsOf(() => assert.equal(pathPrefix(pattern), pattern)) < 1_000)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { warningHeaders } from './warnings.ts'

test('warnings are quoted; what could end the header is not sent', () => {
  const headers = warningHeaders(['plain', 'say "x" \\', 'two\nlines', 'é'])
  assert.deepEqual(headers, ['299 - "plain"', '299 - "say \\"x\\" \\\\"', '299 - "Ã©"'])
})

test('too many are cut, each, and then end', () => {
  const headers = warningHeaders(Array.from({ length: 20 }, (_, at) => `${at} `.padEnd(1000, 'x')))
  assert.equal(headers.length, 16)
  assert.ok(headers.every((header) => header.length === 256 + '299 - ""'.length))
})

test('who warns stands before the text', () => {
  assert.deepEqual(warningHeaders(['a'], 'keelson'), ['299 keelson "a"'])
})

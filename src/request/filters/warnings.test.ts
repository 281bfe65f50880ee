import assert from 'node:assert/strict'
import { test } from 'node:test'
import { warningHeaders } from './warnings.ts'

test('the text of a warning header is quoted, and a warning with a line break is not sent', () => {
  const headers = warningHeaders(['plain', 'say "x" \\', 'two\nlines', 'é'])
  assert.deepEqual(headers, ['299 - "plain"', '299 - "say \\"x\\" \\\\"', '299 - "Ã©"'])
})

test('if the warnings together are too long, each warning is truncated, and warnings beyond the limit are dropped', () => {
  const headers = warningHeaders(Array.from({ length: 20 }, (_, at) => `${at} `.padEnd(1000, 'x')))
  assert.equal(headers.length, 16)
  assert.ok(headers.every((header) => header.length === 256 + '299 - ""'.length))
})

test('the last of the truncated warnings can exceed the limit for the total length of warnings', () => {
  const headers = warningHeaders(Array.from({ length: 60 }, (_, at) => `${at} `.padEnd(100, 'x')))
  assert.equal(headers.length, 41)
})

test('all warnings before the one that exceeds the limit for the total length are sent', () => {
  const short = Array.from({ length: 400 }, (_, at) => `${at}`.padStart(10, '0'))
  assert.equal(warningHeaders([...short, 'x'.repeat(5000), 'y']).length, 401)
  assert.equal(warningHeaders([...short, ...short.slice(0, 9), 'x'.repeat(5000), 'y']).length, 410)
})

test('the length limit of warnings counts code points, and warnings with control characters beyond ASCII are not sent', () => {
  assert.equal(warningHeaders(['\u{1f600}'.repeat(4096)])[0]?.length, 4 * 4096 + '299 - ""'.length)
  assert.deepEqual(warningHeaders(['a\u0085', 'b']), ['299 - "b"'])
})

test('the warn-agent precedes the text in a warning header', () => {
  assert.deepEqual(warningHeaders(['a'], 'keelson'), ['299 keelson "a"'])
})

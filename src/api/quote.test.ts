import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QUOTED_CHARACTERS_MAX } from '../lib/text/cut-text.ts'
import { quote, quoteWhole } from './quote.ts'

const cases: readonly [string, string][] = [
  ['', '""'],
  ['plain text', '"plain text"'],
  ['a "b" \\c', '"a \\"b\\" \\\\c"'],
  ['\n\t\r\u0007\v', '"\\n\\t\\r\\a\\v"'],
  ['\u0000\u007f', '"\\x00\\x7f"'],
  ['é日\u{1f600}', '"é日\u{1f600}"'],
  ['é"日\\', '"é\\"日\\\\"'],
  ['\u00a0\u200b\u2028', '"\\u00a0\\u200b\\u2028"'],
]
for (const [text, quoted] of cases) {
  test(`${JSON.stringify(text)} is quoted as in Go`, () => assert.equal(quote(text), quoted))
}

test('quote truncates a long string, unless its caller requests the whole string', () => {
  const text = '"'.repeat(QUOTED_CHARACTERS_MAX + 2)
  const longest = '\\"'.repeat(QUOTED_CHARACTERS_MAX)
  assert.equal(quote(text), `"${longest}"... (2 more characters)`)
  assert.equal(quoteWhole(text), `"${longest}\\"\\""`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { JsonScanner, JsonSyntaxError } from './json-scanner.ts'

function faultOf(text: string): string | undefined {
  const scanner = new JsonScanner(text)
  try {
    scanner.peekType()
    scanner.skipValue()
    scanner.end()
    return undefined
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message
    throw error
  }
}

const faults: readonly (readonly [string, string])[] = [
  ['', 'unexpected end of JSON input'],
  ['{"a":', 'unexpected end of JSON input'],
  ['"a', 'unexpected end of JSON input'],
  ['x', "invalid character 'x' looking for beginning of value"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b"}', "invalid character '\"' after object key:value pair"],
  ['[1 2]', "invalid character '2' after array element"],
  ['{} {}', "invalid character '{' after top-level value"],
  ['nope', "invalid character 'o' in literal null (expecting 'u')"],
  ['"\n"', "invalid character '\\n' in string literal"],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
  ['-', 'unexpected end of JSON input'],
  ['-x', "invalid character 'x' in numeric literal"],
  ['01', "invalid character '1' after top-level value"],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['1ex', "invalid character 'x' in exponent of numeric literal"],
  ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
  ['['.repeat(20_000), "invalid character '[' exceeded max depth"],
]
test('syntax errors have the same messages as in Go', () => {
  for (const [text, fault] of faults)
    assert.equal(faultOf(text), fault, JSON.stringify(text.slice(0, 20)))
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    // JSON.parse fails if the input is not JSON.
    return false
  }
}

test('the scanner accepts exactly what JSON.parse accepts', () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"',
    '\\',
    '1',
    '-',
    '.5',
    'e',
    'true',
    'nul',
    ' ',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.array(piece).map((pieces) => pieces.join('')),
      ),
      (text) => {
        assert.equal(faultOf(text) === undefined, isJson(text), text)
      },
    ),
    { numRuns: 1000 },
  )
})

test('a string is read correctly a second time, after the position of the scanner was set back', () => {
  const scanner = new JsonScanner('["a\\"b","plain"]')
  scanner.peekType()
  scanner.skipValue()
  scanner.at = 0
  scanner.beginArray()
  assert.equal(scanner.readString(), 'a"b')
  scanner.nextInArray()
  assert.equal(scanner.readString(), 'plain')
})

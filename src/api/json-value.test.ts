import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { allSteps, cpuMsOf } from '../../test/support/harness/turns.ts'
import { JsonScanner, JsonSyntaxError } from './json-scanner.ts'
import { hasEscapedKey, parseInSteps, parseJson, parseText, readAny } from './json-value.ts'

const read = (text: string): unknown => parseJson(Buffer.from(text))

test('a key with an escape is read correctly, whichever document was read before', () => {
  for (const [escaped, key] of [
    ['\\n', '\n'],
    ['\\u003e', '>'],
    ['\\"', '"'],
    ['\\\\', '\\'],
    ['\\nab', '\nab'],
  ]) {
    read('{"only":1,"\\\\":1}')
    read('{"other":1,"\\\\na":1}')
    for (const before of ['only', 'other']) {
      assert.deepEqual(read(`{"${before}":1,"${escaped}":{"${escaped}":[1234567890123456789]}}`), {
        [before]: 1,
        [key ?? '']: { [key ?? '']: [1234567890123456789n] },
      })
    }
  }
})

const isEscaped = (text: string): boolean => JSON.stringify(text).includes('\\')

test('property: hasEscapedKey finds exactly the documents that have a key with an escape', () => {
  const key = fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom('\\', '"', '\n', 'a\\"', '": '))
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      key,
      fc.integer(),
      fc.array(tie('value')),
      fc.dictionary(key, tie('value')),
    ),
  })).value
  const hasSuch = (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value).some(
      ([name, below]) => (!Array.isArray(value) && isEscaped(name)) || hasSuch(below),
    )
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, ' ', '\n\t'), (value, space) => {
      assert.equal(hasEscapedKey(JSON.stringify(value, null, space)), hasSuch(value))
    }),
    { numRuns: 2000 },
  )
})

test('a long string of escapes is scanned only once', () => {
  for (const escape of ['\\"', '\\\\', '\\n']) {
    const text = `{"a":"${escape.repeat(500_000)}"}`
    const { user } = process.cpuUsage()
    assert.equal(hasEscapedKey(text), false)
    assert.ok(process.cpuUsage().user - user < 2_000_000, 'microseconds')
  }
})

test('trailing characters after the value are rejected, even if a key has an escape', () => {
  for (const text of ['{"a":1} x', String.raw`{"a\n":1} x`]) assert.throws(() => parseText(text))
})

test('a number that does not fit in 64 bits is rounded, and a very long number is parsed quickly', () => {
  const { user } = process.cpuUsage()
  assert.equal(parseText('9'.repeat(300)), Number('9'.repeat(300)))
  assert.equal(parseText('9007199254740993'), 9007199254740993n)
  parseText(`[${`${'9'.repeat(300)},`.repeat(5_000)}0]`)
  assert.ok(process.cpuUsage().user - user < 2_000_000, 'microseconds')
})

/** Reads a value. Returns the value and the unread rest of the input, or the error message. */
function readWith(text: string): readonly [unknown, string] | string {
  const scanner = new JsonScanner(text)
  try {
    return [readAny(scanner), text.slice(scanner.at)]
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message
    throw error
  }
}

test('property: a long list of scalars is read with the same result as a short list', () => {
  const item = fc.constantFrom(
    ...[
      '1',
      '-0',
      '1.50',
      '1e3',
      '1e999',
      '12345678901234567',
      '"a"',
      '"]"',
      '"["',
      '"{"',
      '"\\n"',
      '"é"',
      'null',
      'true',
    ],
    ...['[]', '[1]', '{}', '{"a":1}', ' 1 ', '', '01', '"', '\u0001', 'nul', '1]'],
  )
  fc.assert(
    fc.property(
      fc.array(item, { minLength: 1, maxLength: 3 }),
      fc.constantFrom('', ',"x":[1]}', ']', '"]'),
      (items, rest) => {
        const many = Array.from({ length: 8_999 }, () => '2')
        const short = readWith(`[${['2', ...items].join()}]${rest}`)
        const long = readWith(`[${[...many, '2', ...items].join()}]${rest}`)
        if (typeof short === 'string' || typeof long === 'string') return assert.equal(long, short)
        assert.deepEqual(long[0], [
          ...many.map(Number),
          ...(Array.isArray(short[0]) ? short[0] : []),
        ])
        assert.equal(long[1], short[1])
      },
    ),
    { numRuns: 500 },
  )
})

test('a parser of large numbers does not change digits in strings', () => {
  const digits = '1234567890123456789'
  assert.deepEqual(read(`{"a":"${digits}","b":1}`), { a: digits, b: 1 })
  assert.deepEqual(read(`{"a":"x\\"${digits}","b":${digits}}`), {
    a: `x"${digits}`,
    b: 1234567890123456789n,
  })
  assert.deepEqual(read(`[${digits}]`), [1234567890123456789n])
})

test('long runs of digits in a string do not slow down parsing', () => {
  const values = Array.from({ length: 100_000 }, (_, at) => `v${at}`)
  const json = Buffer.from(JSON.stringify(['1234567890123456789', ...values]))
  read('["1234567890123456789"]')
  const ms = Math.min(...[1, 2, 3].map(() => cpuMsOf(() => void parseJson(json))))
  assert.ok(ms < 50, `${ms} ms`)
})

test('property: parseInSteps reads the same value as readAny', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = Buffer.from(`${JSON.stringify(value)}\n`)
      assert.deepEqual(allSteps(parseInSteps(json)), readAny(new JsonScanner(json.toString())))
    }),
  )
  assert.deepEqual(allSteps(parseInSteps(Buffer.from('[1234567890123456789]'))), [
    1234567890123456789n,
  ])
  assert.deepEqual(allSteps(parseInSteps(Buffer.from('["\\ud800"]'))), ['\ufffd'])
  for (const text of ['', '[', '[1,]', '{"a":1', '{"a"}', '1 2', '['.repeat(2000)]) {
    assert.throws(() => allSteps(parseInSteps(Buffer.from(text))), JsonSyntaxError)
  }
})

test('a list of very deeply nested objects is read in steps without an error', () => {
  const text = `{"items":[${'{"a":'.repeat(1010)}1${'}'.repeat(1010)}]}`
  assert.equal(JSON.stringify(allSteps(parseInSteps(Buffer.from(text)))), text)
})

test('a list of a few long strings is read in many steps', () => {
  const steps = parseInSteps(
    Buffer.from(JSON.stringify(Array.from({ length: 16 }, () => 'x'.repeat(100_000)))),
  )
  let count = 0
  while (steps.next().done !== true) count++
  assert.ok(count >= 15, `${count} steps`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/errors.ts'
import {
  parseBoolean,
  parseInteger,
  parseListOptions,
  parseVersion,
  uintFault,
  validateListOptions,
} from './options.ts'
import { parseWriteOptions } from './write-options.ts'

const query = (text: string): URLSearchParams => new URLSearchParams(text)

/** Returns the error message, or `fine` if there is no error. */
function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof ApiError) return error.message
    throw error
  }
  return 'fine'
}

test('a boolean query parameter is true unless its value is 0 or false', () => {
  for (const text of ['', '1', 'true', 'yes', 'no', 'f'])
    assert.equal(parseBoolean(text), true, text)
  for (const text of ['0', 'false', 'False', 'FALSE', null])
    assert.equal(parseBoolean(text), false, String(text))
})

test('integers in the query are parsed as in Go', () => {
  assert.equal(parseInteger('+5'), 5)
  assert.equal(parseInteger('-5'), -5)
  assert.equal(parseInteger(null), undefined)
  for (const text of ['', ' 1', '1.5', '0x1', '1e3', 'x']) {
    assert.equal(
      refusal(() => parseInteger(text)),
      `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`,
    )
  }
  assert.match(
    refusal(() => parseInteger('9223372036854775808')),
    /value out of range/,
  )
})

test('a resourceVersion is an unsigned 64-bit integer', () => {
  assert.equal(parseVersion('007', 'get'), 7)
  assert.equal(uintFault('18446744073709551615'), undefined)
  assert.match(uintFault('18446744073709551616') ?? '', /out of range/)
  assert.match(uintFault('-1') ?? '', /invalid syntax/)
  assert.match(
    refusal(() => parseVersion('x', 'list')),
    /^invalid resource version: resourceVersion: Invalid value: "x"/,
  )
  assert.match(
    refusal(() => parseVersion('x', 'watch')),
    /^resourceVersion: Invalid value: "x"/,
  )
})

test('a negative limit means no limit, and if a query parameter is repeated, its first value is used', () => {
  assert.equal(parseListOptions(query('limit=-3')).limit, 0)
  assert.equal(parseListOptions(query('limit=3&limit=x')).limit, 3)
})

const combinations: readonly ['list' | 'watch', string, RegExp][] = [
  ['list', 'resourceVersionMatch=Exact', /is forbidden unless resourceVersion is provided$/],
  ['list', 'resourceVersion=5&resourceVersionMatch=Exact', /^fine$/],
  [
    'list',
    'resourceVersion=0&resourceVersionMatch=Exact',
    /"exact" is forbidden for resourceVersion "0"$/,
  ],
  [
    'list',
    'resourceVersion=5&resourceVersionMatch=x&continue=y',
    /\[.*when continue is provided, .*Unsupported value: "x"/,
  ],
  ['list', 'sendInitialEvents=false', /sendInitialEvents is forbidden for list$/],
  [
    'watch',
    'resourceVersionMatch=NotOlderThan',
    /is forbidden for watch unless sendInitialEvents is provided$/,
  ],
  [
    'watch',
    'sendInitialEvents=true',
    /\[.*requires setting resourceVersionMatch to NotOlderThan, .*feature gate/,
  ],
  ['watch', 'continue=x&limit=1', /^fine$/],
]
for (const [verb, text, wanted] of combinations) {
  test(`the options of a ${verb} with ${text} are validated`, () =>
    assert.match(
      refusal(() => validateListOptions(query(text), verb)),
      wanted,
    ))
}

test('if the gate WatchList is on, a watch can request initial events', () => {
  const text = query('sendInitialEvents=true&resourceVersionMatch=NotOlderThan')
  assert.equal(
    refusal(() => validateListOptions(text, 'watch', { allowsWatchList: true })),
    'fine',
  )
})

test('if the gate WatchList is on, a watch of existing objects cannot continue a list', () => {
  for (const [text, allowsWatchList, wanted] of [
    ['continue=x', true, 'resourceVersionMatch is forbidden when continue is provided'],
    ['continue=x&resourceVersion=0', true, 'is forbidden when continue is provided'],
    ['continue=x&resourceVersion=5', true, 'fine'],
    ['continue=x', false, 'fine'],
  ] as const) {
    const found = refusal(() => validateListOptions(query(text), 'watch', { allowsWatchList }))
    assert.ok(found.includes(wanted), `${text}: ${found}`)
  }
})

const parse = (text: string, release = 33) =>
  parseWriteOptions(query(text), 'CreateOptions', release)

test('since 1.34, the error of dryRun shows its values as JSON', () => {
  assert.throws(() => parse('dryRun=Some', 34), {
    message: /dryRun: Unsupported value: \["Some"\]: supported values: "All"/,
  })
})

test('write options are parsed, and all of their errors are reported together', () => {
  assert.deepEqual(parse(''), { isDryRun: false, fieldManager: '', fieldValidation: 'Warn' })
  assert.equal(parse('dryRun=All&dryRun=All').isDryRun, true)
  assert.equal(parse('fieldValidation=Strict&fieldValidation=Ignore').fieldValidation, 'Strict')
  assert.match(
    refusal(() => parse('dryRun')),
    /dryRun: Unsupported value: \[\]string\{""\}: supported values: "All"$/,
  )
  assert.match(
    refusal(() => parse('fieldValidation=strict')),
    /supported values: "", "Ignore", "Strict", "Warn"$/,
  )
  assert.match(
    refusal(() => parse('fieldManager=a%E2%80%8Bb')),
    /invalid character U\+200B \(at position 1\)$/,
  )
  const all = refusal(() => parse(`fieldManager=${'m'.repeat(129)}&dryRun=x&fieldValidation=y`))
  assert.match(all, /\[fieldManager: Too long.*, dryRun: .*, fieldValidation: /)
})

test('a resourceVersion with millions of digits is rejected as out of range without converting it', () => {
  const { user } = process.cpuUsage()
  for (const text of ['9'.repeat(3_000_000), '18446744073709551616', `1${'0'.repeat(20)}`])
    assert.match(uintFault(text) ?? '', /value out of range$/)
  for (const text of ['0', '18446744073709551615', `${'0'.repeat(1_000)}7`])
    assert.equal(uintFault(text), undefined)
  assert.ok(process.cpuUsage().user - user < 1_500_000, 'microseconds')
})

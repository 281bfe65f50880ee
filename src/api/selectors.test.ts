import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFieldSelector } from './field-selector.ts'
import { matchesLabels, parseLabelSelector } from './label-selector.ts'

const labels = { app: 'web', tier: '', size: '5', 'example.com/x': 'y' }
const selections: readonly [string, boolean][] = [
  ['', true],
  [' ', true],
  ['app', true],
  ['!app', false],
  ['none', false],
  ['!none', true],
  ['app=web', true],
  ['app == web , size=5', true],
  ['app=web,size=6', false],
  ['app!=web', false],
  ['none!=web', true],
  ['tier=', true],
  ['tier', true],
  ['app in (a,web)', true],
  ['app in (a, b)', false],
  ['app notin (a,b)', true],
  ['none notin (a)', true],
  ['none in (a)', false],
  ['tier in ()', true],
  ['tier in (,a)', true],
  ['size>4', true],
  ['size > 5', false],
  ['size<6', true],
  ['app>1', false],
  ['example.com/x=y', true],
  ['in in (a)', false],
]
for (const [selector, isSelected] of selections) {
  test(`the label selector ${JSON.stringify(selector)} ${isSelected ? 'selects' : 'does not select'} the object of this test`, () => {
    assert.equal(matchesLabels(parseLabelSelector(selector), labels), isSelected)
  })
}

test('a label selector does not mistake a property of Object.prototype for a label', () => {
  assert.equal(matchesLabels(parseLabelSelector('constructor'), labels), false)
})

const refusals: readonly [string, RegExp][] = [
  ['a,', /^found '', expected: identifier after ','$/],
  ['a b', /^unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt$/],
  ['a in b', /^unable to parse requirement: found 'b' expected: '\('$/],
  ['a in (b c)', /^unable to parse requirement: found 'c', expected: ',' or '\)'$/],
  ['a in (', /^unable to parse requirement: found '', expected: ',', '\)' or identifier$/],
  ['=a', /^found '=', expected: !, identifier, or 'end of string'$/],
  ['-a', /^unable to parse requirement: <nil>: Invalid value: "-a": name part must consist/],
  ['a>x', /for 'Gt', 'Lt' operators, the value must be an integer$/],
  ['a=b=c', /^found '=', expected: ',' or 'end of string'$/],
]
for (const [selector, message] of refusals) {
  test(`the label selector ${JSON.stringify(selector)} is rejected`, () => {
    assert.throws(() => parseLabelSelector(selector), { code: 400, message })
  })
}

const term = (field: string, isEqual: boolean, value: string) => ({ field, isEqual, value })

test('valid field selectors are parsed, and invalid ones are rejected', () => {
  assert.deepEqual(parseFieldSelector(''), [])
  assert.deepEqual(parseFieldSelector('metadata.name=a,,b!=c,d==e,='), [
    term('metadata.name', true, 'a'),
    term('b', false, 'c'),
    term('d', true, 'e'),
  ])
  assert.deepEqual(parseFieldSelector('a=b\\,c\\=d\\\\'), [term('a', true, 'b,c=d\\')])
  assert.deepEqual(parseFieldSelector('a!b=c,!=d,e\\,f='), [
    term('a!b', true, 'c'),
    term('', false, 'd'),
    term('e\\,f', true, ''),
  ])
  assert.throws(() => parseFieldSelector('a!=b\\'), {
    message: 'invalid field selector: invalid escape sequence: \\',
  })
  assert.throws(() => parseFieldSelector('a!==b'), { message: /unescaped character in value: 61$/ })
  assert.throws(() => parseFieldSelector('a'), {
    message: "invalid selector: 'a'; can't understand 'a'",
  })
  assert.throws(() => parseFieldSelector('a=b=c'), {
    message: 'invalid field selector: unescaped character in value: 61',
  })
  assert.throws(() => parseFieldSelector('a=\\x'), {
    message: 'invalid field selector: invalid escape sequence: \\x',
  })
})

const many = (count: number, text: string): string =>
  Array.from({ length: count }, () => text).join()
const tooMany: readonly [string, string, (text: string) => unknown, RegExp][] = [
  [
    many(1000, 'a=b'),
    many(1001, 'a=b'),
    parseLabelSelector,
    /^a label selector may have at most 1000 requirements$/,
  ],
  [
    `a in (${many(10_000, 'b')})`,
    `a in (${many(10_001, '')})`,
    parseLabelSelector,
    /at most 10000 values$/,
  ],
  [
    many(2, `a in (${many(5000, '')})`),
    many(2, `a in (${many(5001, 'b')})`),
    parseLabelSelector,
    /at most 10000 values$/,
  ],
  [
    many(1000, 'a=b'),
    many(1001, '='),
    parseFieldSelector,
    /^a field selector may have at most 1000 terms$/,
  ],
]
for (const [fine, refused, parse, message] of tooMany) {
  test(`a selector that begins with ${fine.slice(0, 12)} is rejected if it exceeds a limit: ${message.source}`, () => {
    assert.ok(parse(fine))
    assert.throws(() => parse(refused), { code: 400, message })
  })
}

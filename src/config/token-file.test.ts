import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCsv } from './csv.ts'
import { parseTokenFile } from './token-file.ts'

test('the fields of a token file are read literally, and quotes can enclose only whole fields', () => {
  const table: [string, readonly (readonly string[])[]][] = [
    ['', []],
    ['a,b', [['a', 'b']]],
    ['a,b\r\nc\n\n\r\n d ,\n', [['a', 'b'], ['c'], [' d ', '']]],
    ['"a,b","c""d",""\n', [['a,b', 'c"d', '']]],
    ['"a\r\nb",c\nd', [['a\nb', 'c'], ['d']]],
  ]
  for (const [text, rows] of table) assert.deepEqual(parseCsv(text), { rows }, JSON.stringify(text))
})

test('quotes inside a field of a token file are errors', () => {
  const table: [string, string][] = [
    ['a,b"c\n', 'parse error on line 1, column 4: bare " in non-quoted-field'],
    ['a\n"b"c\n', 'parse error on line 2, column 3: extraneous or missing " in quoted-field'],
    ['ä,"b\n', 'parse error on line 1, column 7: extraneous or missing " in quoted-field'],
    [
      'a,"b\nc',
      'record on line 1; parse error on line 2, column 2: extraneous or missing " in quoted-field',
    ],
  ]
  for (const [text, fault] of table) assert.equal(parseCsv(text).fault, fault, JSON.stringify(text))
})

test('parseTokenFile returns users by token, with warnings about empty and duplicate tokens', () => {
  const warnings: string[] = []
  const { tokens, fault } = parseTokenFile(
    'f',
    't1,u1,1\r\n\n"t""2",u2,2,"a, b"\nt3,u3,3,\n,u,1\nt1,u4,4,g\n',
    (text) => void warnings.push(text),
  )
  assert.equal(fault, undefined)
  assert.deepEqual(
    tokens.map(({ token, user: { name, uid, groups } }) => [token, name, uid, ...groups]),
    [
      ['t1', 'u4', '4', 'g'],
      ['t"2', 'u2', '2', 'a', ' b'],
      ['t3', 'u3', '3', ''],
    ],
  )
  assert.deepEqual(warnings, [
    "empty token has been found in token file 'f', record number '4'",
    "duplicate token has been found in token file 'f', record number '5'",
  ])
  const short = parseTokenFile('f', 'a,b,c\nshort,line\n', () => {})
  assert.match(short.fault ?? '', /^token file 'f' must have at least 3 columns .*, found 2$/)
  assert.deepEqual(short.tokens, [])
})

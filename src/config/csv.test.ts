import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCsv } from './csv.ts'

const bare = 'bare " in non-quoted-field'
const wrong = 'extraneous or missing " in quoted-field'

/** Inputs, each with the result of Go's encoding/csv for this input. */
const cases: readonly (readonly [string, ReturnType<typeof parseCsv>])[] = [
  ['', { rows: [] }],
  ['\n\r\n', { rows: [] }],
  ['a,b', { rows: [['a', 'b']] }],
  ['a, b ,\n', { rows: [['a', ' b ', '']] }],
  [',', { rows: [['', '']] }],
  ['a\r\n\r\nb,c\r', { rows: [['a'], ['b', 'c']] }],
  ['a\rb\n', { rows: [['a\rb']] }],
  ['"Proxy, Inc",front', { rows: [['Proxy, Inc', 'front']] }],
  ['"a ""b"" c"\n', { rows: [['a "b" c']] }],
  ['"a\r\nb",c\nd', { rows: [['a\nb', 'c'], ['d']] }],
  ['""', { rows: [['']] }],
  ['é,"ü"', { rows: [['é', 'ü']] }],
  ['a\nb"c', { rows: [['a']], fault: `parse error on line 2, column 2: ${bare}` }],
  ['é,b"', { rows: [], fault: `parse error on line 1, column 5: ${bare}` }],
  ['"a"b', { rows: [], fault: `parse error on line 1, column 3: ${wrong}` }],
  ['"a,b', { rows: [], fault: `parse error on line 1, column 5: ${wrong}` }],
  ['"a\n\r', { rows: [], fault: `parse error on line 1, column 4: ${wrong}` }],
  ['"a\n\nb', { rows: [], fault: `record on line 1; parse error on line 3, column 2: ${wrong}` }],
]

test("parseCsv returns the same result as Go's encoding/csv", () => {
  for (const [text, expected] of cases)
    assert.deepEqual(parseCsv(text), expected, JSON.stringify(text))
})

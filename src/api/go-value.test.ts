import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMsOf } from '../../test/support/harness/turns.ts'
import { goPlain, goStrings, goSyntax } from './go-value.ts'
import type { Json } from './object.ts'

test('JSON values are formatted as Go formats them with %#v and %v', () => {
  const value: Json = { b: [1, 'x', null], a: { c: true } }
  const list = '[]interface {}{1, "x", interface {}(nil)}'
  assert.equal(
    goSyntax(value),
    `map[string]interface {}{"a":map[string]interface {}{"c":true}, "b":${list}}`,
  )
  assert.equal(goPlain(value), 'map[a:map[c:true] b:[1 x <nil>]]')
  assert.equal(goStrings(['a', '"']), '[]string{"a", "\\""}')
  assert.equal(goStrings([]), '[]string(nil)')
})

/** Returns the CPU time of the fastest of three runs, because other programs can slow runs down. */
const bestMs = (work: () => void): number => Math.min(...[1, 2, 3].map(() => cpuMsOf(work)))

/** Large values, by a name for the kind of their contents. */
const large: { readonly [shape: string]: Json } = {
  items: Array.from({ length: 400_000 }, () => ({})),
  lists: Array.from({ length: 2_000 }, () => Array.from({ length: 200 }, () => '')),
  keys: Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, ''])),
  texts: Array.from({ length: 3 }, () => '\u0001'.repeat(1_000_000)),
}

for (const [shape, value] of Object.entries(large)) {
  test(`only the beginning of a large value with many ${shape} is formatted`, () => {
    for (const print of [goSyntax, goPlain]) {
      let text = ''
      const ms = bestMs(() => void (text = print(value)))
      assert.ok(text.length < 1_000_000, `${text.length} characters`)
      assert.match(text, / more( characters)?\)/)
      assert.ok(ms < 50, `${ms} ms`)
    }
  })
}

test('only the beginning of a long list of strings is formatted', () => {
  const list = Array.from({ length: 700_000 }, () => '')
  let text = ''
  const ms = bestMs(() => void (text = goStrings(list)))
  assert.ok(text.length < 100_000, `${text.length} characters`)
  assert.ok(ms < 50, `${ms} ms`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compilePattern, isLongPattern, patternSize } from './regex.ts'
import { CelError } from './values.ts'

test('a short pattern counts as long if its repetitions expand to many instructions', () => {
  for (const pattern of [
    'a{1000}'.repeat(10),
    '(?:a{30}){100}',
    '\\pL{1000}x{0,1000}',
    '((a{10}){10}){100}',
    '[(]a{1000}b{1000}c{1000}',
    '\\Q(\\Ea{1000}b{1000}c{1000}',
  ])
    assert.ok(isLongPattern(pattern), pattern)
  for (const pattern of [
    '^[a-z]([-a-z0-9]*[a-z0-9])?$',
    'a{1000}',
    '[({]{3}',
    '\\{1000}\\{1000}\\{1000}',
    'a{,1000}b{,1000}',
  ])
    assert.ok(!isLongPattern(pattern), pattern)
})

test('property: a pattern does not have many more instructions than estimated', () => {
  const piece = fc.constantFrom(
    'a',
    '.',
    '\\d',
    '\\.',
    '[a-z]',
    '[]x(]',
    '[^\\]{]',
    '(b|c)',
    '(?:d',
    '(e',
    ')',
    '{3}',
    '{2,20}',
    '{5,}',
    '*',
    '+',
    '?',
    '|',
    '^',
    '\\pL',
    '\\Q(\\E',
    '{',
    '}',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('')
      const pattern = compilePattern(text)
      if (pattern instanceof CelError) return
      assert.ok(
        pattern.programSize() <= 10 + 4 * patternSize(text),
        `${text}: ${pattern.programSize()}, ${patternSize(text)}`,
      )
    }),
    { numRuns: 3000 },
  )
})

test('determining whether a pattern is long takes little time', () => {
  for (const part of ['[', '{1', '(', '[[:', '\\', '[^', '{1,']) {
    const { user } = process.cpuUsage()
    isLongPattern(part.repeat(2_000 / part.length))
    assert.ok(process.cpuUsage().user - user < 500_000, `microseconds for ${part}`)
  }
})

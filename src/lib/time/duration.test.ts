import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QUOTED_CHARACTERS_MAX } from '../text/cut-text.ts'
import { formatDuration, parseDuration } from './duration.ts'

const good: readonly [string, number][] = [
  ['0', 0],
  ['0s', 0],
  ['1s', 1000],
  ['-1s', -1000],
  ['1m30s', 90_000],
  ['1.5h', 5_400_000],
  ['.5s', 500],
  ['1h2m3s4ms', 3_723_004],
  ['10us', 0.01],
]
for (const [text, ms] of good)
  test(`the duration ${text} is parsed`, () => assert.deepEqual(parseDuration(text), { ms }))

const bad: readonly [string, string][] = [
  ['', 'time: invalid duration ""'],
  ['soon', 'time: invalid duration "soon"'],
  ['30', 'time: missing unit in duration "30"'],
  ['1constructor', 'time: unknown unit "constructor" in duration "1constructor"'],
  ['5x', 'time: unknown unit "x" in duration "5x"'],
  ['1s ', 'time: unknown unit "s " in duration "1s "'],
  ['--1s', 'time: invalid duration "--1s"'],
  ['9999999h', 'time: invalid duration "9999999h"'],
]
for (const [text, fault] of bad)
  test(`the duration "${text}" is rejected`, () => assert.deepEqual(parseDuration(text), { fault }))

test('a duration with the maximum length of a URL is rejected', () => {
  const text = '1ns'.repeat(300_000)
  const shown = `"${text.slice(0, QUOTED_CHARACTERS_MAX)}"... (${text.length - QUOTED_CHARACTERS_MAX} more characters)`
  assert.deepEqual(parseDuration(text), { fault: `time: invalid duration ${shown}` })
})

test('durations are formatted as in Go', () => {
  const printed = [
    0, 1e-6, 0.0015, 1.5, 999, 1000, 61_500, 3_600_000, 3_661_000, -250, -90_000,
  ].map(formatDuration)
  const expected = [
    '0s',
    '1ns',
    '1.5µs',
    '1.5ms',
    '999ms',
    '1s',
    '1m1.5s',
    '1h0m0s',
    '1h1m1s',
    '-250ms',
    '-1m30s',
  ]
  assert.deepEqual(printed, expected)
})

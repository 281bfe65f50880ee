/**
 * Tests that reading and printing long strings and deeply nested values does not block the event
 * loop for long, and takes a total time proportional to their length.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JsonScanner } from '../../api/json-scanner.ts'
import { readAny } from '../../api/json-value.ts'
import { fieldsOf, type Json } from '../../api/object.ts'
import { inParts } from '../../lib/scheduling/parts.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { bestLongestTurnMs } from '../../../test/support/harness/turns.ts'
import { printString } from './json.ts'

const BYTES = 3 << 20
const TURN_MS_MAX = 50

const texts: { readonly [about: string]: string } = {
  'characters that Go escapes': '<'.repeat(BYTES),
  'lines and characters that Go escapes': 'abc<def\n'.repeat(BYTES / 9),
  'characters beyond ASCII': '\u2028é<\u{1f600}'.repeat(BYTES / 10),
  'lone surrogates': 'a\ud800'.repeat(BYTES / 4),
  'control characters': '\u0001'.repeat(BYTES / 6),
}

const divided = <T>(work: () => T): Promise<T> =>
  inParts(work, new Slices(systemTime, { isExpensive: true }))

for (const [about, text] of Object.entries(texts)) {
  test(`a string of ${about} is printed in short ticks`, async () => {
    let printed = ''
    const ms = await bestLongestTurnMs(
      async () => void (printed = await divided(() => printString(text))),
    )
    assert.equal(printed, printString(text))
    assert.ok(ms < TURN_MS_MAX, `${ms} ms`)
  })
}

const strings: { readonly [about: string]: string } = {
  'short escapes': '\\n'.repeat(BYTES / 2),
  'escaped surrogate pairs': '\\ud83d\\ude00a'.repeat(BYTES / 13),
  'escaped code units': '\\u0001'.repeat(BYTES / 6),
}

for (const [about, string] of Object.entries(strings)) {
  test(`a string of ${about} is read in short ticks`, async () => {
    const text = `{"a":"${string}"}`
    let read: Json = null
    const ms = await bestLongestTurnMs(async () => {
      const scanner = new JsonScanner(text)
      read = await divided(() => {
        scanner.at = 0
        return readAny(scanner)
      })
    })
    assert.deepEqual({ ...fieldsOf(read) }, JSON.parse(text))
    assert.ok(ms < TURN_MS_MAX, `${ms} ms`)
  })
}

for (const [about, string] of Object.entries(strings)) {
  test(`strings of ${about} are skipped in short ticks`, async () => {
    await checkSkipped(`[{"a":["${string}"],"b":1},"${string}","\\n"]`)
  })
}

test('a value of many deeply nested objects is skipped in short ticks', async () => {
  const deep = `${'{"a":'.repeat(900)}1${'}'.repeat(900)}`
  await checkSkipped(`[${Array.from({ length: 580 }, () => deep).join(',')}]`)
})

/** Skips a value in parts, and then again without interruption. The scanner is the same. */
async function checkSkipped(text: string): Promise<void> {
  const scanner = new JsonScanner(`${text} `)
  const skip = (): void => {
    scanner.at = 0
    scanner.skipValue()
    assert.equal(scanner.at, text.length)
  }
  const ms = await bestLongestTurnMs(() => divided(skip))
  assert.ok(ms < 25, `${ms} ms`)
  skip()
}

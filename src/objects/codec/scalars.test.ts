import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMsOf } from '../../../test/support/harness/turns.ts'
import { readBase64 } from './scalars.ts'

const faultOf = (text: string): string | undefined => {
  const read = readBase64(text)
  return 'fault' in read ? /\d+$/.exec(read.fault)?.[0] : undefined
}

/** A text that is too long to be validated with the regular expression. */
const long = 'QUJD'.repeat(2_000)

const texts: readonly (readonly [string, number | undefined])[] = [
  ['', undefined],
  ['YQ==', undefined],
  ['YWI=', undefined],
  ['Y\nW\r\nJj\n', undefined],
  ['YQ=\n=\n', undefined],
  ['!', 0],
  ['Y', 0],
  ['YWJjZ', 4],
  ['YQ=', 3],
  ['YQ==Y', 4],
  ['YWI=Y', 4],
  ['YQ=a', 3],
  ['YWJj=', 4],
  ['YWJé', 3],
]

for (const [text, at] of texts) {
  test(`the base64 text ${JSON.stringify(text)} is ${at === undefined ? 'valid' : `invalid at ${at}`}, also in a long text`, () => {
    assert.equal(faultOf(text), at === undefined ? undefined : `${at}`)
    assert.equal(faultOf(long + text), at === undefined ? undefined : `${at + long.length}`)
  })
}

test('parseBytes clears the unused bits after the last byte', () => {
  assert.deepEqual(readBase64('YR=='), { text: 'YQ==' })
})

test('a long text that is not valid base64 is rejected within milliseconds', () => {
  for (const end of ['\n"', '=', '', '"']) {
    const text = `${'x'.repeat(3_000_001)}${end}`
    const ms = cpuMsOf(() => void readBase64(text))
    assert.ok(ms < 50, `${ms} ms`)
  }
})

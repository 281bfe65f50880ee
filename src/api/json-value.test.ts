import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson } from './json-value.ts'

const read = (text: string): unknown => parseJson(Buffer.from(text))

test('a key with an escape is itself, whatever was read before', () => {
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

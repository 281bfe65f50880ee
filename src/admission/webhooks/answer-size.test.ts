import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasTooManyValues } from './answer-size.ts'

const warnings = (count: number): string =>
  `{"response":{"warnings":[${'"",'.repeat(count - 1)}""]}}`

test('a webhook response with too many values is detected, whatever its length', async () => {
  assert.equal(await hasTooManyValues(warnings(1_300_000)), true)
  assert.equal(await hasTooManyValues(warnings(110_000)), true)
  assert.equal(await hasTooManyValues(warnings(90_000)), false)
  assert.equal(await hasTooManyValues(`{"response":{"patch":"${'a'.repeat(3 << 20)}"}}`), false)
})

test('hasTooManyValues accepts invalid JSON, because the decoder rejects it', async () => {
  assert.equal(await hasTooManyValues(`${' '.repeat(100_000)}{"a":[}`), false)
})

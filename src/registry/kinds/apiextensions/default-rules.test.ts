import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bestLongestTurnMs } from '../../../../test/support/harness/turns.ts'
import { inTurns } from '../../../objects/cel/turns.ts'
import { hasDefaults } from './default-rules.ts'

const TURN_MS_MAX = 50

test('searching a schema with many alternatives for defaults does not block the event loop', async () => {
  const schema = { oneOf: Array.from({ length: 900_000 }, () => ({})) }
  const ms = await bestLongestTurnMs(async () => {
    assert.equal(await inTurns((slice) => hasDefaults(schema, slice)), false)
  })
  assert.ok(ms < TURN_MS_MAX, `${ms} ms`)
})

for (const keyword of [
  'allOf',
  'anyOf',
  'oneOf',
  'items',
  'additionalProperties',
  'not',
  'properties',
]) {
  test(`hasDefaults finds a default inside ${keyword}`, async () => {
    const inner = { type: 'string', default: 'x' }
    const value = keyword.endsWith('Of')
      ? [{}, inner]
      : keyword === 'properties'
        ? { name: inner }
        : inner
    assert.equal(await inTurns((slice) => hasDefaults({ [keyword]: value }, slice)), true)
  })
}

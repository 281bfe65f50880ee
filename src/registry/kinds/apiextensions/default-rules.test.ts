import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bestLongestTurnMs } from '../../../../test/support/harness/turns.ts'
import type { Fields } from '../../../api/object.ts'
import { inTurns } from '../../../objects/cel/turns.ts'
import { hasDefaults, validateDefaults } from './default-rules.ts'

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

/** Returns the paths of the errors in the default of a property. */
const faultsOf = async (given: Fields): Promise<readonly string[]> => {
  const whole = { type: 'object', properties: { p: given } }
  const faults = await inTurns((slice) => validateDefaults(whole, 's', { release: 33, slice }))
  return faults.map(({ path }) => path)
}

test('inside an atomic map, a rule with oldSelf is not evaluated for a default value', async () => {
  const rules = { 'x-kubernetes-validations': [{ rule: 'self != oldSelf' }] }
  const schema: Fields = {
    type: 'object',
    properties: { d: { type: 'string', ...rules } },
    default: { d: 'x' },
  }
  assert.deepEqual(await faultsOf(schema), ['s.properties[p].default.d'])
  assert.deepEqual(await faultsOf({ ...schema, 'x-kubernetes-map-type': 'atomic' }), [])
})

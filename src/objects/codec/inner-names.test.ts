import assert from 'node:assert/strict'
import { test } from 'node:test'
import { typeOf } from '../../registry/types.ts'
import { decodeStruct } from './decode.ts'

/** Returns the error of a schema in a release. */
function faultIn(release: number, schema: object): string | undefined {
  return decodeStruct(
    JSON.stringify({ properties: { a: schema } }),
    typeOf('apiextensions/v1', 'JSONSchemaProps', release),
  ).fault
}

test('since 1.35, an error in a schema names the fields inside of items', () => {
  const schema = { items: { properties: { b: { format: 1 } } } }
  const fault =
    'json: cannot unmarshal number into Go struct field JSONSchemaProps.properties.items'
  assert.equal(faultIn(34, schema), `${fault} of type string`)
  assert.equal(faultIn(35, schema), `${fault}.properties.format of type string`)
})

test('since 1.35, an error in a schema names the fields inside of nested schemas', () => {
  const schema = { additionalProperties: { items: { maxLength: 'x' } } }
  const fault =
    'json: cannot unmarshal string into Go struct field JSONSchemaProps.properties.additionalProperties'
  assert.equal(faultIn(34, schema), `${fault} of type int64`)
  assert.equal(faultIn(35, schema), `${fault}.items.maxLength of type int64`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../api/object.ts'
import { typeOfSchema } from './schema-type.ts'

const POINT_BYTES_MAX = 4

function sizeOf(schema: Fields, release: number, ...path: readonly string[]): number | undefined {
  let type = typeOfSchema(schema, { name: 'self', isRoot: path.length > 0, release })
  for (const name of path) type = type?.kind === 'struct' ? type.field(name)?.type : undefined
  return type !== undefined && 'sizeMax' in type ? type.sizeMax : undefined
}

test('since 1.34, maxLength limits the estimated size of a value with x-kubernetes-int-or-string', () => {
  const schema = { 'x-kubernetes-int-or-string': true, maxLength: 10 }
  const sizes = [33, 34].map((release) => sizeOf(schema, release))
  assert.deepEqual(sizes, [3 * 1024 * 1024 - 2, 10 * POINT_BYTES_MAX])
})

const bounds = (schema: Fields, release: number) =>
  ['name', 'generateName'].map((name) => sizeOf(schema, release, 'metadata', name))

test('since 1.37, the estimated sizes of metadata.name and metadata.generateName are limited', () => {
  const unbounded = 3 * 1024 * 1024 - 2
  assert.deepEqual(bounds({ type: 'object' }, 36), [unbounded, unbounded])
  assert.deepEqual(bounds({ type: 'object' }, 37), [253 * POINT_BYTES_MAX, 252 * POINT_BYTES_MAX])
  const text = { type: 'string' }
  const named = { type: 'object', properties: { name: { ...text, maxLength: 63 } } }
  const schema = { type: 'object', properties: { metadata: named } }
  assert.deepEqual(bounds(schema, 37), [63 * POINT_BYTES_MAX, 252 * POINT_BYTES_MAX])
  const whole = { ...named, properties: { name: text, generateName: text } }
  const properties = { kind: text, apiVersion: text, metadata: whole }
  assert.deepEqual(bounds({ type: 'object', properties }, 37), [unbounded, unbounded])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JsonScanner } from '../../api/json-scanner.ts'
import { fieldsOf } from '../../api/object.ts'
import { decodeStruct } from '../codec/decode.ts'
import { readAny } from '../../api/json-value.ts'
import { commonType } from '../../registry/types.ts'
import { restoreStruct } from './restore.ts'

const deployment = commonType('apps/v1', 'Deployment')
const restore = (text: string): ReturnType<typeof restoreStruct> =>
  restoreStruct(readAny(new JsonScanner(text)), deployment)

test('restoring an object from a JSON tree has the same result as decoding the text of the tree', () => {
  const text = JSON.stringify({
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: {
      name: 'd',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { __proto__: null, a: 'b' },
      managedFields: [{ manager: 'm', fieldsV1: { 'f:spec': { 'f:replicas': {} } } }],
    },
    spec: {
      replicas: 0,
      paused: false,
      strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: '10%' } },
      template: {
        metadata: { creationTimestamp: null },
        spec: {
          containers: [
            { name: 'a', args: [null, 'x'], resources: { limits: { cpu: 1, memory: '1024Mi' } } },
          ],
        },
      },
    },
  })
  const { value, fault } = decodeStruct(text, deployment)
  assert.equal(fault, undefined)
  assert.deepEqual(restore(text), { value, strictFaults: [] })
})

const replicasOf = (literal: string): unknown =>
  restore(`{"spec":{"replicas":${literal}}}`).value['spec']

test('integers are converted as in the function FromUnstructured of Kubernetes', () => {
  assert.deepEqual(replicasOf('2.0'), { replicas: 2 })
  assert.deepEqual(replicasOf('4294967299'), { replicas: 3 })
  assert.deepEqual(replicasOf('null'), {})
})

test('unknown fields are reported in the order of their paths', () => {
  const { strictFaults } = restore(
    '{"z":1,"spec":{"no":{"deep":1},"template":{"spec":{"containers":[{"nix":1}]}}}}',
  )
  const paths = ['spec.no', 'spec.template.spec.containers[0].nix', 'z']
  assert.deepEqual(
    strictFaults,
    paths.map((path) => `unknown field "${path}"`),
  )
})

const faults: readonly (readonly [string, string])[] = [
  ['{"spec":{"replicas":1.5}}', 'cannot convert float64 to int32'],
  ['{"spec":{"replicas":"x"}}', 'unrecognized type: int32'],
  ['{"spec":{"paused":1}}', 'unrecognized type: bool'],
  ['{"spec":"x"}', 'cannot restore struct from: string'],
  ['{"spec":{"template":{"spec":{"containers":{}}}}}', 'cannot restore slice from map'],
  ['{"metadata":{"labels":1}}', 'cannot restore map from int64'],
  ['{"metadata":{"labels":{"a":1}}}', 'cannot convert int64 to string'],
  ['{"metadata":{"labels":{"a":{}}}}', 'unrecognized type: string'],
  [
    '{"metadata":{"deletionTimestamp":1}}',
    'json: cannot unmarshal number into Go value of type string',
  ],
  [
    '{"spec":{"strategy":{"rollingUpdate":{"maxSurge":true}}}}',
    'json: cannot unmarshal bool into Go value of type int32',
  ],
]

for (const [text, message] of faults) {
  test(`a value that does not match the schema is rejected: ${text}`, () =>
    assert.throws(() => restore(text), { name: 'RestoreError', message }))
}

test('when an object is restored from a JSON tree, subtrees that have not changed are taken from the known object', () => {
  const known = restore(
    '{"metadata":{"labels":{"a":"b"}},"spec":{"replicas":2,"template":{"spec":{"containers":[{"name":"x"}]}}}}',
  )
  const { metadata, spec } = known.value
  const tree = { metadata, spec }
  const labels = { a: 'c' }
  const changed = { metadata: { labels }, spec }
  const { value } = restoreStruct(changed, deployment, { tree, value: known.value })
  assert.equal(value['spec'], spec)
  assert.deepEqual({ ...fieldsOf(fieldsOf(value['metadata'])['labels']) }, labels)
})

test('an invalid JSON schema in the field items is rejected instead of being stored with zero values', () => {
  const schema = commonType('apiextensions/v1', 'JSONSchemaProps')
  for (const items of [{ maxLength: '5' }, { required: 'x' }, { properties: { a: 5 } }]) {
    assert.throws(() => restoreStruct({ items }, schema), {
      name: 'RestoreError',
      message: /^json: cannot unmarshal/,
    })
  }
  const items = { properties: { a: { minimum: 1 } }, required: ['a'] }
  assert.deepEqual(JSON.parse(JSON.stringify(restoreStruct({ items }, schema).value)), { items })
})

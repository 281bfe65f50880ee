import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api/errors.ts'
import { boolean, bytesMap, field, listOf, metadata, optional, string, stringMap, struct } from '../api/shape.ts'
import { decodeBody, type Expected } from './decode-body.ts'

const configMap: Expected = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  shape: struct('ConfigMap', [
    metadata,
    optional('immutable', boolean),
    field('data', stringMap),
    field('binaryData', bytesMap),
    field('owners', listOf(struct('Owner', [field('name', string)]))),
  ]),
}

const decode = (text: string) => decodeBody(Buffer.from(text), configMap)

test('kind and apiVersion come from the path when the body has none', () => {
  const empty = { kind: 'ConfigMap', apiVersion: 'v1', metadata: {} }
  for (const text of ['{}', 'null', '{"kind":"","apiVersion":null}']) assert.deepEqual(decode(text), empty)
})

test('unknown fields and nulls are left out', () => {
  const text = '{"metadata":{"name":"c","x":1,"labels":null},"data":{"a":null,"__proto__":"p"},"spec":{}}'
  const object = decode(text)
  assert.deepEqual(object.metadata, { name: 'c' })
  assert.deepEqual(Object.entries(object['data'] ?? {}), [
    ['a', ''],
    ['__proto__', 'p'],
  ])
  assert.ok(!('spec' in object))
})

const refusals: readonly [string, RegExp | string][] = [
  ['', 'unexpected end of JSON input (<empty>)'],
  ['x', /invalid character 'x' looking for beginning of value \(78\)$/],
  ['[1]', /json parse error: json: cannot unmarshal array into Go value of type struct .* \(5b315d\)$/],
  ['{"kind":5}', 'json: cannot unmarshal number into Go struct field .kind of type string ({"kind":5})'],
  [
    '{"kind":"Pod"}',
    'Pod in version "v1" cannot be handled as a ConfigMap: no kind "Pod" is registered for version "v1"',
  ],
  ['{"data":{"a":1}}', 'cannot unmarshal number into Go struct field ConfigMap.data of type string'],
  ['{"data":[]}', 'cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string'],
  ['{"immutable":"x"}', 'cannot unmarshal string into Go struct field ConfigMap.immutable of type bool'],
  ['{"metadata":5}', 'cannot unmarshal number into Go struct field ConfigMap.metadata of type v1.ObjectMeta'],
  [
    '{"metadata":{"labels":{"a":true}}}',
    'cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string',
  ],
  [
    '{"metadata":{"generation":1.5}}',
    'cannot unmarshal number into Go struct field ObjectMeta.metadata.generation of type int64',
  ],
  [
    '{"metadata":{"creationTimestamp":"now"}}',
    'parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"',
  ],
  [
    '{"owners":[{"name":"a"},{"name":5}]}',
    'cannot unmarshal number into Go struct field Owner.owners.name of type string',
  ],
  ['{"binaryData":{"a":"!"}}', 'illegal base64 data at input byte 0'],
]
for (const [text, message] of refusals) {
  const isTold = (told: string): boolean => (typeof message === 'string' ? told.includes(message) : message.test(told))
  test(`${text} is refused`, () => {
    assert.throws(
      () => decode(text),
      (error: unknown) => error instanceof ApiError && error.code === 400 && isTold(error.message),
    )
  })
}

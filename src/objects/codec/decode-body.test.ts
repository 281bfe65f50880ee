import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allSteps } from '../../../test/support/harness/turns.ts'
import { ApiError, noMemory } from '../../api/errors.ts'
import { type Fields, fieldsOf } from '../../api/object.ts'
import { parts } from '../../lib/scheduling/parts.ts'
import { commonType } from '../../registry/types.ts'
import { plainSchema } from '../schema/object-schema.ts'
import {
  decodeBody,
  decodeProtobufBody,
  type Expected,
  type FieldValidation,
} from './decode-body.ts'
import { MEMBERS_MAX } from './member-count.ts'
import { encodeObject } from './protobuf/envelope.ts'

const core = { group: '', version: 'v1' }
const configMap: Expected = {
  ...core,
  kind: 'ConfigMap',
  shape: plainSchema(commonType('core/v1', 'ConfigMap')),
}
const pod: Expected = { ...core, kind: 'Pod', shape: plainSchema(commonType('core/v1', 'Pod')) }

const decodeAs = (text: string, expected: Expected, validation: FieldValidation = 'Warn') =>
  decodeBody({ bytes: Buffer.from(text) }, expected, validation)
const decode = (text: string) => decodeAs(text, configMap).object

test('kind and apiVersion are taken from the path if the body omits them', () => {
  const empty = { kind: 'ConfigMap', apiVersion: 'v1', metadata: {} }
  for (const text of ['{}', 'null', '{"kind":"","apiVersion":null}'])
    assert.deepEqual(decode(text), empty)
})

test('unknown fields and nulls in a body are dropped', () => {
  const text =
    '{"metadata":{"name":"c","x":1,"labels":null},"data":{"a":null,"__proto__":"p"},"spec":{}}'
  const object = decode(text)
  assert.deepEqual(object.metadata, { name: 'c' })
  assert.deepEqual(Object.entries(object['data'] ?? {}), [
    ['a', ''],
    ['__proto__', 'p'],
  ])
  assert.ok(!('spec' in object))
})

test('keys such as __proto__ in a body do not change prototypes', () => {
  const text =
    '{"__proto__":{"polluted":1},"constructor":5,"metadata":{"__proto__":1,"labels":{"constructor":"x","__proto__":"y"}}}'
  const { object, warnings } = decodeAs(text, configMap)
  assert.equal(Object.getPrototypeOf(object), Object.prototype)
  assert.ok(!('polluted' in {}))
  assert.deepEqual(Object.keys(object.metadata.labels ?? {}), ['constructor', '__proto__'])
  assert.deepEqual(warnings, [
    'unknown field "__proto__"',
    'unknown field "constructor"',
    'unknown field "metadata.__proto__"',
  ])
})

test('each unknown or duplicate field is reported once, in the order of the text', () => {
  const text =
    '{"a":{"b":1},"metadata":{"name":"p","name":"q"},"spec":{"containers":[{"name":"c"},{"x":1,"y":2,"x":3}],"a":1},"a":1}'
  const reported = [
    'unknown field "a"',
    'duplicate field "metadata.name"',
    'unknown field "spec.containers[1].x"',
    'unknown field "spec.containers[1].y"',
    'unknown field "spec.a"',
  ]
  assert.deepEqual(decodeAs(text, pod).warnings, reported)
  assert.deepEqual(decodeAs(text, pod, 'Ignore').warnings, [])
  assert.throws(() => decodeAs(text, pod, 'Strict'), {
    message: `Pod in version "v1" cannot be handled as a Pod: strict decoding error: ${reported.join(', ')}`,
  })
})

test('a field that occurs twice in a body is merged as in Go', () => {
  const { object } = decodeAs(
    '{"data":{"a":"1"},"data":{"b":"2"},"metadata":{"name":"x","finalizers":["a","b"]},"metadata":{"name":"y","finalizers":["c"]}}',
    configMap,
  )
  assert.deepEqual({ ...fieldsOf(object['data']) }, { a: '1', b: '2' })
  assert.deepEqual(object.metadata, { name: 'y', finalizers: ['c'] })
})

const refusals: readonly [string, RegExp | string][] = [
  ['', 'unexpected end of JSON input (<empty>)'],
  ['x', /invalid character 'x' looking for beginning of value \(78\)$/],
  [
    '[1]',
    /json parse error: json: cannot unmarshal array into Go value of type struct .* \(5b315d\)$/,
  ],
  [
    '{"kind":5}',
    'json: cannot unmarshal number into Go struct field .kind of type string ({"kind":5})',
  ],
  [
    '{"kind":"Pod"}',
    'Pod in version "v1" cannot be handled as a ConfigMap: no kind "Pod" is registered for version "v1"',
  ],
  [
    '{"data":{"a":1}}',
    'cannot unmarshal number into Go struct field ConfigMap.data of type string',
  ],
  [
    '{"data":[]}',
    'cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string',
  ],
  [
    '{"immutable":"x"}',
    'cannot unmarshal string into Go struct field ConfigMap.immutable of type bool',
  ],
  [
    '{"metadata":5}',
    'cannot unmarshal number into Go struct field ConfigMap.metadata of type v1.ObjectMeta',
  ],
  [
    '{"metadata":{"labels":{"a":true}}}',
    'cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string',
  ],
  [
    '{"metadata":{"generation":1.5}}',
    'cannot unmarshal number 1.5 into Go struct field ObjectMeta.metadata.generation of type int64',
  ],
  [
    '{"metadata":{"creationTimestamp":"now"}}',
    'parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"',
  ],
  [
    '{"metadata":{"ownerReferences":[{"name":"a"},{"name":5}]}}',
    'cannot unmarshal number into Go struct field OwnerReference.metadata.ownerReferences.name of type string',
  ],
  ['{"binaryData":{"a":"!"}}', 'illegal base64 data at input byte 0'],
]
for (const [text, message] of refusals) {
  const isExpected = (reported: string): boolean =>
    typeof message === 'string' ? reported.includes(message) : message.test(reported)
  test(`the body '${text}' is rejected`, () => {
    assert.throws(
      () => decode(text),
      (error: unknown) =>
        error instanceof ApiError && error.code === 400 && isExpected(error.message),
    )
  })
}

const deep = (count: number): string =>
  `{"spec":{"versions":[{"schema":{"openAPIV3Schema":${'{"not":'.repeat(count)}{}${'}'.repeat(count)}}}]}}`

test('a body that would take too long to decode or overflow the stack is rejected', () => {
  const crd: Expected = {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    kind: 'CustomResourceDefinition',
    shape: plainSchema(commonType('apiextensions/v1', 'CustomResourceDefinition')),
  }
  decodeAs(deep(400), crd)
  assert.throws(() => decodeAs(deep(100_000), crd), /exceeded max depth/)
  const digits = '9'.repeat(1_000_000)
  assert.throws(() => decodeAs(`{"metadata":{"generation":${digits}}}`, configMap), /of type int64/)
  assert.throws(
    () => decodeAs(`{"spec":{"overhead":{"cpu":"${digits}"}}}`, pod),
    /quantities must match/,
  )
})

const mapBody = (count: number): Buffer => {
  const data = Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, '']))
  return encodeObject(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: {}, data },
    configMap.shape.struct,
  )
}

const decodedMap = (count: number): Fields => decodedInParts(mapBody(count), configMap)

test('a protobuf body can have as many map entries as a JSON object can have members', () => {
  assert.equal(Object.keys(fieldsOf(decodedMap(MEMBERS_MAX)['data'])).length, MEMBERS_MAX)
  assert.throws(() => decodedMap(MEMBERS_MAX + 1), { code: 413 })
})

const never = { isOver: false, begin: (): void => undefined }

const decodedInParts = (bytes: Buffer, expected: Expected, holdFields?: () => number): Fields =>
  allSteps(parts(() => decodeProtobufBody(bytes, expected, holdFields), never))

const podBody = (containers: number): Buffer => {
  const spec = { containers: Array.from({ length: containers }, () => ({})) }
  return encodeObject({ apiVersion: 'v1', kind: 'Pod', metadata: {}, spec }, pod.shape.struct)
}

test('a protobuf body that would be too large to store with its defaults is rejected before defaults are set', () => {
  assert.throws(() => decodedInParts(podBody(100_000), pod), {
    code: 413,
    message: /bytes that can be stored$/,
  })
})

test('memory for the fields of a protobuf body is reserved before the fields are decoded', () => {
  let held = 0
  const holdFields = (max: number) => (): number => {
    if (held >= max) throw noMemory()
    held += 100
    return 100
  }
  decodedInParts(podBody(1000), pod, holdFields(Infinity))
  // A decoded container has ten more fields, which are always serialized.
  assert.ok(held >= 10_000 && held <= 12_000, String(held))
  held = 0
  assert.throws(() => decodedInParts(podBody(1000), pod, holdFields(500)), { code: 429 })
})

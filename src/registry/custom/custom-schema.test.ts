import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnsDuring } from '../../../test/support/harness/turns.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import { decodeBody, type FieldValidation } from '../../objects/codec/decode-body.ts'
import { decodeStored } from '../../objects/codec/object.ts'
import { validateCreate } from '../validate.ts'
import { customResources } from './custom-resource.ts'
import { readCrd } from './crd.ts'

const names = { plural: 'wheels', singular: 'wheel', kind: 'Wheel', listKind: 'WheelList' }

function wheels(spec: Fields) {
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', ...spec } } },
  }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  const [made] = customResources(
    readCrd({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'wheels.example.com' },
      spec: { group: 'example.com', scope: 'Cluster', names, versions },
      status: { acceptedNames: names },
    }),
  )
  return made ?? assert.fail()
}

const wheel = (metadata: KubeObject['metadata']): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Wheel',
  metadata,
  spec: { size: 1 },
})

test('validation rules of a custom kind are not evaluated if required metadata is missing', async () => {
  const rule = { rule: 'self.size > 1', message: 'too small' }
  const { rules } = wheels({
    properties: { size: { type: 'integer' } },
    'x-kubernetes-validations': [rule],
  })
  const messages = async (object: KubeObject) => {
    const faults = (await rules.validateInSlices?.(object, undefined)) ?? []
    return faults.map(({ message }) => message)
  }
  assert.deepEqual(await messages(wheel({ name: 'w' })), ['Invalid value: "object": too small'])
  const [unchecked, ...others] = await messages(wheel({}))
  assert.match(unchecked ?? '', /^Invalid value: "null": some validation rules were not checked/)
  assert.deepEqual(others, [])
})

test('the message of a validation rule of a CRD is reported as its author wrote it', async () => {
  const message = 'must be no more than 63 bytes'
  const resource = wheels({
    properties: { size: { type: 'integer' } },
    'x-kubernetes-validations': [{ rule: 'self.size > 1', message }],
  })
  const object = wheel({ name: 'w', uid: 'u' })
  const found = (await resource.rules.validateInSlices?.(object, undefined)) ?? []
  const messages = validateCreate(object, resource, [...found]).map((fault) => fault.message)
  assert.deepEqual(messages, [`Invalid value: "object": ${message}`])
})

test('if a body of a custom object has several errors, a mismatched kind is reported last', () => {
  const { group, version, kind, shape } = wheels({ properties: {} })
  const decode = (body: Fields, validation: FieldValidation = 'Warn') =>
    decodeBody(
      { bytes: Buffer.from(JSON.stringify(body)) },
      { group, version, kind, shape },
      validation,
    )
  const other = {
    apiVersion: 'example.com/v1',
    kind: 'Cart',
    metadata: { name: 'w', size: 1 },
    spec: { size: 1 },
  }
  const { refusal, warnings } = decode(other)
  assert.match(refusal?.message ?? '', /kind: Invalid value: "Cart": must be Wheel/)
  assert.deepEqual(warnings, ['unknown field "metadata.size"'])
  assert.throws(
    () => decode({ ...other, metadata: { name: 1 } }),
    /^ApiError: Cart in version "v1" cannot be handled/,
  )
  const { kind: _kind, ...nameless } = other
  assert.throws(
    () => decode(nameless),
    /the object provided is unrecognized .*Object 'Kind' is missing/,
  )
  assert.throws(
    () => decode(nameless, 'Ignore'),
    /Wheel in version "v1" cannot be handled as a Wheel: Object 'Kind'/,
  )
})

const embedded = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
}

test('an object stored with malformed metadata can be read', () => {
  const { shape } = wheels({ properties: { inner: embedded } })
  const metadata = { annotations: { a: 42, b: 'x' }, labels: { bad: 'x y' }, unknown: 42 }
  const stored = {
    kind: 'Wheel',
    apiVersion: 'example.com/v1',
    metadata: { name: 'w', generation: null, ...metadata },
    spec: { inner: { kind: 'Hub', apiVersion: 'v1', metadata: { name: 'h', ...metadata } } },
  }
  const read = decodeStored(Buffer.from(JSON.stringify(stored)), shape, 7)
  const labels = { bad: 'x y' }
  assert.deepEqual(JSON.parse(JSON.stringify(read)), {
    kind: 'Wheel',
    apiVersion: 'example.com/v1',
    metadata: { name: 'w', labels, generation: 1, resourceVersion: '7' },
    spec: { inner: { kind: 'Hub', apiVersion: 'v1', metadata: { name: 'h', labels } } },
  })
  assert.throws(() => decodeStored(Buffer.from('{"kind":1}'), shape, 7))
  assert.throws(() => decodeStored(Buffer.from('{"kind":"Wheel","metadata":{'), shape, 7))
})

test('null metadata of an embedded object becomes an empty object', () => {
  const { shape } = wheels({ properties: { inner: embedded } })
  const stored = {
    ...wheel({ name: 'w' }),
    spec: { inner: { kind: 'Hub', apiVersion: 'v1', metadata: null } },
  }
  const { spec } = decodeStored(Buffer.from(JSON.stringify(stored)), shape, 7)
  assert.deepEqual(JSON.parse(JSON.stringify(spec)), {
    inner: { kind: 'Hub', apiVersion: 'v1', metadata: {} },
  })
})

test('a null label of an embedded object becomes an empty string', () => {
  const { shape } = wheels({ properties: { inner: embedded } })
  const inner = { kind: 'Hub', apiVersion: 'v1', metadata: { labels: { a: null, b: 'c' } } }
  const stored = { ...wheel({ name: 'w' }), spec: { inner } }
  const { spec } = decodeStored(Buffer.from(JSON.stringify(stored)), shape, 7)
  assert.deepEqual(JSON.parse(JSON.stringify(spec)), {
    inner: { ...inner, metadata: { labels: { a: '', b: 'c' } } },
  })
})

test('unknown fields are dropped from the defaults of embedded metadata', () => {
  const inner = {
    ...embedded,
    default: { apiVersion: 'v1', kind: 'Hub', metadata: { name: 'h', unknown: 'x' } },
  }
  const { shape } = wheels({ properties: { inner } })
  const { spec } = shape.setDefaults({ ...wheel({ name: 'w' }), spec: {} })
  assert.deepEqual(JSON.parse(JSON.stringify(spec)), {
    inner: { apiVersion: 'v1', kind: 'Hub', metadata: { name: 'h' } },
  })
})

test('a replica count above 2147483647 is rejected, because it does not fit into a Scale', async () => {
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
  const [made] = customResources(
    readCrd({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'wheels.example.com' },
      spec: {
        group: 'example.com',
        names,
        versions: [
          {
            name: 'v1',
            storage: true,
            subresources: { scale },
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        ],
      },
    }),
  )
  for (const replicas of [2 ** 31, 9223372036854775807n]) {
    const object = { ...wheel({ name: 'w' }), spec: { replicas } }
    const faults = (await made?.rules.validateInSlices?.(object, undefined)) ?? []
    assert.match(faults[0]?.message ?? '', /should be less than or equal to 2147483647/)
  }
})

test('if many unknown fields below a long key are dropped, no long path is built for each of them', () => {
  const { group, version, kind, shape } = wheels({ additionalProperties: { type: 'object' } })
  const unknown = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`u${at}`, 1]))
  const body = { ...wheel({ name: 'w' }), spec: { ['k'.repeat(100_000)]: unknown } }
  const bytes = Buffer.from(JSON.stringify(body))
  const { object, warnings } = decodeBody({ bytes }, { group, version, kind, shape }, 'Warn')
  assert.deepEqual(
    Object.values(object['spec'] ?? {}).map((value) => Object.keys(value ?? {}).length),
    [0],
  )
  assert.ok(warnings.join('').length < 2 << 20, `${warnings.length} warnings`)
})

test('a large schema is parsed over several ticks of the event loop before it is used', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, at) => [`p${at}`, { type: 'string', maxLength: at }]),
  )
  const resource = wheels({ properties })
  assert.ok((await turnsDuring(async () => resource.load?.())) > 10)
  assert.equal(resource.load?.(), undefined)
  assert.equal(resource.shape.struct.open?.().properties?.get('spec')?.properties?.size, 20_000)
})

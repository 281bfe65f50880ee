import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { decodeBody, type FieldValidation } from '../../codec/decode-body.ts'
import { customResources } from './custom-resource.ts'
import { readDefinition } from './definition.ts'

const names = { plural: 'wheels', singular: 'wheel', kind: 'Wheel', listKind: 'WheelList' }

function wheels(spec: Fields) {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', ...spec } } } }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  const [made] = customResources(
    readDefinition({
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

test('rules are not looked at while something that they rely on is missing, in the metadata too', () => {
  const rule = { rule: 'self.size > 1', message: 'too small' }
  const { validate } = wheels({ properties: { size: { type: 'integer' } }, 'x-kubernetes-validations': [rule] })
  const messages = (object: KubeObject) => validate(object).map(({ message }) => message)
  assert.deepEqual(messages(wheel({ name: 'w' })), ['Invalid value: "object": too small'])
  const [unchecked, ...others] = messages(wheel({}))
  assert.match(unchecked ?? '', /^Invalid value: "null": some validation rules were not checked/)
  assert.deepEqual(others, [])
})

test('what a body is not is told after all else that is wrong with it', () => {
  const { group, version, kind, shape } = wheels({ properties: {} })
  const decode = (body: Fields, validation: FieldValidation = 'Warn') =>
    decodeBody({ bytes: Buffer.from(JSON.stringify(body)) }, { group, version, kind, shape }, validation)
  const other = { apiVersion: 'example.com/v1', kind: 'Cart', metadata: { name: 'w', size: 1 }, spec: { size: 1 } }
  const { refusal, warnings } = decode(other)
  assert.match(refusal?.message ?? '', /kind: Invalid value: "Cart": must be Wheel/)
  assert.deepEqual(warnings, ['unknown field "metadata.size"'])
  assert.throws(() => decode({ ...other, metadata: { name: 1 } }), /^ApiError: Cart in version "v1" cannot be handled/)
  const { kind: _kind, ...nameless } = other
  assert.throws(() => decode(nameless), /the object provided is unrecognized .*Object 'Kind' is missing/)
  assert.throws(() => decode(nameless, 'Ignore'), /Wheel in version "v1" cannot be handled as a Wheel: Object 'Kind'/)
})

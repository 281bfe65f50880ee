import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGates } from '../../../api/gates.ts'
import { type Fields, fieldsOf, itemsOf } from '../../../api/object.ts'
import { parseJson } from '../../../api/json-value.ts'
import { systemClock } from '../../../lib/time/clock.ts'
import { builtInResources } from '../../../registry/built-in.ts'
import { customResources } from '../../../registry/custom/custom-resource.ts'
import { readCrd } from '../../../registry/custom/crd.ts'
import { Registry } from '../../../registry/registry.ts'
import type { Resource } from '../../../registry/resource.ts'
import { encodeV2, encodeV3 } from './gnostic.ts'
import { OpenApiLibrary } from './library.ts'

const key = 'apis/example.com/v1'
const kind = 'com.example.v1.Wheel'

function wheels(properties: Fields): readonly Resource[] {
  const names = { plural: 'wheels', singular: 'wheel', kind: 'Wheel', listKind: 'WheelList' }
  const schema = { openAPIV3Schema: { type: 'object', properties } }
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
  const versions = [{ name: 'v1', served: true, storage: true, schema, subresources: { scale } }]
  return customResources(
    readCrd({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'wheels.example.com' },
      spec: { group: 'example.com', scope: 'Cluster', names, versions },
      status: { acceptedNames: names },
    }),
  )
}

function start(): { registry: Registry; library: OpenApiLibrary } {
  const registry = new Registry(builtInResources())
  return {
    registry,
    library: new OpenApiLibrary({
      registry,
      hasIssuer: false,
      clock: systemClock,
      gates: defaultGates,
    }),
  }
}

async function propertiesOf(library: OpenApiLibrary): Promise<Fields> {
  const document = fieldsOf(parseJson((await library.v3(key))?.json ?? Buffer.from('{}')))
  const schemas = fieldsOf(fieldsOf(document['components'])['schemas'])
  return fieldsOf(fieldsOf(schemas[kind])['properties'])
}

test('a change of a custom resource replaces only the OpenAPI document of its API group and version', async () => {
  const { registry, library } = start()
  const apps = await library.v3('apis/apps/v1')
  assert.equal(library.v3(key), undefined)
  assert.ok(!library.keys.includes(key))

  const first = wheels({ size: { type: 'integer' } })
  registry.replace('example.com', { before: [], after: first })
  assert.ok(library.keys.includes(key))
  assert.ok(!library.keys.includes('apis/example.com'))
  assert.deepEqual((await propertiesOf(library))['size'], { type: 'integer' })
  assert.equal(await library.v3('apis/apps/v1'), apps)
  assert.equal(await library.v3(key), await library.v3(key))

  const second = wheels({ size: { type: 'string' } })
  registry.replace('example.com', { before: first, after: second })
  assert.deepEqual((await propertiesOf(library))['size'], { type: 'string' })
  const v2 = await library.v2()
  assert.ok(v2.json.includes(`"${kind}":`))
  assert.equal(await library.v2(), v2)

  registry.replace('example.com', { before: second, after: [] })
  assert.equal(library.v3(key), undefined)
  assert.ok(!(await library.v2()).json.includes(kind))
})

test('the contents of a custom schema are never interpreted as references or as parts of the document', async () => {
  const { registry, library } = start()
  const port = { 'x-kubernetes-int-or-string': true }
  const hostile = {
    type: 'object',
    default: { $ref: '#/components/schemas/none', 'x-kubernetes-int-or-string': true },
  }
  const named = {
    default: port,
    properties: { type: 'object', properties: { __proto__own: port } },
  }
  registry.replace('example.com', {
    before: [],
    after: wheels({ hostile, ...named, metadata: { type: 'object' } }),
  })
  const properties = await propertiesOf(library)
  assert.deepEqual(properties['hostile'], {
    default: { $ref: '#/components/schemas/none', 'x-kubernetes-int-or-string': true },
    type: 'object',
  })
  assert.ok(fieldsOf(properties['default'])['anyOf'] !== undefined)
  assert.ok(fieldsOf(properties['metadata'])['allOf'] !== undefined)
  const v3 = await library.v3(key)
  assert.ok(v3 !== undefined && (await v3.protobuf(encodeV3)).includes(kind))
  assert.ok((await (await library.v2()).protobuf(encodeV2)).includes(kind))
})

test('the OpenAPI documents of custom resources list fewer groups for DeleteOptions than other OpenAPI documents', async () => {
  const { registry, library } = start()
  registry.replace('example.com', { before: [], after: wheels({}) })
  const groupsIn = async (document: string): Promise<readonly unknown[]> => {
    const { components } = fieldsOf(
      parseJson((await library.v3(document))?.json ?? Buffer.from('{}')),
    )
    const schemas = fieldsOf(fieldsOf(components)['schemas'])
    const options = fieldsOf(schemas['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'])
    return itemsOf(options['x-kubernetes-group-version-kind']).map(({ group }) => group)
  }
  assert.ok((await groupsIn('apis/apps/v1')).includes('admission.k8s.io'))
  const custom = await groupsIn(key)
  assert.ok(custom.includes('apps') && !custom.includes('admission.k8s.io'))
})

test('operations of custom resources reference their own kind, and reads accept a resourceVersion', async () => {
  const { registry, library } = start()
  registry.replace('example.com', { before: [], after: wheels({}) })
  const { paths } = fieldsOf(parseJson((await library.v3(key))?.json ?? Buffer.from('{}')))
  for (const part of ['', '/scale']) {
    const read = fieldsOf(fieldsOf(fieldsOf(paths)[`/${key}/wheels/{name}${part}`])['get'])
    const group = { group: 'example.com', kind: 'Wheel', version: 'v1' }
    assert.deepEqual(read['x-kubernetes-group-version-kind'], group)
    assert.deepEqual(
      itemsOf(read['parameters']).map(({ name }) => name),
      ['resourceVersion'],
    )
  }
})

test('the examples in the schemas of custom resources are not published', async () => {
  const { registry, library } = start()
  const example = { type: 'string', example: 'one', externalDocs: { url: 'https://example.com' } }
  registry.replace('example.com', { before: [], after: wheels({ size: example, example }) })
  const properties = await propertiesOf(library)
  assert.deepEqual(properties['size'], { type: 'string' })
  assert.deepEqual(properties['example'], { type: 'string' })
})

test('integers that a JavaScript number cannot represent are published with all digits', async () => {
  const { registry, library } = start()
  const size = {
    type: 'integer',
    maxLength: 9223372036854775807n,
    default: 9007199254740993n,
    enum: [9007199254740993n],
  }
  registry.replace('example.com', { before: [], after: wheels({ size }) })
  assert.deepEqual((await propertiesOf(library))['size'], size)
  const v3 = await library.v3(key)
  assert.ok(v3 !== undefined && (await v3.protobuf(encodeV3)).includes('9007199254740993'))
  const v2 = await library.v2()
  assert.ok(v2.json.includes('"enum":[9007199254740993]'))
  assert.ok((await v2.protobuf(encodeV2)).includes(kind))
})

test('a key such as `constructor`, which every JavaScript object has, does not find a document', () => {
  const { library } = start()
  for (const name of [
    'constructor',
    '__proto__',
    'apis/__proto__',
    'apis/constructor/v1',
    'api/toString',
    '',
  ]) {
    assert.equal(library.v3(name), undefined, name)
  }
})

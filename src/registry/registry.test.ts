import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInResources } from './built-in.ts'
import { customResources } from './custom/custom-resource.ts'
import { readCrd } from './custom/crd.ts'
import { Registry } from './registry.ts'

const resourcesOf = (plural: string, group = 'example.com', version = 'v1') =>
  customResources(
    readCrd({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}`, uid: '1' },
      spec: {
        group,
        scope: 'Namespaced',
        names: {},
        versions: [
          {
            name: version,
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        ],
      },
      status: {
        acceptedNames: { plural, kind: plural, listKind: `${plural}List`, singular: plural },
      },
    }),
  )

test('adding or removing resources creates a new sorted list of the resources of their API group', () => {
  const registry = new Registry(builtInResources())
  const count = registry.all().length
  const [one, other] = [resourcesOf('widgets'), resourcesOf('gadgets')]
  registry.replace('example.com', { before: [], after: one })
  const first = registry.inGroup('example.com')
  registry.replace('example.com', { before: [], after: other })
  const second = registry.inGroup('example.com')
  assert.notEqual(first, second)
  assert.deepEqual(
    second.map(({ plural }) => plural),
    ['gadgets', 'widgets'],
  )
  assert.equal(registry.find({ group: 'example.com', version: 'v1', plural: 'widgets' }), one[0])
  registry.replace('example.com', { before: one, after: [] })
  registry.replace('example.com', { before: other, after: [] })
  assert.ok(!registry.groups.includes('example.com'))
  assert.equal(registry.all().length, count)
})

test('a CRD in a built-in API group neither adds nor removes resources', () => {
  const registry = new Registry(builtInResources())
  const group = 'networking.k8s.io'
  const builtIn = registry.inGroup(group)
  const ingresses = registry.find({ group, version: 'v1', plural: 'ingresses' })
  assert.ok(ingresses !== undefined)
  for (const [plural, version] of [
    ['ingresses', 'v1'],
    ['foos', 'v1'],
    ['foos', 'v7'],
  ] as const) {
    const [first, second] = [
      resourcesOf(plural, group, version),
      resourcesOf(plural, group, version),
    ]
    registry.replace(group, { before: [], after: first })
    registry.replace(group, { before: first, after: second })
    registry.replace(group, { before: second, after: [] })
    assert.ok(registry.find({ group, version: 'v1', plural: 'ingresses' }) === ingresses)
    assert.ok(registry.inGroup(group) === builtIn)
  }
})

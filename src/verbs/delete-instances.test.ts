import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../api/object.ts'
import { customResources } from '../registry/custom/custom-resource.ts'
import { readDefinition } from '../registry/custom/definition.ts'
import { ResourceKeys } from '../storage/keys.ts'
import { deleteInstances } from './delete-instances.ts'

const [resource] = customResources(
  readDefinition({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com', uid: '1' },
    spec: { group: 'example.com', versions: [{ name: 'v1', served: true, storage: true }] },
    status: { acceptedNames: { plural: 'widgets', kind: 'Widget' }, storedVersions: ['v1'] },
  }),
)

test('an object that is deleted already and held by a finalizer is left alone', async () => {
  const held = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/x'] }
  const objects: KubeObject[] = ['free', 'held'].map((name) => ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name, ...(name === 'held' ? held : {}) },
  }))
  const written: string[] = []
  const access = {
    keys: new ResourceKeys('/registry/', 'example.com/widgets', true),
    reader: {
      list: async () => ({
        items: objects.map((object) => ({ key: object.metadata.name ?? '', peek: () => object })),
      }),
    },
    store: { update: async (key: string) => void written.push(key) },
    decode: () => assert.fail(),
    now: () => '2026-01-01T00:00:00Z',
  }
  // @ts-expect-error -- only what is used of it
  assert.equal(await deleteInstances(resource ?? assert.fail(), access), 2)
  assert.deepEqual(written, ['free'])
})

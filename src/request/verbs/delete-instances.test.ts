import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { customResources } from '../../registry/custom/custom-resource.ts'
import { readCrd } from '../../registry/custom/crd.ts'
import { ResourceKeys } from '../../storage/keys.ts'
import { deleteInstances } from './delete-instances.ts'

const [resource] = customResources(
  readCrd({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com', uid: '1' },
    spec: { group: 'example.com', versions: [{ name: 'v1', served: true, storage: true }] },
    status: { acceptedNames: { plural: 'widgets', kind: 'Widget' }, storedVersions: ['v1'] },
  }),
)

const objectOf = (name: string, metadata: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, ...metadata },
})

type StoredInstance = { readonly createRevision: number; readonly object: KubeObject }

type RunOptions = {
  readonly found?: readonly StoredInstance[]
  /** Called with the number of objects for which a decision has been made so far. */
  readonly isDoomed?: (decided: number) => boolean
}

/**
 * Returns the decision for each object in `listed`: to delete the object, to change it, or to leave
 * it unchanged. `found` contains the objects that are stored when the decisions are made.
 */
async function run(
  listed: readonly StoredInstance[],
  { found = listed, isDoomed = () => true }: RunOptions = {},
): Promise<{ left: number; decided: Record<string, unknown> }> {
  const decided: Record<string, unknown> = {}
  const keyOf = ({ object }: StoredInstance): string => object.metadata.name ?? ''
  const access = {
    keys: new ResourceKeys('/registry/', 'example.com/widgets', true),
    reader: {
      list: async () => ({
        items: listed.map((one) => ({ ...one, key: keyOf(one), peek: () => one.object })),
      }),
    },
    storage: {
      store: {
        update: async (
          key: string,
          _: unknown,
          decide: (current: StoredInstance | undefined) => unknown,
        ) => {
          decided[key] = decide(found.find((one) => keyOf(one) === key))
        },
      },
      decode: () => assert.fail(),
    },
    now: () => '2026-01-01T00:00:00Z',
  }
  // @ts-expect-error -- the stub has only the members that are used
  const left = await deleteInstances(resource ?? assert.fail(), access, {
    isDoomed: async () => isDoomed(Object.keys(decided).length),
  })
  return { left, decided }
}

test('a custom object that is already being deleted and has a finalizer is skipped', async () => {
  const held = objectOf('held', {
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['example.com/x'],
  })
  const { left, decided } = await run([
    { createRevision: 5, object: objectOf('free') },
    { createRevision: 5, object: held },
  ])
  assert.deepEqual([left, decided], [1, { free: 'delete' }])
})

test('a custom object that was created after the list is not deleted, even if a listed object had the same name', async () => {
  const listed = [
    { createRevision: 5, object: objectOf('gone') },
    { createRevision: 5, object: objectOf('new') },
    { createRevision: 5, object: objectOf('old') },
  ]
  const found = [
    { createRevision: 9, object: objectOf('new') },
    { createRevision: 5, object: objectOf('old') },
  ]
  const { decided } = await run(listed, { found })
  assert.deepEqual(decided, { gone: 'unchanged', new: 'unchanged', old: 'delete' })
})

test('no object is deleted if the definition no longer exists at the first check, because a new definition may own the objects', async () => {
  const { left, decided } = await run([{ createRevision: 9, object: objectOf('a') }], {
    isDoomed: () => false,
  })
  assert.deepEqual([left, decided], [0, {}])
})

test('the remaining custom objects are not deleted if the definition is no longer being deleted', async () => {
  const listed = Array.from({ length: 1_000 }, (_, at) => ({
    createRevision: 5,
    object: objectOf(`w${at}`),
  }))
  const { decided } = await run(listed, { isDoomed: (count) => count < 100 })
  const count = Object.keys(decided).length
  assert.ok(count >= 100 && count < 300, `${count} were deleted`)
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { fieldsOf, itemsOf, type KubeObject } from '../api/object.ts'
import { customResources } from '../registry/custom/custom-resource.ts'
import { isClosedCrd, readCrd } from '../registry/custom/crd.ts'
import { cleanupFinalizer } from '../registry/kinds/apiextensions/crd-deletion.ts'
import { cleanUp, type CrdCleanupOptions } from './crd-cleanup.ts'

const doomed: KubeObject = {
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1',
  metadata: {
    name: 'widgets.example.com',
    uid: '1',
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['example.com/mine', cleanupFinalizer],
  },
  spec: {
    group: 'example.com',
    versions: [
      { name: 'v2', served: true, storage: false },
      { name: 'v1', served: false, storage: true },
    ],
  },
  status: { conditions: [{ type: 'Established', status: 'True' }] },
}

type Write = (decide: (object: KubeObject) => KubeObject | undefined) => string | undefined

const withVersion = (object: KubeObject, version: number): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: String(version) },
})

/**
 * Runs the cleanup once. In the result, `written` is the CustomResourceDefinition after the
 * cleanup.
 */
async function run(
  options: Partial<CrdCleanupOptions> | ((write: Write) => Partial<CrdCleanupOptions>),
  given = doomed,
): Promise<{ result: unknown; written: KubeObject }> {
  let written = withVersion(given, 1)
  const write: Write = (decide) => {
    const next = decide(written)
    const version = Number(written.metadata.resourceVersion)
    if (next !== undefined) written = withVersion(next, version + 1)
    return written.metadata.resourceVersion
  }
  const all: CrdCleanupOptions = {
    changeStatus: async (_, decide) => write(decide),
    release: async (_, decide) => void write(decide),
    deleteObjects: async () => 0,
    isBuiltInPlace: () => false,
    now: () => '2026-01-01T00:00:00Z',
    ...(typeof options === 'function' ? options(write) : options),
  }
  const resources = customResources(readCrd(given))
  const result = await cleanUp(
    { name: 'widgets.example.com', object: given, resources },
    all,
  ).catch(String)
  return { result, written }
}

const reported = ({ metadata, ...object }: KubeObject): unknown => {
  const conditions = itemsOf(fieldsOf(object['status'])['conditions'])
  const { status, reason } = conditions.find(({ type }) => type === 'Terminating') ?? {}
  return [metadata.finalizers, status, reason]
}

test('the custom resources of a deleted definition are deleted in the storage version, even if this version is not served', async () => {
  const deleted: string[] = []
  const { result, written } = await run({
    deleteObjects: async ({ version }) => (deleted.push(version), 0),
  })
  assert.deepEqual([result, deleted], [undefined, ['v1', 'v1']])
  assert.deepEqual(reported(written), [['example.com/mine'], 'False', 'InstanceDeletionCompleted'])
})

test('a definition is kept while finalizers retain its custom resources', async () => {
  const { result, written } = await run({ deleteObjects: async () => 1 })
  assert.equal(typeof result, 'number')
  assert.deepEqual(reported(written), [
    ['example.com/mine', cleanupFinalizer],
    'True',
    'InstanceDeletionInProgress',
  ])
})

test('before the last custom resources are deleted, a condition in the status of the definition prevents the creation of new ones', async () => {
  const seen: boolean[] = []
  const { result, written } = await run((write) => ({
    deleteObjects: async () => {
      write((object) => void seen.push(isClosedCrd(object)))
      return 0
    },
  }))
  assert.deepEqual([result, seen], [undefined, [false, true]])
  assert.equal(isClosedCrd(written), false)
})

test('a definition is kept if it changes after the creation of its custom resources was stopped', async () => {
  let lists = 0
  const { result, written } = await run((write) => ({
    deleteObjects: async () => {
      if (++lists === 2) write((object) => ({ ...object, status: {} }))
      return 0
    },
  }))
  assert.equal(typeof result, 'number')
  assert.deepEqual(written.metadata.finalizers, ['example.com/mine', cleanupFinalizer])
})

test('custom resources cannot be created while the last ones of a deleted definition have finalizers', async () => {
  let lists = 0
  const { result, written } = await run({ deleteObjects: async () => lists++ })
  assert.equal(typeof result, 'number')
  assert.equal(isClosedCrd(written), true)
  const again = await run({ deleteObjects: async () => 1 }, written)
  assert.equal(isClosedCrd(again.written), true)
})

test('if the deletion of objects fails, the status of their definition reports the failure, and the definition is kept', async () => {
  const { result, written } = await run({
    deleteObjects: () => Promise.reject(new Error('no answer')),
  })
  assert.equal(result, 'Error: no answer')
  assert.deepEqual(reported(written), [
    ['example.com/mine', cleanupFinalizer],
    'True',
    'InstanceDeletionFailed',
  ])
})

test('an error is thrown if the finalizer cannot be removed', async () => {
  const { result } = await run({ release: () => Promise.reject(new Error('answered 500')) })
  assert.equal(result, 'Error: answered 500')
})

test('objects of a built-in resource with the same key prefix are not deleted', async () => {
  const { written } = await run({ isBuiltInPlace: () => true, deleteObjects: () => assert.fail() })
  assert.deepEqual(reported(written), [['example.com/mine'], 'False', 'OverlappingBuiltInResource'])
})

test('the objects of a definition that was never established are not listed', async () => {
  const { written } = await run({ deleteObjects: () => assert.fail() }, { ...doomed, status: {} })
  assert.deepEqual(reported(written), [['example.com/mine'], 'False', 'NeverEstablished'])
})

test('objects are deleted only while the database still contains the same definition', async () => {
  const successor = {
    ...doomed,
    metadata: { name: 'widgets.example.com', uid: '2', finalizers: [cleanupFinalizer] },
  }
  for (const [found, expected] of [
    [doomed, true],
    [successor, false],
    [undefined, false],
  ] as const) {
    const answers: boolean[] = []
    await run({
      // Like a real store, call `decide` first with the cached state and then with the state in the
      // database.
      changeStatus: async (_, decide) => {
        decide(doomed)
        if (found !== undefined) decide(found)
        return found && '1'
      },
      deleteObjects: async (_, isDoomed) => (answers.push(await isDoomed()), 0),
    })
    assert.deepEqual(answers, [expected, expected])
  }
})

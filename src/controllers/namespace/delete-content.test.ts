import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { parseJson } from '../../api/json-value.ts'
import { fieldsOf, type KubeObject, textOf } from '../../api/object.ts'
import type { Handler } from '../../api/request.ts'
import { Item } from '../../storage/cache/item.ts'
import { checkArgs } from '../../config/config.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { Registry } from '../../registry/registry.ts'
import type { Resource } from '../../registry/resource.ts'
import { ResourceKeys } from '../../storage/keys.ts'
import { type ContentOptions, deleteContent } from './delete-content.ts'

function registryOf(...plurals: readonly string[]): Registry {
  const checked = checkArgs(['--etcd-servers=http://127.0.0.1:1'])
  assert.ok(checked.kind === 'config')
  const { featureGates: gates, runtime } = checked.config
  const all = builtInResources({
    allowsPrivileged: true,
    storedAs: 'protobuf',
    ipFamily: 'IPv4',
    gates,
    isServed: runtime.isServed,
    now: () => '',
  })
  return new Registry(all.filter(({ plural }) => plurals.includes(plural)))
}

function itemOf(key: string, object: KubeObject): Item {
  const home = {
    codec: {
      decode: () => object,
      print: () => ({ bytes: Buffer.alloc(0), headBytes: 0, versionAt: 0 }),
    },
    put: () => undefined,
    view: () => Buffer.alloc(0),
    keep: () => undefined,
  }
  const item = new Item(home, { key, revision: 1, createRevision: 1 })
  item.decoded = object
  return item
}

const none = () => assert.fail()

const namespace: KubeObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'n', uid: 'old' },
}

/**
 * Creates a namespace with ConfigMaps that have these names and uids. `deletes` records the names
 * of deleted ConfigMaps.
 */
function content(uids: Map<string, string>, afterList: () => void = () => undefined) {
  const deletes: string[] = []
  const handle: Handler = async (request) => {
    const name = request.path.slice(request.path.lastIndexOf('/') + 1)
    const { uid } = fieldsOf(fieldsOf(parseJson(await request.body()))['preconditions'])
    deletes.push(name)
    const isIt = uid === undefined || uid === uids.get(name)
    if (isIt) uids.delete(name)
    return { status: isIt ? 200 : 409, headers: {}, body: Buffer.from('{}') }
  }
  const accessOf = ({ plural, isNamespaced }: Resource): ReturnType<ContentOptions['accessOf']> => {
    const keys = new ResourceKeys('/registry/', plural, isNamespaced)
    const list = async () => {
      const items = Array.from(uids, ([name, uid]) =>
        itemOf(keys.key('n', name), {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name, uid },
        }),
      )
      afterList()
      return { items, revision: 1, more: false, remaining: 0 }
    }
    return { keys, reader: { known: none, get: none, watch: none, list } }
  }
  const { signal } = new AbortController()
  const parts = {
    handle,
    registry: registryOf('configmaps'),
    accessOf,
    podsFirst: true,
    wallMs: () => 0,
    signal,
  }
  return { deletes, parts }
}

test('an object is not deleted if it has replaced another object with the same name', async () => {
  const uids = new Map([['a', '1']])
  const { deletes, parts } = content(uids, () => uids.set('a', '2'))
  const { faults } = await deleteContent(namespace, { ...parts, isEnding: async () => true })
  assert.deepEqual(deletes, ['a'])
  assert.deepEqual([...uids], [['a', '2']])
  assert.match(textOf(faults[0]), /unexpected items still remain/)
})

test('no object is deleted if the namespace was replaced by a new one with the same name', async () => {
  const { deletes, parts } = content(new Map([['a', '1']]))
  const { faults } = await deleteContent(namespace, { ...parts, isEnding: async () => false })
  assert.deepEqual(deletes, [])
  assert.deepEqual(faults, ['the namespace is no longer being deleted'])
})

test('the deletion stops when the namespace is no longer being deleted', async () => {
  const { deletes, parts } = content(
    new Map(Array.from({ length: 1_000 }, (_, index) => [`c${index}`, '1'])),
  )
  const { faults } = await deleteContent(namespace, {
    ...parts,
    isEnding: async () => deletes.length < 100,
  })
  assert.ok(deletes.length < 300, `${deletes.length} were deleted`)
  assert.deepEqual(faults, ['the namespace is no longer being deleted'])
})

test('no other object is deleted while a pod cannot be deleted', async () => {
  const { deletes, parts } = content(new Map([['a', '1']]))
  const refused = { kind: 'Status', message: 'not now' }
  const handle: Handler = async (request, user) => {
    if (!request.path.includes('/pods/')) return parts.handle(request, user)
    return { status: 429, headers: {}, body: Buffer.from(JSON.stringify(refused)) }
  }
  const registry = registryOf('pods', 'configmaps')
  const { faults } = await deleteContent(namespace, {
    ...parts,
    handle,
    registry,
    isEnding: async () => true,
  })
  assert.match(textOf(faults[0]), /not now/)
  assert.deepEqual(deletes, [])
})

test('the event loop is not blocked while a very large number of pods is processed', async () => {
  const { parts } = content(new Map(Array.from({ length: 100 }, (_, index) => [`p${index}`, '1'])))
  let reads = 0
  let most = 0
  const slow = (item: Item): Item =>
    Object.defineProperty(item, 'decoded', {
      get: (object = { apiVersion: 'v1', kind: 'Pod', metadata: { deletionTimestamp: 'now' } }) => {
        reads++
        for (const endMs = performance.now() + 0.5; performance.now() < endMs; );
        return object
      },
    })
  const accessOf: ContentOptions['accessOf'] = (resource) => {
    const { keys, reader } = parts.accessOf(resource)
    const list: typeof reader.list = async (range, at) => {
      const listed = await reader.list(range, at)
      return { ...listed, items: listed.items.map(slow) }
    }
    return { keys, reader: { ...reader, list } }
  }
  let isDone = false
  const counting = (async () => {
    for (let before = 0; !isDone; before = reads) {
      await turn()
      most = Math.max(most, reads - before)
    }
  })()
  await deleteContent(namespace, {
    ...parts,
    registry: registryOf('pods'),
    accessOf,
    isEnding: async () => true,
  })
  isDone = true
  await counting
  assert.ok(reads >= 300 && most < 50, `${most} of ${reads} in one turn`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { fieldsOf, type KubeObject } from '../api/object.ts'
import { LateFrames, type WatchEvent } from '../storage/cache/event.ts'
import { Item } from '../storage/cache/item.ts'
import { EvictionQueue } from '../storage/cache/eviction-queue.ts'
import type { EventSource } from '../storage/cache/watch.ts'
import { silent } from '../lib/telemetry/log.ts'
import { systemTimers } from '../lib/time/timers.ts'
import { Registry } from '../registry/registry.ts'
import { StorageError } from '../storage/errors.ts'
import { cleanupFinalizer } from '../registry/kinds/apiextensions/crd-deletion.ts'
import { CrdController, type CrdControllerOptions } from './crds.ts'

const crd = (plural: string, isAccepted: boolean): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com`, uid: plural, generation: 1 },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: {
      plural,
      kind: plural,
      singular: plural,
      listKind: `${plural}List`,
      shortNames: ['same'],
    },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
    ],
  },
  status: {
    storedVersions: ['v1'],
    acceptedNames: isAccepted
      ? { plural, kind: plural, singular: plural, listKind: `${plural}List`, shortNames: ['same'] }
      : { plural, kind: plural, singular: plural, listKind: `${plural}List` },
    conditions: [
      isAccepted
        ? {
            type: 'NamesAccepted',
            status: 'True',
            reason: 'NoConflicts',
            message: 'no conflicts found',
          }
        : {
            type: 'NamesAccepted',
            status: 'False',
            reason: 'ShortNamesConflict',
            message: '"same" is already in use',
          },
      isAccepted
        ? {
            type: 'Established',
            status: 'True',
            reason: 'InitialNamesAccepted',
            message: 'the initial names have been accepted',
          }
        : {
            type: 'Established',
            status: 'False',
            reason: 'NotAccepted',
            message: 'not all names are accepted',
          },
    ],
  },
})

function itemOf(object: KubeObject): Item {
  const home = {
    codec: {
      decode: () => object,
      print: () => ({ bytes: Buffer.alloc(0), headBytes: 0, versionAt: 0 }),
    },
    put: () => undefined,
    view: () => Buffer.alloc(0),
    keep: () => undefined,
  }
  const item = new Item(home, { key: `/r/${object.metadata.name}`, revision: 1, createRevision: 1 })
  item.decoded = object
  return item
}

/**
 * Creates a watch that delivers the given batches of events. After that, it delivers each event
 * that is passed to `tell`.
 */
function sourceOf(
  ...reported: WatchEvent[][]
): EventSource & { readonly tell: (event: WatchEvent) => void } {
  let isClosed = false
  let ready: (() => void) | undefined
  return {
    get state() {
      return isClosed ? ('closed' as const) : ('live' as const)
    },
    hasNews: true,
    take: () => reported.shift() ?? [],
    onReady: (call) => {
      ready = call
    },
    requestBookmark: () => undefined,
    tell: (event) => {
      reported.push([event])
      ready?.()
    },
    close: () => {
      isClosed = true
      ready?.()
    },
  }
}

const frames = new LateFrames(new EvictionQueue(0))
const added = (object: KubeObject): WatchEvent => frames.shown('ADDED', 1, itemOf(object))
const listEnd: WatchEvent = { type: 'BOOKMARK', revision: 1, initialEventsEnd: true }

const unused = async (): Promise<never> => {
  throw new StorageError('unavailable', 'not expected in this test')
}

const partsOf = (
  watch: () => Promise<EventSource>,
  others: Partial<CrdControllerOptions> = {},
): CrdControllerOptions => ({
  registry: new Registry([]),
  reader: { known: () => undefined, get: unused, list: unused, expect: () => undefined, watch },
  range: { from: '/r/', to: '/r0' },
  life: () => 1,
  changeStatus: async () => '1',
  isBuiltInPlace: () => false,
  release: unused,
  deleteObjects: unused,
  forget: () => undefined,
  announce: async () => undefined,
  listAnnounced: async () => [],
  now: () => '2026-01-01T00:00:00Z',
  log: silent,
  ...others,
})

test('when another definition is deleted, a refused definition is rechecked once, even if it is refused again', {
  timeout: 120_000,
}, async () => {
  const has = crd('has', true)
  const refused = crd('refused', false)
  const other = crd('other', false)
  const reported = [
    ...[has, refused, other].map(added),
    listEnd,
    frames.shown('DELETED', 2, itemOf(other)),
  ]
  const registry = new Registry([])
  await using crds = new CrdController(partsOf(async () => sourceOf(reported), { registry }))
  await crds.start()
  assert.deepEqual(
    registry.inGroup('example.com').map(({ plural }) => plural),
    ['has'],
  )
})

test('the names of a definition are not accepted before all definitions are listed', {
  timeout: 120_000,
}, async () => {
  const late = crd('late', true)
  const source = sourceOf([added(crd('early', false))], [added(late), listEnd])
  const written: unknown[] = []
  const changeStatus: CrdControllerOptions['changeStatus'] = async (_, decide) => {
    const next = decide(crd('early', false))
    if (next !== undefined)
      written.push(fieldsOf(fieldsOf(next['status'])['acceptedNames'])['shortNames'])
    return '1'
  }
  await using crds = new CrdController(partsOf(async () => source, { changeStatus }))
  await crds.start()
  await turn()
  assert.deepEqual(written, [])
  source.tell(frames.shown('DELETED', 2, itemOf(late)))
  await turn()
  assert.deepEqual(written, [['same']])
})

test('a definition that is listed again after its cleanup is cleaned up again', {
  timeout: 120_000,
}, async () => {
  const gone = crd('gone', true)
  const metadata = {
    ...gone.metadata,
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: [cleanupFinalizer],
  }
  const doomed = { ...gone, metadata }
  const sources = [sourceOf([added(doomed), listEnd]), sourceOf([added(doomed), listEnd])]
  const [first] = sources
  let released = 0
  const again = Promise.withResolvers<void>()
  const release = async (): Promise<void> => {
    if (++released === 1) first?.close()
    else again.resolve()
  }
  const watch = async (): Promise<EventSource> => sources.shift() ?? sourceOf()
  await using crds = new CrdController(partsOf(watch, { release, deleteObjects: async () => 0 }))
  await crds.start()
  await again.promise
})

test('a definition that is read from a different database is served again, even if the revision is the same', {
  timeout: 120_000,
}, async () => {
  const widgets = crd('widgets', true)
  const [first, second] = [sourceOf([added(widgets), listEnd]), sourceOf([added(widgets), listEnd])]
  const lists = [first, second, sourceOf([added(widgets), listEnd])]
  let lives = 1
  const again = Promise.withResolvers<void>()
  const watch = async (): Promise<EventSource> => lists.shift() ?? sourceOf()
  const parts = partsOf(watch, { forget: () => again.resolve(), life: () => lives })
  await using crds = new CrdController(parts)
  await crds.start()
  const [served] = parts.registry.inGroup('example.com')
  first.close()
  while (lists.length > 1) await sleep(10)
  await turn()
  assert.equal(parts.registry.inGroup('example.com')[0], served)
  lives = 2
  second.close()
  await again.promise
  assert.notEqual(parts.registry.inGroup('example.com')[0], served)
})

test('a definition that still exists after its cleanup is cleaned up again', {
  timeout: 120_000,
}, async () => {
  const gone = crd('gone', true)
  const metadata = {
    ...gone.metadata,
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: [cleanupFinalizer],
  }
  const source = sourceOf([added({ ...gone, metadata }), listEnd])
  let released = 0
  const again = Promise.withResolvers<void>()
  // After a restore from a backup, a write that was acknowledged can be missing, and the server may
  // not notice that the database was replaced.
  const release = async (): Promise<void> => {
    if (++released === 2) again.resolve()
  }
  const timers = {
    ...systemTimers,
    after: (_: number, run: () => void) => systemTimers.after(1, run),
  }
  const parts = partsOf(async () => source, { release, deleteObjects: async () => 0, timers })
  await using crds = new CrdController(parts)
  await crds.start()
  await again.promise
})

test('a failed creation of an APIService is retried', { timeout: 120_000 }, async () => {
  const tries: unknown[] = []
  const done = Promise.withResolvers<void>()
  const announce: CrdControllerOptions['announce'] = async (place, isServed) => {
    tries.push([place, isServed])
    if (tries.length === 1) throw new Error('answered 500')
    done.resolve()
  }
  const source = sourceOf([added(crd('wheels', true)), listEnd])
  await using crds = new CrdController(partsOf(async () => source, { announce }))
  await crds.start()
  await done.promise
  const place = { group: 'example.com', version: 'v1' }
  assert.deepEqual(tries, [
    [place, true],
    [place, true],
  ])
})

const listAnnounced = async (): Promise<string[]> => ['gone.example.com/v1', 'example.com/v1']

test('the APIService of a definition is deleted if the definition was deleted while there was no watch', {
  timeout: 120_000,
}, async () => {
  const reported: unknown[] = []
  const done = Promise.withResolvers<void>()
  const announce: CrdControllerOptions['announce'] = async (place, isServed) => {
    reported.push([`${place.group}/${place.version}`, isServed])
    if (!isServed) done.resolve()
  }
  const source = sourceOf([added(crd('wheels', true)), listEnd])
  await using crds = new CrdController(partsOf(async () => source, { announce, listAnnounced }))
  await crds.start()
  await done.promise
  assert.deepEqual(reported, [
    ['example.com/v1', true],
    ['gone.example.com/v1', false],
  ])
})

test('no APIService is deleted while a definition cannot be read', {
  timeout: 120_000,
}, async () => {
  const reported: unknown[] = []
  const done = Promise.withResolvers<void>()
  const announce: CrdControllerOptions['announce'] = async (place, isServed) => {
    reported.push([`${place.group}/${place.version}`, isServed])
    if (place.group === 'gone.example.com') done.resolve()
  }
  const wheels = crd('wheels', true)
  const bogus = itemOf(crd('bogus', true))
  bogus.peek = () => assert.fail('the stored bytes are not JSON')
  const source = sourceOf([added(wheels), frames.shown('ADDED', 1, bogus), listEnd])
  await using crds = new CrdController(partsOf(async () => source, { announce, listAnnounced }))
  await crds.start()
  source.tell(frames.shown('DELETED', 2, itemOf(wheels)))
  for (let turns = 0; turns < 20; turns++) await turn()
  assert.deepEqual(reported, [['example.com/v1', true]])
  source.tell(frames.shown('DELETED', 3, bogus))
  await done.promise
  assert.deepEqual(
    reported.slice(1).toSorted((one, other) => (String(one[0]) < String(other[0]) ? -1 : 1)),
    [
      ['example.com/v1', false],
      ['gone.example.com/v1', false],
    ],
  )
})

test('definitions are served even if the APIServices cannot be listed', {
  timeout: 120_000,
}, async () => {
  const registry = new Registry([])
  const source = sourceOf([added(crd('wheels', true)), listEnd])
  await using crds = new CrdController(
    partsOf(async () => source, { registry, listAnnounced: unused }),
  )
  await crds.start()
  assert.equal(registry.inGroup('example.com').length, 1)
})

test('the controller stops without waiting for a watch that is being opened, and closes the watch if it opens later', {
  timeout: 120_000,
}, async () => {
  const { promise, resolve } = Promise.withResolvers<EventSource>()
  const crds = new CrdController(partsOf(() => promise))
  const started = crds.start()
  await crds[Symbol.asyncDispose]()
  await started
  const late = sourceOf()
  resolve(late)
  await turn()
  assert.equal(late.state, 'closed')
})

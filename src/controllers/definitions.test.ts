import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../api/object.ts'
import type { WatchEvent } from '../cache/event.ts'
import { shownItem } from '../cache/event.ts'
import { Item } from '../cache/item.ts'
import type { EventSource } from '../cache/watch.ts'
import { silent } from '../lib/log.ts'
import { Registry } from '../registry/registry.ts'
import { StorageError } from '../storage/errors.ts'
import { Definitions, type DefinitionsParts } from './definitions.ts'

const definition = (plural: string, isAccepted: boolean): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com`, uid: plural, generation: 1 },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, kind: plural, singular: plural, listKind: `${plural}List`, shortNames: ['same'] },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
  status: {
    storedVersions: ['v1'],
    acceptedNames: isAccepted
      ? { plural, kind: plural, singular: plural, listKind: `${plural}List`, shortNames: ['same'] }
      : { plural, kind: plural, singular: plural, listKind: `${plural}List` },
    conditions: [
      isAccepted
        ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
        : { type: 'NamesAccepted', status: 'False', reason: 'ShortNamesConflict', message: '"same" is already in use' },
      isAccepted
        ? {
            type: 'Established',
            status: 'True',
            reason: 'InitialNamesAccepted',
            message: 'the initial names have been accepted',
          }
        : { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
    ],
  },
})

function itemOf(object: KubeObject): Item {
  const home = {
    form: { decode: () => object, print: () => ({ bytes: Buffer.alloc(0), headBytes: 0, versionAt: 0 }) },
    put: () => undefined,
    view: () => Buffer.alloc(0),
    keep: () => undefined,
  }
  const item = new Item(home, { key: `/r/${object.metadata.name}`, revision: 1, createRevision: 1 })
  item.decoded = object
  return item
}

/** A watch that tells this and then nothing. */
function sourceOf(told: WatchEvent[]): EventSource {
  let isClosed = false
  let ready: (() => void) | undefined
  return {
    get state() {
      return isClosed ? ('closed' as const) : ('live' as const)
    },
    hasNews: true,
    take: () => told.splice(0),
    onReady: (call) => {
      ready = call
    },
    requestBookmark: () => undefined,
    close: () => {
      isClosed = true
      ready?.()
    },
  }
}

const unused = async (): Promise<never> => {
  throw new StorageError('unavailable', 'not asked for here')
}

test('a definition that stays refused when another one goes is looked at once', { timeout: 5_000 }, async () => {
  const has = definition('has', true)
  const refused = definition('refused', false)
  const other = definition('other', false)
  const told: WatchEvent[] = [
    ...[has, refused, other].map((object) => shownItem('ADDED', 1, itemOf(object))),
    { type: 'BOOKMARK', revision: 1, initialEventsEnd: true },
    shownItem('DELETED', 2, itemOf(other)),
  ]
  const registry = new Registry([])
  const written: string[] = []
  const reader: DefinitionsParts['reader'] = {
    known: () => undefined,
    get: unused,
    list: unused,
    expect: () => undefined,
    watch: async () => sourceOf(told),
  }
  await using definitions = new Definitions({
    registry,
    reader,
    range: { from: '/r/', to: '/r0' },
    changeStatus: async (name) => written.push(name) > 0,
    isBuiltInPlace: () => false,
    release: unused,
    deleteObjects: unused,
    forget: () => undefined,
    announce: async () => undefined,
    now: () => '2026-01-01T00:00:00Z',
    log: silent,
  })
  await definitions.start()
  assert.deepEqual(
    registry.inGroup('example.com').map(({ plural }) => plural),
    ['has'],
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeObject } from '../../api/object.ts'
import { request } from '../../api/own-request.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { Item } from '../../storage/cache/item.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { silent } from '../../lib/telemetry/log.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { systemTime, type Time } from '../../lib/time/timers.ts'
import type { Resource } from '../../registry/resource.ts'
import { StorageError } from '../../storage/errors.ts'
import { builtIn, MemoryControlPlane } from '../../../test/support/harness/memory-control-plane.ts'
import { QueueMetrics } from '../../lib/telemetry/queue-metrics.ts'
import type { CacheAccess, CacheAccessOf } from '../cache-access.ts'
import { GarbageCollector } from './garbage-collector.ts'
import { FEW_DEPENDENTS_MAX } from './graph.ts'

const configMaps = builtIn('configmaps')
/** A resource of a group that tests add and remove. */
const gears: Resource = {
  ...configMaps,
  group: 'example.com',
  kind: 'Gear',
  plural: 'gears',
  isCustom: true,
}

const gear = (name: string): KubeObject => objectOf(gears, name, [])

type Owner = {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
}
const ownerOf = ({ apiVersion, kind, metadata: { name = '', uid = '' } }: KubeObject): Owner => ({
  apiVersion,
  kind,
  name,
  uid,
})

const objectOf = (
  { group, kind }: Resource,
  name: string,
  ownerReferences: readonly Owner[],
): KubeObject => ({
  apiVersion: group === '' ? 'v1' : `${group}/v1`,
  kind,
  metadata: { name, namespace: 'n', uid: `uid-${name}`, ownerReferences },
})

async function until(isDone: () => MaybePromise<boolean>): Promise<void> {
  const endMs = performance.now() + 30_000
  while (!(await isDone())) {
    assert.ok(performance.now() < endMs, 'not within half a minute')
    await sleep(10)
  }
}

const isThere = async (
  { accessOf }: MemoryControlPlane,
  resource: Resource,
  name: string,
): Promise<boolean> => {
  const { keys, reader } = accessOf(resource)
  return (await reader.get(keys.key('n', name), 'latest')).item !== undefined
}

async function remove(
  { handle }: MemoryControlPlane,
  resource: Resource,
  name: string,
  body: { readonly propagationPolicy?: string } = {},
): Promise<void> {
  const { signal } = new AbortController()
  const base = resource.group === '' ? '/api/v1' : `/apis/${resource.group}/v1`
  const path = `${base}/namespaces/n/${resource.plural}/${name}`
  assert.equal((await request(handle, { method: 'DELETE', path, body, signal })).status, 200)
}

async function collecting(
  plane: MemoryControlPlane,
  accessOf: CacheAccessOf,
  time: Time = systemTime,
): Promise<GarbageCollector> {
  const { handle, registry } = plane
  const metrics = new QueueMetrics(new Metrics())
  const collector = new GarbageCollector({
    handle,
    registry,
    accessOf,
    metrics,
    clock: systemClock,
    log: silent,
    time,
  })
  await until(() => collector.isFilled)
  return collector
}

/** Timers with at least this delay check objects whose owners are not in the graph yet. */
const LONG_MS = 500

test('dependents are deleted if their owner is deleted while the resource of the owner is being listed again', async () => {
  /**
   * Delays until the collector checks objects whose owners are not listed yet. These timers never
   * fire in this test, because the objects are checked as soon as the initial list is complete.
   */
  const waits: number[] = []
  const time: Time = {
    ...systemTime,
    after: (ms, run) => {
      if (ms < LONG_MS) return systemTime.after(ms, run)
      waits.push(ms)
      return { close: () => undefined }
    },
  }
  await using plane = await MemoryControlPlane.start([configMaps])
  plane.registry.replace('example.com', { before: [], after: [gears] })
  const listing = Promise.withResolvers<void>()
  let isOpening = false
  /**
   * When the resource is registered again, this reader replaces the previous one. It has not read
   * any objects yet.
   */
  const late: { reader?: CacheAccess['reader'] } = {}
  const accessOf = (resource: Resource): CacheAccess => {
    const access = plane.accessOf(resource)
    return resource.plural === 'gears' ? { ...access, ...late } : access
  }
  await using collector = await collecting(plane, accessOf, time)
  await plane.create(gears, gear('owner'))
  const { reader } = plane.accessOf(gears)
  late.reader = {
    known: () => undefined,
    get: (key, at) => reader.get(key, at),
    list: (range, at, options) => reader.list(range, at, options),
    watch: async (options) => {
      isOpening = true
      await listing.promise
      return reader.watch(options)
    },
  }
  plane.registry.replace('example.com', { before: [gears], after: [{ ...gears }] })
  await until(() => isOpening)
  await plane.create(configMaps, objectOf(configMaps, 'dependent', [ownerOf(gear('owner'))]))
  await until(() => collector.graph.size > 0 && waits.length > 0)
  assert.ok(await isThere(plane, configMaps, 'dependent'))
  await remove(plane, gears, 'owner')
  listing.resolve()
  await until(async () => !(await isThere(plane, configMaps, 'dependent')))
})

test('while a resource cannot be listed, dependents of its objects are checked once a minute', async () => {
  await using plane = await MemoryControlPlane.start([configMaps])
  plane.registry.replace('example.com', { before: [], after: [gears] })
  const listing = Promise.withResolvers<void>()
  let isOpening = false
  const late: { reader?: CacheAccess['reader'] } = {}
  const accessOf = (resource: Resource): CacheAccess => {
    const access = plane.accessOf(resource)
    return resource.plural === 'gears' ? { ...access, ...late } : access
  }
  const waits: number[] = []
  const time: Time = {
    ...systemTime,
    after: (ms, run) => {
      if (ms < LONG_MS) return systemTime.after(ms, run)
      waits.push(ms)
      return systemTime.after(1, run)
    },
  }
  await using collector = await collecting(plane, accessOf, time)
  await plane.create(gears, gear('owner'))
  const { reader } = plane.accessOf(gears)
  late.reader = {
    known: () => undefined,
    get: (key, at) => reader.get(key, at),
    list: (range, at, options) => reader.list(range, at, options),
    watch: async (options) => {
      isOpening = true
      await listing.promise
      return reader.watch(options)
    },
  }
  plane.registry.replace('example.com', { before: [gears], after: [{ ...gears }] })
  await until(() => isOpening)
  await plane.create(configMaps, objectOf(configMaps, 'dependent', [ownerOf(gear('owner'))]))
  await until(() => waits.length > 9)
  listing.resolve()
  await until(() => collector.pending === 0)
  const early = waits.slice(0, 10).filter((ms) => ms < 30_000 || ms > 60_000)
  assert.deepEqual(early, [])
})

test('when a new kind is served, dependents of missing owners of this kind are deleted, and other dependents are kept', async () => {
  await using plane = await MemoryControlPlane.start([configMaps])
  await using collector = await collecting(plane, plane.accessOf)
  await plane.create(gears, gear('present'))
  await plane.create(configMaps, objectOf(configMaps, 'kept', [ownerOf(gear('present'))]))
  await plane.create(configMaps, objectOf(configMaps, 'garbage', [ownerOf(gear('absent'))]))
  await plane.create(configMaps, objectOf(configMaps, 'deleted', [ownerOf(gear('absent'))]))
  await until(() => collector.unmapped === 3)
  await remove(plane, configMaps, 'deleted')
  await until(() => collector.unmapped === 2)
  plane.registry.replace('example.com', { before: [], after: [gears] })
  await until(async () => !(await isThere(plane, configMaps, 'garbage')))
  await until(() => collector.unmapped === 0 && collector.pending === 0)
  assert.ok(await isThere(plane, configMaps, 'kept'))
})

/** Returns an item that cannot be decrypted, like a Secret whose encryption key is lost. */
const unreadable = (item: Item | undefined): Item | undefined =>
  item &&
  Object.create(item, {
    decoded: { value: undefined },
    listTail: {
      value: () => {
        throw new StorageError('corrupt', 'it cannot be decrypted')
      },
    },
  })

test('dependents of an owner that cannot be decoded are kept, and other garbage is collected', async () => {
  const secrets = builtIn('secrets')
  await using plane = await MemoryControlPlane.start([configMaps, secrets])
  const owner = objectOf(secrets, 'owner', [])
  await plane.create(secrets, owner)
  let lists = 0
  const readers = new Map<string, CacheAccess['reader']>()
  const accessOf = (resource: Resource): CacheAccess => {
    const access = plane.accessOf(resource)
    const { reader } = access
    const isHidden = resource.plural === 'secrets'
    const read: CacheAccess['reader'] = {
      known: () => {
        const known = reader.known()
        if (known === undefined || !isHidden) return known
        return Object.create(known, { get: { value: (key: string) => unreadable(known.get(key)) } })
      },
      get: async (key, at) => {
        const answer = await reader.get(key, at)
        return isHidden ? { ...answer, item: unreadable(answer.item) } : answer
      },
      list: (range, at, options) => reader.list(range, at, options),
      watch: (options) => {
        lists++
        return reader.watch(options)
      },
    }
    // Each resource has one reader, as in the cache.
    const found = readers.get(resource.plural) ?? read
    readers.set(resource.plural, found)
    return { ...access, reader: found }
  }
  await using collector = await collecting(plane, accessOf)
  assert.equal(lists, 2)
  await plane.create(configMaps, objectOf(configMaps, 'dependent', [ownerOf(owner)]))
  await plane.create(
    configMaps,
    objectOf(configMaps, 'other', [ownerOf(objectOf(secrets, 'absent', []))]),
  )
  await until(async () => !(await isThere(plane, configMaps, 'other')))
  await until(() => collector.pending === 0)
  assert.ok(await isThere(plane, configMaps, 'dependent'))
  assert.equal(lists, 2)
})

test('dependents that cannot be decoded do not prevent other dependents from being orphaned', async () => {
  await using plane = await MemoryControlPlane.start([configMaps])
  const owner = objectOf(configMaps, 'owner', [])
  await plane.create(configMaps, owner)
  // There are more unreadable dependents than can be orphaned concurrently. They come first, so
  // they could keep the readable dependent from being orphaned.
  const lost = Array.from({ length: 40 }, (_, at) => `lost-${at}`)
  for (const name of [...lost, 'readable'])
    await plane.create(configMaps, objectOf(configMaps, name, [ownerOf(owner)]))
  let areLost = false
  const access = plane.accessOf(configMaps)
  const { reader } = access
  const reads: CacheAccess['reader'] = {
    known: () => reader.known(),
    get: (key, at) => {
      if (areLost && key.includes('/lost-'))
        throw new StorageError('corrupt', 'it cannot be decrypted')
      return reader.get(key, at)
    },
    list: (range, at, options) => reader.list(range, at, options),
    watch: (options) => reader.watch(options),
  }
  await using collector = await collecting(plane, () => ({ ...access, reader: reads }))
  areLost = true
  await remove(plane, configMaps, 'owner', { propagationPolicy: 'Orphan' })
  const owned = async (name: string): Promise<boolean> => {
    const { item } = await reader.get(access.keys.key('n', name), 'latest')
    return item?.peek().metadata.ownerReferences !== undefined
  }
  await until(async () => !(await owned('readable')))
  assert.ok(
    await isThere(plane, configMaps, 'owner'),
    'the owner stays until all dependents are orphaned',
  )
  assert.ok(await owned('lost-0'))
  areLost = false
  await until(async () => !(await isThere(plane, configMaps, 'owner')))
  for (const name of lost) assert.ok(!(await owned(name)), name)
  await until(() => collector.pending === 0)
})

for (const propagationPolicy of ['Background', 'Foreground', 'Orphan'])
  test(`an owner with many dependents is deleted with the policy ${propagationPolicy}`, async () => {
    await using plane = await MemoryControlPlane.start([configMaps])
    const owner = objectOf(configMaps, 'owner', [])
    await plane.create(configMaps, owner)
    const names = Array.from({ length: FEW_DEPENDENTS_MAX + 1 }, (_, at) => `dependent-${at}`)
    for (const name of names)
      await plane.create(configMaps, objectOf(configMaps, name, [ownerOf(owner)]))
    await using collector = await collecting(plane, plane.accessOf)
    await remove(plane, configMaps, 'owner', { propagationPolicy })
    await until(async () => !(await isThere(plane, configMaps, 'owner')))
    const { keys, reader } = plane.accessOf(configMaps)
    const expected = propagationPolicy === 'Orphan' ? names.length : 0
    await until(async () => (await reader.list(keys.range(), 'latest')).items.length === expected)
    await until(() => collector.pending === 0)
    for (const name of expected === 0 ? [] : names) {
      const { item } = await reader.get(keys.key('n', name), 'latest')
      assert.equal(item?.peek().metadata.ownerReferences, undefined, name)
    }
  })

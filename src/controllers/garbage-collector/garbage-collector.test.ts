import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeObject } from '../../api/object.ts'
import { request } from '../../api/own-request.ts'
import { systemClock } from '../../lib/clock.ts'
import { silent } from '../../lib/log.ts'
import { Metrics } from '../../lib/metrics.ts'
import type { Resource } from '../../registry/resource.ts'
import { builtIn, MemoryControlPlane } from '../../../test/harness/memory-control-plane.ts'
import { QueueMetrics } from '../queue-metrics.ts'
import type { ReadAccess, ReadAccessOf } from '../read-access.ts'
import { GarbageCollector } from './garbage-collector.ts'

const configMaps = builtIn('configmaps')
/** Of a group that may come and go. */
const gears: Resource = {
  ...configMaps,
  group: 'example.com',
  kind: 'Gear',
  plural: 'gears',
  isCustom: true,
}

const gear = (name: string): KubeObject => objectOf(gears, name, [])

type Owner = { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string }
const ownerOf = ({ apiVersion, kind, metadata: { name = '', uid = '' } }: KubeObject): Owner => ({
  apiVersion,
  kind,
  name,
  uid,
})

const objectOf = ({ group, kind }: Resource, name: string, ownerReferences: readonly Owner[]): KubeObject => ({
  apiVersion: group === '' ? 'v1' : `${group}/v1`,
  kind,
  metadata: { name, namespace: 'n', uid: `uid-${name}`, ownerReferences },
})

async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 30_000
  while (!(await isDone())) {
    assert.ok(performance.now() < endMs, 'not within half a minute')
    await sleep(10)
  }
}

const isThere = async ({ accessOf }: MemoryControlPlane, resource: Resource, name: string): Promise<boolean> => {
  const { keys, reader } = accessOf(resource)
  return (await reader.get(keys.key('n', name), 'latest')).item !== undefined
}

async function remove({ handle }: MemoryControlPlane, resource: Resource, name: string): Promise<void> {
  const { signal } = new AbortController()
  const base = resource.group === '' ? '/api/v1' : `/apis/${resource.group}/v1`
  const path = `${base}/namespaces/n/${resource.plural}/${name}`
  assert.equal((await request(handle, { method: 'DELETE', path, body: {}, signal })).status, 200)
}

async function collecting(plane: MemoryControlPlane, accessOf: ReadAccessOf): Promise<GarbageCollector> {
  const { handle, registry } = plane
  const metrics = new QueueMetrics(new Metrics())
  const collector = new GarbageCollector({ handle, registry, accessOf, metrics, clock: systemClock, log: silent })
  await until(() => collector.isFilled)
  return collector
}

test('an owner that goes before a new reader lists it leaves no garbage', async () => {
  await using plane = await MemoryControlPlane.start([configMaps])
  plane.registry.replace('example.com', { before: [], after: [gears] })
  const listing = Promise.withResolvers<void>()
  let isOpening = false
  /** The reader of the definition after a change: it has nothing in memory yet. */
  const late: { reader?: ReadAccess['reader'] } = {}
  const accessOf = (resource: Resource): ReadAccess => {
    const access = plane.accessOf(resource)
    return resource.plural === 'gears' ? { ...access, ...late } : access
  }
  await using collector = await collecting(plane, accessOf)
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
  await until(() => collector.graph.size > 0)
  assert.ok(await isThere(plane, configMaps, 'dependent'))
  await remove(plane, gears, 'owner')
  listing.resolve()
  await until(async () => !(await isThere(plane, configMaps, 'dependent')))
})

test('what an absent owner of an unknown kind owns goes when the kind comes, and what a present one owns stays', async () => {
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

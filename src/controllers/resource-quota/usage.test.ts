import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Evaluators } from '../../admission/resource-quota/evaluators.ts'
import { defaultGates } from '../../api/gates.ts'
import type { KubeObject } from '../../api/object.ts'
import { printResourceList } from '../../api/resource-list.ts'
import { printWire } from '../../objects/codec/object.ts'
import { Item } from '../../storage/cache/item.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { builtIn, MemoryControlPlane } from '../../../test/support/harness/memory-control-plane.ts'
import { ResourceKeys } from '../../storage/keys.ts'
import { isSameUse, limitsOf, usageOf } from './usage.ts'

const configMaps = builtIn('configmaps')

const quota = (
  hard: { readonly [name: string]: string },
  more: { readonly scopes?: string[] } = {},
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q', namespace: 'n' },
  spec: { hard, ...more },
})

const fail = () => assert.fail()

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n', resourceVersion: '7' },
  spec: { containers: [{ name: 'c', image: 'i', args: ['x'.repeat(100_000)] }] },
}

test('objects with a fixed usage are counted without decoding them', async () => {
  await using plane = await MemoryControlPlane.start([configMaps])
  for (const name of ['a', 'b', 'c']) {
    await plane.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'n' },
    })
  }
  const evaluator = new Evaluators(defaultGates, systemClock).of({ resource: configMaps })
  assert.ok(evaluator)
  const access = plane.accessOf(configMaps)
  const { items } = await access.reader.list(access.keys.range('n'), 'latest')
  for (const item of items) Object.defineProperty(item, 'peek', { value: () => assert.fail() })
  const counted = [{ ...access, resource: configMaps, evaluator }]
  const hard = { configmaps: '9', 'count/configmaps': '9' }
  const used = await usageOf(quota(hard), limitsOf(quota(hard)), counted)
  assert.deepEqual(printResourceList(used), { configmaps: '3', 'count/configmaps': '3' })
  const scoped = await usageOf(
    quota(hard, { scopes: ['BestEffort'] }),
    limitsOf(quota(hard)),
    counted,
  )
  assert.deepEqual(printResourceList(scoped), { configmaps: '0', 'count/configmaps': '0' })
})

test('large objects are not kept in memory after they are counted', async () => {
  const pods = builtIn('pods')
  const evaluator = new Evaluators(defaultGates, systemClock).of({ resource: pods })
  assert.ok(evaluator)
  const home = {
    codec: { decode: () => pod, print: fail },
    put: fail,
    view: () => Buffer.alloc(0),
    keep: fail,
  }
  const keys = new ResourceKeys('/registry/', 'pods', true)
  const item = new Item(home, { key: keys.key('n', 'p'), revision: 1, createRevision: 1 })
  item.length = 100_000
  const list = async () => ({ items: [item], revision: 1, more: false, remaining: 0 })
  const reader = { known: fail, get: fail, watch: fail, list }
  const used = await usageOf(quota({ pods: '9' }), limitsOf(quota({ pods: '9' })), [
    { keys, reader, resource: pods, evaluator },
  ])
  assert.deepEqual([printResourceList(used), item.decoded], [{ pods: '1' }, undefined])
})

test('if only the metadata of a large object changed, its usage is unchanged and it is not decoded', () => {
  const pods = builtIn('pods')
  const evaluator = new Evaluators(defaultGates, systemClock).of({ resource: pods })
  assert.ok(evaluator)
  const itemOf = (object: Partial<KubeObject>): Item => {
    const { bytes, headBytes, versionAt } = printWire({ ...pod, ...object }, pods.shape)
    const home = {
      codec: { decode: fail, print: fail },
      put: (item: Item) => void (item.length = bytes.length),
      view: (_item: Item, start?: number, end?: number) => bytes.subarray(start, end),
      keep: fail,
    }
    const item = new Item(home, { key: '/registry/pods/n/p', revision: 1, createRevision: 1 })
    item.setBytes(pod, { bytes, headBytes, versionAt })
    return item
  }
  const isSame = (object: Partial<KubeObject>): boolean =>
    isSameUse({ evaluator }, itemOf({}), itemOf(object))
  const { metadata, spec } = pod
  assert.ok(isSame({ metadata: { ...metadata, resourceVersion: '8', labels: { a: 'b' } } }))
  assert.ok(!isSame({ spec: { ...spec, activeDeadlineSeconds: 1 } }))
  assert.ok(!isSame({ status: { phase: 'Failed' } }))
  assert.ok(!isSame({ metadata: { ...metadata, deletionTimestamp: '2026-11-18T00:00:00Z' } }))
})

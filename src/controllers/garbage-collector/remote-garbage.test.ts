import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fields, itemsOf, type KubeObject } from '../../api/object.ts'
import { request } from '../../api/own-request.ts'
import type { ApiResponse } from '../../api/request.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { silent } from '../../lib/telemetry/log.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import type { Resource } from '../../registry/resource.ts'
import { builtIn, MemoryControlPlane } from '../../../test/support/harness/memory-control-plane.ts'
import {
  answering,
  notFound,
  RemoteApiServer,
  things,
} from '../../../test/support/harness/remote-api-server.ts'
import { until as untilWhat } from '../../../test/support/harness/until.ts'
import { QueueMetrics } from '../../lib/telemetry/queue-metrics.ts'
import { GarbageCollector } from './garbage-collector.ts'

const configMaps = builtIn('configmaps')
const until = (holds: () => MaybePromise<boolean>): Promise<void> => untilWhat(holds, String(holds))
const { signal } = new AbortController()

type Owner = KubeObject

const configMap = (
  name: string,
  owners: readonly Owner[] = [],
  more: KubeObject['metadata'] = {},
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    namespace: 'n',
    uid: `uid-${name}`,
    ownerReferences: owners.map(referenceTo),
    ...more,
  },
})

const referenceTo = ({ apiVersion, kind, metadata: { name = '', uid = '' } }: Owner) => ({
  apiVersion,
  kind,
  name,
  uid,
})
const absent: Owner = {
  apiVersion: 'remote.example.com/v1',
  kind: 'Thing',
  metadata: { name: 'absent', uid: 'u' },
}

class RemoteGarbageFixture implements AsyncDisposable {
  readonly plane: MemoryControlPlane
  readonly remote = new RemoteApiServer()
  readonly metrics = new Metrics()
  readonly collector: GarbageCollector

  private constructor(plane: MemoryControlPlane, start: (remote: RemoteApiServer) => void) {
    this.plane = plane
    start(this.remote)
    const { registry, accessOf } = plane
    const metrics = new QueueMetrics(this.metrics)
    const parts = {
      registry,
      accessOf,
      metrics,
      clock: systemClock,
      log: silent,
      remote: this.remote.apis,
    }
    this.collector = new GarbageCollector({ ...parts, handle: this.remote.before(plane.handle) })
  }

  static async start(
    start: (remote: RemoteApiServer) => void = () => undefined,
  ): Promise<RemoteGarbageFixture> {
    const world = new RemoteGarbageFixture(await MemoryControlPlane.start([configMaps]), start)
    await until(() => world.collector.isFilled)
    return world
  }

  async isThere(name: string): Promise<boolean> {
    const { keys, reader } = this.plane.accessOf(configMaps)
    return (await reader.get(keys.key('n', name), 'latest')).item !== undefined
  }

  create = (object: KubeObject): Promise<unknown> => this.plane.create(configMaps, object)

  async remove(name: string, propagationPolicy?: string): Promise<void> {
    const path = `/api/v1/namespaces/n/configmaps/${name}`
    const body = propagationPolicy === undefined ? {} : { propagationPolicy }
    assert.equal(
      (await request(this.plane.handle, { method: 'DELETE', path, body, signal })).status,
      200,
    )
  }

  /**
   * Creates garbage on this server, and waits until the collector has deleted it. The collector has
   * then also checked all earlier suspects.
   */
  async collected(name: string): Promise<void> {
    await this.create(
      configMap(name, [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'none', uid: 'v' } },
      ]),
    )
    await until(async () => !(await this.isThere(name)))
  }

  /**
   * Waits until the remote server has received this number of requests for the owner that does not
   * exist.
   */
  asked = (count: number): Promise<void> =>
    until(() => this.remote.asked.filter((one) => one.endsWith('/things/absent')).length >= count)

  async [Symbol.asyncDispose](): Promise<void> {
    await this.collector[Symbol.asyncDispose]()
    await this.plane[Symbol.asyncDispose]()
  }
}

test('dependents of a remote owner are kept while the owner exists, and are deleted after the owner is deleted', async () => {
  await using world = await RemoteGarbageFixture.start()
  const owner = world.remote.create('owner')
  await world.create(configMap('dependent', [owner]))
  await world.create(
    configMap('other-uid', [{ ...owner, metadata: { ...owner.metadata, uid: 'other' } }]),
  )
  await world.create(configMap('none', [absent]))
  await until(async () => !(await world.isThere('other-uid')) && !(await world.isThere('none')))
  assert.ok(await world.isThere('dependent'))
  world.remote.remove('owner')
  await until(async () => !(await world.isThere('dependent')))
})

const notFoundOf = (details: Fields): string =>
  JSON.stringify({ kind: 'Status', reason: 'NotFound', details })

const failures: { readonly [name: string]: () => MaybePromise<ApiResponse> } = {
  'is unavailable': () => answering(503, 'service unavailable\n'),
  fails: () => answering(500, '{"kind":"Status","reason":"InternalError"}'),
  'does not know the resource': () => answering(404, '404 page not found\n'),
  'does not know the resource and returns a Status': () => answering(404, notFound('')),
  'returns a Status about another name': () => answering(404, notFound('other')),
  'returns a Status about another kind': () =>
    answering(404, notFoundOf({ name: 'absent', kind: 'namespaces' })),
  'returns a Status about another group': () =>
    answering(404, notFoundOf({ name: 'absent', kind: 'things', group: 'other' })),
  'returns an object of another namespace': () =>
    answering(200, '{"metadata":{"name":"absent","namespace":"other","uid":"x"}}'),
  'returns a Status of a megabyte': () =>
    answering(404, `${notFound('absent')}${' '.repeat(1 << 20)}`),
  'rejects the collector': () => answering(403, '{"kind":"Status","reason":"Forbidden"}'),
  'returns JSON that is not an object': () => answering(200, '[]'),
  'returns another object': () => answering(200, '{"metadata":{"name":"other","uid":"other"}}'),
  'closes the connection': () => Promise.reject(new Error('cut')),
}
for (const [name, answer] of Object.entries(failures)) {
  test(`no object is deleted while a remote server ${name}`, async () => {
    await using world = await RemoteGarbageFixture.start()
    world.remote.answer = ({ path }) => (path.endsWith('/things/absent') ? answer() : undefined)
    await world.create(configMap('dependent', [absent]))
    await world.asked(1)
    await world.collected('garbage')
    assert.ok(await world.isThere('dependent'))
    world.remote.answer = () => undefined
    await until(async () => !(await world.isThere('dependent')))
  })
}

test('a remote server that does not respond does not block other work', async () => {
  await using world = await RemoteGarbageFixture.start()
  const asked: AbortSignal[] = []
  world.remote.answer = (sent) => {
    if (!sent.path.endsWith('/things/absent')) return undefined
    asked.push(sent.signal)
    return new Promise((_, reject) =>
      sent.signal.addEventListener('abort', () => reject(sent.signal.reason)),
    )
  }
  // Create more objects than the collector has workers, so that they could block all workers.
  for (let at = 0; at < 40; at++) await world.create(configMap(`dependent-${at}`, [absent]))
  await until(() => asked.length > 0)
  await world.collected('garbage')
  for (let at = 0; at < 40; at++) assert.ok(await world.isThere(`dependent-${at}`))
})

test('writes to a remote server that does not respond do not block other work', async () => {
  await using world = await RemoteGarbageFixture.start()
  let writes = 0
  world.remote.answer = ({ method, signal: ended }) => {
    if (method === 'GET') return undefined
    writes++
    return new Promise((_, reject) => ended.addEventListener('abort', () => reject(ended.reason)))
  }
  const gone = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: 'v' }
  // Create more objects than the collector has workers, so that they could block all workers.
  for (let at = 0; at < 40; at++)
    world.remote.create(`dependent-${at}`, { ownerReferences: [gone] })
  await until(() => writes > 0)
  await world.collected('garbage')
  assert.ok(writes < 20, 'some workers stay free')
})

test('an owner is read in the API version that the owner reference names, even if another server serves that version', async () => {
  await using world = await RemoteGarbageFixture.start()
  const { group } = things
  const second = { ...things, version: 'v2' }
  world.remote.discover([
    { group, version: 'v1', resources: [things] },
    { group, version: 'v2', resources: [second] },
  ])
  const path = `/apis/${group}/v2/namespaces/n/things/owner`
  let isThere = true
  world.remote.answer = ({ path: at }) => {
    if (!at.startsWith(`/apis/${group}/v2/`)) return undefined
    const head = { metadata: { name: 'owner', namespace: 'n', uid: 'uid-owner' } }
    return isThere ? answering(200, JSON.stringify(head)) : answering(404, notFound('owner'))
  }
  await world.create(
    configMap('dependent', [
      { apiVersion: `${group}/v2`, kind: 'Thing', metadata: { name: 'owner', uid: 'uid-owner' } },
    ]),
  )
  await until(() => world.remote.asked.includes(`GET ${path}`))
  await world.collected('garbage')
  assert.ok(await world.isThere('dependent'))
  isThere = false
  await world.remove('dependent')
  await world.create(
    configMap('late', [
      { apiVersion: `${group}/v2`, kind: 'Thing', metadata: { name: 'owner', uid: 'uid-owner' } },
    ]),
  )
  await until(async () => !(await world.isThere('late')))
})

test('if this server and a remote server serve the same API group version, owners of it are looked up on the remote server', async () => {
  await using world = await RemoteGarbageFixture.start()
  const local: Resource = {
    ...configMaps,
    group: things.group,
    kind: 'Thing',
    plural: 'things',
    isCustom: true,
  }
  world.plane.registry.replace(things.group, { before: [], after: [local] })
  const owner = world.remote.create('owner')
  await world.create(configMap('dependent', [owner]))
  await world.create(configMap('none', [absent]))
  await until(async () => !(await world.isThere('none')))
  await world.collected('garbage')
  assert.ok(await world.isThere('dependent'))
  // In the next part, the kind of the owner is unknown: the remote server was never reached, and
  // this server does not serve the kind.
  world.remote.discover([{ group: things.group, version: 'v1', resources: [] }])
  await until(() => world.collector.unmapped === 1)
  await world.create(configMap('other', [absent]))
  await until(() => world.collector.unmapped === 2)
  await world.collected('again')
  assert.ok(await world.isThere('other'))
})

test('dependents are not deleted merely because a list does not contain their owner', async () => {
  await using world = await RemoteGarbageFixture.start()
  const owner = world.remote.create('owner')
  await world.create(configMap('dependent', [owner]))
  await until(() => world.collector.graph.size === 2)
  let lists = 0
  world.remote.answer = ({ path, query }) => {
    if (!path.endsWith('/v1/things') || query.has('watch')) return undefined
    lists++
    return answering(200, '{"metadata":{"resourceVersion":"9"},"items":[]}')
  }
  // The remote server responds to the watch with error 410, as if it had lost its history. The
  // collector must then list all objects again.
  const { answer } = world.remote
  world.remote.answer = (sent) =>
    sent.query.has('watch') && lists === 0
      ? { status: 200, headers: {}, frames: over('{"type":"ERROR","object":{"code":410}}\n') }
      : answer(sent)
  world.remote.endWatches()
  await until(() => lists > 0)
  await until(() =>
    world.remote.asked.some((one) =>
      one.endsWith('GET /apis/remote.example.com/v1/namespaces/n/things/owner'),
    ),
  )
  await world.collected('garbage')
  assert.ok(await world.isThere('dependent'))
})

function over(text: string) {
  const waiting = [Buffer.from(text)]
  return {
    take: () => (waiting.length > 0 ? waiting.splice(0) : undefined),
    onReady: (ready: () => void) => queueMicrotask(ready),
    close: () => undefined,
  }
}

test('the kinds of an unreachable server stay known, and removing a server does not cause deletions', async () => {
  await using world = await RemoteGarbageFixture.start()
  const owner = world.remote.create('owner')
  await world.create(configMap('dependent', [owner]))
  await world.create(configMap('local'))
  world.remote.create('held', {
    ownerReferences: [{ ...referenceTo(configMap('local')), blockOwnerDeletion: true }],
    finalizers: ['hold'],
  })
  await until(() => world.collector.graph.size === 4)
  world.remote.discover([{ group: things.group, version: 'v1', resources: undefined }])
  world.remote.answer = () => answering(503, 'away')
  world.remote.endWatches()
  await world.collected('first')
  assert.equal(world.collector.unmapped, 0)
  // The owner waits for its remote dependent while this server forwards requests to the remote
  // server.
  await world.remove('local', 'Foreground')
  await world.collected('second')
  assert.ok(await world.isThere('local'))
  world.remote.discover([])
  await until(async () => !(await world.isThere('local')))
  await world.collected('third')
  assert.ok(await world.isThere('dependent'))
  world.remote.answer = () => undefined
  world.remote.remove('owner')
  world.remote.discover([{ group: things.group, version: 'v1', resources: [things] }])
  await until(async () => !(await world.isThere('dependent')))
})

test('a server that is down at startup does not prevent other garbage from being collected', async () => {
  await using world = await RemoteGarbageFixture.start((remote) => {
    remote.answer = () => answering(503, 'away')
  })
  await world.collected('garbage')
})

test('remote dependents are deleted with their owner, or their owner reference is removed', async () => {
  await using world = await RemoteGarbageFixture.start()
  await world.create(configMap('owner'))
  await world.create(configMap('other'))
  const [owner, other] = [configMap('owner'), configMap('other')].map(referenceTo)
  assert.ok(owner !== undefined && other !== undefined)
  world.remote.create('one', { ownerReferences: [owner] })
  world.remote.create('two', { ownerReferences: [owner, other] })
  await until(() => world.collector.graph.size === 4)
  await world.remove('owner')
  await until(() =>
    world.remote.asked.some(
      (one) => one === 'DELETE /apis/remote.example.com/v1/namespaces/n/things/one',
    ),
  )
  await until(() =>
    world.remote.asked.some(
      (one) => one === 'PATCH /apis/remote.example.com/v1/namespaces/n/things/two',
    ),
  )
  const [left] = [...world.remote.objects.values()]
  assert.deepEqual(left?.metadata.ownerReferences, [other])
})

test('many remote dependents are orphaned without retries', async () => {
  await using world = await RemoteGarbageFixture.start()
  await world.create(configMap('owner'))
  const count = 60
  for (let at = 0; at < count; at++)
    world.remote.create(`dependent-${at}`, { ownerReferences: [referenceTo(configMap('owner'))] })
  await until(() => world.collector.graph.size === count + 1)
  const owned = (): number =>
    [...world.remote.objects.values()].filter(
      ({ metadata }) => itemsOf(metadata.ownerReferences).length > 0,
    ).length
  await world.remove('owner', 'Orphan')
  await until(async () => !(await world.isThere('owner')))
  assert.equal(world.remote.objects.size, count)
  assert.equal(owned(), 0)
  assert.match(
    world.metrics.print(),
    /^workqueue_retries_total{name="garbage_collector_attempt_to_orphan"} 0$/m,
  )
})

test('if a remote server rejects a write with a conflict although no other client wrote, the write is not retried immediately', async () => {
  await using world = await RemoteGarbageFixture.start()
  let writes = 0
  world.remote.answer = ({ method }) => {
    if (method === 'GET') return undefined
    writes++
    return answering(409, '{"kind":"Status","reason":"Conflict"}')
  }
  const gone = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: 'v' }
  world.remote.create('refused', { ownerReferences: [gone] })
  await until(() => writes > 0)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  assert.ok(writes < 10, `${writes} deletes in a second`)
})

test('a dependent that cannot be orphaned is not retried immediately', async () => {
  await using world = await RemoteGarbageFixture.start()
  let writes = 0
  world.remote.answer = ({ method }) => {
    if (method !== 'PATCH') return undefined
    writes++
    return answering(409, '{"kind":"Status","reason":"Conflict"}')
  }
  await world.create(configMap('owner'))
  world.remote.create('dependent', { ownerReferences: [referenceTo(configMap('owner'))] })
  await until(() => world.collector.graph.size === 2)
  await world.remove('owner', 'Orphan')
  await until(() => writes > 0)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  assert.ok(writes < 10, `${writes} patches in a second`)
})

test('an owner whose name a remote server rejects does not block lookups of other owners', async () => {
  await using world = await RemoteGarbageFixture.start()
  world.remote.answer = ({ path }) =>
    path.includes('a%b') ? answering(400, '{"kind":"Status","reason":"BadRequest"}') : undefined
  const wrong: Owner = { ...absent, metadata: { name: 'a%b', uid: 'w' } }
  for (let at = 0; at < 30; at++) await world.create(configMap(`wrong-${at}`, [wrong]))
  await until(() => world.remote.asked.some((one) => one.includes('a%b')))
  await world.create(configMap('dependent', [absent]))
  await until(async () => !(await world.isThere('dependent')))
})

test('a dependent counts as deleted only if the server that stores the dependent confirms this', async () => {
  await using world = await RemoteGarbageFixture.start()
  let isOther = true
  world.remote.answer = ({ method }) =>
    method === 'PATCH' && isOther ? answering(404, '404 page not found\n') : undefined
  await world.create(configMap('owner'))
  world.remote.create('dependent', { ownerReferences: [referenceTo(configMap('owner'))] })
  await until(() => world.collector.graph.size === 2)
  await world.remove('owner', 'Orphan')
  await until(() => world.remote.asked.some((one) => one.startsWith('PATCH')))
  await world.collected('garbage')
  assert.ok(await world.isThere('owner'))
  isOther = false
  await until(async () => !(await world.isThere('owner')))
  await world.collected('again')
  assert.equal(world.remote.objects.size, 1)
})

test('if an object without a resourceVersion was replaced by another object of the same name, the conflict causes no retry', async () => {
  await using world = await RemoteGarbageFixture.start()
  const gone = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: 'v' }
  const unversioned = { ownerReferences: [gone], resourceVersion: '' }
  let isReplaced = false
  world.remote.answer = ({ method }) => {
    if (method === 'GET' || isReplaced) return undefined
    isReplaced = true
    world.remote.create('one', { ...unversioned, uid: 'uid-other' })
    return answering(409, '{"kind":"Status","reason":"Conflict"}')
  }
  world.remote.create('one', unversioned)
  await until(() => isReplaced && world.remote.objects.size === 0)
  assert.match(
    world.metrics.print(),
    /^workqueue_retries_total{name="garbage_collector_attempt_to_delete"} 0$/m,
  )
})

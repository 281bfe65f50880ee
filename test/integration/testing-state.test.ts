/**
 * Tests the state of keelson/testing clusters: history, clock, forks, snapshots, restores and
 * resets.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, suite, test } from 'node:test'
import { CoreV1Api, KubeConfig, Watch } from '@kubernetes/client-node'
import { type Cluster, startCluster } from '../../src/entry/testing/index.ts'
import { until } from '../support/harness/until.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'

type NamedObject = {
  readonly metadata: {
    readonly name: string
    readonly resourceVersion: string
    readonly uid: string
  }
}
type NamedObjectList = { readonly items: readonly NamedObject[] }

async function create(
  cluster: Cluster,
  name: string,
  data: Record<string, string> = {},
): Promise<NamedObject> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }
  const answer = await cluster.request<NamedObject>({ method: 'POST', path: configMaps, body })
  assert.equal(answer.status, 201)
  return answer.body
}

async function names(cluster: Cluster): Promise<string[]> {
  const { body } = await cluster.request<NamedObjectList>({ path: configMaps })
  return body.items
    .map(({ metadata }) => metadata.name)
    .filter((name) => name !== 'kube-root-ca.crt')
}

suite('tests can read and change the state of a keelson/testing cluster', () => {
  let cluster: Cluster
  before(async () => {
    cluster = await startCluster()
  })
  after(() => cluster.stop())
  afterEach(() => cluster.reset())

  test('the history contains users, writes and field owners', async () => {
    const alice = { name: 'alice', groups: ['system:masters'] }
    const core = await cluster.client(CoreV1Api, alice)
    const body = { metadata: { name: 'x' }, data: { a: '1' } }
    await core.createNamespacedConfigMap({ namespace: 'default', body, fieldManager: 'one' })
    const applied = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'x' },
      data: { b: '2' },
    }
    const path = `${configMaps}/x?fieldManager=two`
    const contentType = 'application/apply-patch+yaml'
    assert.equal(
      (await cluster.request({ method: 'PATCH', path, body: applied, contentType })).status,
      200,
    )
    await core.deleteNamespacedConfigMap({ namespace: 'default', name: 'x' })
    const [created, patched, deleted, ...others] = cluster.history({
      resource: 'configmaps',
      name: 'x',
    })
    assert.deepEqual(others, [])
    assert.ok(created !== undefined && patched !== undefined && deleted !== undefined)
    const { operation, verb, namespace, source, user } = created
    assert.deepEqual(
      { operation, verb, namespace, source, user: user?.name, before: created.before },
      {
        operation: 'create',
        verb: 'create',
        namespace: 'default',
        source: 'client',
        user: 'alice',
        before: undefined,
      },
    )
    assert.deepEqual(created.owners, [
      { manager: 'one', operation: 'Update', subresource: '', fields: ['.data', '.data.a'] },
    ])
    assert.deepEqual(
      [patched.operation, patched.verb, patched.source, patched.user?.name],
      ['update', 'patch', 'test', 'kubernetes-admin'],
    )
    assert.deepEqual(patched.object?.['data'], { a: '1', b: '2' })
    assert.deepEqual(patched.before?.['data'], { a: '1' })
    assert.equal(patched.object.metadata['resourceVersion'], patched.resourceVersion)
    assert.deepEqual(
      patched.owners.map(({ manager, fields }) => [manager, fields]),
      [
        ['two', ['.data.b']],
        ['one', ['.data', '.data.a']],
      ],
    )
    assert.deepEqual(
      [deleted.operation, deleted.verb, deleted.object],
      ['delete', 'delete', undefined],
    )
    assert.deepEqual(cluster.history({ user: 'alice' }), [created, deleted])
    assert.deepEqual(cluster.history({ user: 'alice', after: created.resourceVersion }), [deleted])
    assert.deepEqual(cluster.history({ name: 'x', namespace: 'other' }), [])
  })

  test('the history can be filtered by the group of built-in and custom resources', async () => {
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' } }
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
    assert.equal((await cluster.request({ method: 'POST', path: leases, body: lease })).status, 201)
    assert.equal((await cluster.request({ method: 'DELETE', path: `${leases}/l` })).status, 200)
    await create(cluster, 'x')
    const of = (group: string): string[] =>
      cluster
        .history({ group, source: 'test' })
        .map(({ operation, resource, name }) => `${operation} ${resource} ${name}`)
    assert.deepEqual(of('coordination.k8s.io'), ['create leases l', 'delete leases l'])
    assert.deepEqual(of(''), ['create configmaps x'])
    assert.deepEqual(of('apps'), [])
  })

  test('the history does not contain the Lease that the server renews', async () => {
    const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
    type Leases = { readonly items: readonly { readonly spec: { readonly renewTime: string } }[] }
    const renewals = async (): Promise<readonly string[]> =>
      (await cluster.request<Leases>({ path })).body.items.map(({ spec }) => spec.renewTime)
    const earlier = await renewals()
    assert.ok(earlier.length > 0)
    await cluster.clock.advance('1m')
    await until(async () => (await renewals()).join() !== earlier.join(), 'the Lease is renewed')
    assert.deepEqual(cluster.history(), [])
  })

  test('events and tokens expire when the clock advances', async () => {
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e' },
      involvedObject: { kind: 'ConfigMap', namespace: 'default', name: 'x' },
    }
    const events = '/api/v1/namespaces/default/events'
    assert.equal((await cluster.request({ method: 'POST', path: events, body: event })).status, 201)
    const asked = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 600 },
    }
    const { body: given } = await cluster.request<{ status: { token: string } }>({
      method: 'POST',
      path: '/api/v1/namespaces/default/serviceaccounts/default/token',
      body: asked,
    })
    const review = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token: given.status.token },
    }
    const isValid = async (): Promise<boolean | undefined> => {
      const path = '/apis/authentication.k8s.io/v1/tokenreviews'
      const { body } = await cluster.request<{ status: { authenticated?: boolean } }>({
        method: 'POST',
        path,
        body: review,
      })
      return body.status.authenticated
    }
    const has = async (): Promise<boolean> =>
      (await cluster.request({ path: `${events}/e` })).status === 200
    assert.deepEqual([await isValid(), await has()], [true, true])
    const startMs = cluster.clock.now().getTime()
    await cluster.clock.advance('5m')
    assert.deepEqual([await isValid(), await has()], [true, true])
    await cluster.clock.advance('6m')
    assert.deepEqual([await isValid(), await has()], [undefined, true])
    await cluster.clock.advance('1h')
    assert.equal(await has(), false)
    assert.ok(cluster.clock.now().getTime() - startMs >= 71 * 60_000)
    const [expired] = cluster.history({ resource: 'events' }).slice(-1)
    assert.deepEqual([expired?.operation, expired?.verb, expired?.user], ['delete', '', undefined])
    const made = await create(cluster, 'later')
    const { body } = await cluster.request<{ metadata: { creationTimestamp: string } }>({
      path: `${configMaps}/${made.metadata.name}`,
    })
    assert.ok(Date.parse(body.metadata.creationTimestamp) >= startMs + 70 * 60_000)
    await assert.rejects(cluster.clock.advance(-1), RangeError)
    await assert.rejects(cluster.clock.advance('soon'), RangeError)
  })

  test('controllers do the work that is due when the clock advances', async () => {
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'done' },
      spec: {
        ttlSecondsAfterFinished: 3600,
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
      },
    }
    const jobs = '/apis/batch/v1/namespaces/default/jobs'
    assert.equal((await cluster.request({ method: 'POST', path: jobs, body: job })).status, 201)
    const now = cluster.clock.now().toISOString()
    const condition = (type: string) => ({
      type,
      status: 'True',
      lastTransitionTime: now,
      lastProbeTime: now,
    })
    const status = {
      startTime: now,
      completionTime: now,
      succeeded: 1,
      conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
    }
    const path = `${jobs}/done/status`
    assert.equal((await cluster.request({ method: 'PATCH', path, body: { status } })).status, 200)
    await cluster.clock.advance('61m')
    const isGone = async (): Promise<boolean> => {
      const { body } = await cluster.request<{ metadata?: { deletionTimestamp?: string } }>({
        path: `${jobs}/done`,
      })
      return body.metadata?.deletionTimestamp !== undefined || body.metadata === undefined
    }
    await cluster.waitFor(
      async () => (await cluster.request({ path: `${jobs}/done` })).status === 404 || isGone(),
    )
  })

  test('a fork and its origin each continue with their own history, faults and clock', async () => {
    await create(cluster, 'before')
    await using fork = await cluster.fork()
    assert.notEqual(fork.url, cluster.url)
    await create(cluster, 'here')
    await create(fork, 'there')
    assert.deepEqual(await names(cluster), ['before', 'here'])
    assert.deepEqual(await names(fork), ['before', 'there'])
    assert.deepEqual(
      fork.history({ source: 'test' }).map(({ name }) => name),
      ['there'],
    )
    fork.faults.on({ verb: 'list' }, { status: 503 })
    await fork.clock.advance('1h')
    const core = await cluster.client(CoreV1Api)
    assert.ok((await core.listNamespacedConfigMap({ namespace: 'default' })).items.length > 0)
    const forked = await fork.client(CoreV1Api)
    await assert.rejects(forked.listNamespacedConfigMap({ namespace: 'default' }), { code: 503 })
    fork.faults.clear()
    assert.ok(fork.clock.now().getTime() - cluster.clock.now().getTime() > 3_500_000)
    // Check that controllers also run in the fork: they create a ServiceAccount in a new namespace.
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }
    await fork.request({ method: 'POST', path: '/api/v1/namespaces', body: namespace })
    const account = '/api/v1/namespaces/n/serviceaccounts/default'
    await fork.waitFor(async () => (await fork.request({ path: account })).status === 200)
    await using second = await fork.fork()
    assert.deepEqual(await names(second), ['before', 'there'])
    await fork.reset()
    assert.deepEqual(await names(fork), ['before'])
  })

  test('a fork starts when its first client is created, and can be stopped without being used', async () => {
    await create(cluster, 'x')
    const fork = await cluster.fork()
    const core = await fork.client(CoreV1Api)
    assert.equal(
      (await core.readNamespacedConfigMap({ namespace: 'default', name: 'x' })).metadata?.name,
      'x',
    )
    await fork.stop()
    const unused = await cluster.fork()
    await unused.stop()
  })

  test('a snapshot is restored by ordinary writes, which watches report', async () => {
    const kept = await create(cluster, 'kept', { text: 'first' })
    const snapshot = cluster.snapshot()
    const kubeconfig = new KubeConfig()
    kubeconfig.loadFromString(JSON.stringify(cluster.kubeconfig))
    const events: string[] = []
    const query = { resourceVersion: kept.metadata.resourceVersion }
    const onEvent = (type: string, { metadata }: NamedObject): void =>
      void events.push(`${type} ${metadata.name}`)
    const watch = await new Watch(kubeconfig).watch(configMaps, query, onEvent, () => undefined)
    await create(cluster, 'passing')
    const path = `${configMaps}/kept`
    await cluster.request({ method: 'PATCH', path, body: { data: { text: 'second' } } })
    await cluster.restore(snapshot)
    assert.deepEqual(await names(cluster), ['kept'])
    const { body } = await cluster.request<NamedObject & { data: { text: string } }>({ path })
    assert.equal(body.data.text, 'first')
    assert.equal(body.metadata.uid, kept.metadata.uid)
    assert.ok(Number(body.metadata.resourceVersion) > Number(kept.metadata.resourceVersion))
    await cluster.waitFor(() => events.length >= 4)
    watch.abort()
    assert.deepEqual(events.slice(0, 4), [
      'ADDED passing',
      'MODIFIED kept',
      'MODIFIED kept',
      'DELETED passing',
    ])
    assert.deepEqual(
      cluster
        .history({ verb: 'restore', resource: 'configmaps' })
        .map(({ operation, name }) => `${operation} ${name}`),
      ['update kept', 'delete passing'],
    )
    // The snapshot can be restored again, even after one of its objects was recreated.
    await cluster.request({ method: 'DELETE', path })
    await create(cluster, 'kept', { text: 'third' })
    await cluster.restore(snapshot)
    const { body: again } = await cluster.request<NamedObject>({ path })
    assert.equal(again.metadata.uid, kept.metadata.uid)
  })

  test('a snapshot can be restored only in the cluster that created it', async () => {
    await using fork = await cluster.fork()
    await assert.rejects(fork.restore(cluster.snapshot()), {
      name: 'TypeError',
      message: /^another cluster created this snapshot: restore it in that cluster, or .*fork\(\)$/,
    })
    // Pass a value of the wrong type, as is possible in JavaScript.
    const untyped: { restore(snapshot: unknown): Promise<void> } = cluster
    await assert.rejects(untyped.restore({}), /^TypeError: restore needs a snapshot/)
  })

  test('a reset also removes definitions, roles and namespaces', async () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'sites.example.dev' },
      spec: {
        group: 'example.dev',
        scope: 'Namespaced',
        names: { plural: 'sites', singular: 'site', kind: 'Site' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        ],
      },
    }
    const sites = '/apis/example.dev/v1/namespaces/default/sites'
    for (let round = 0; round < 2; round++) {
      const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
      assert.equal((await cluster.request({ method: 'POST', path, body: definition })).status, 201)
      const site = { apiVersion: 'example.dev/v1', kind: 'Site', metadata: { name: 's' } }
      await cluster.waitFor(
        async () =>
          (await cluster.request({ method: 'POST', path: sites, body: site })).status === 201,
      )
      const [written] = cluster.history({ resource: 'sites' })
      assert.deepEqual(
        [written?.group, written?.name, written?.namespace],
        ['example.dev', 's', 'default'],
      )
      cluster.faults.on({}, { status: 500 })
      await cluster.reset()
      assert.deepEqual(cluster.history(), [])
      await cluster.waitFor(async () => (await cluster.request({ path: sites })).status === 404)
    }
    const core = await cluster.client(CoreV1Api)
    assert.equal((await core.listNamespace()).items.length, 4)
  })
})

type TimedObject = { readonly metadata: { readonly creationTimestamp: string } }

for (const [now, year] of [
  ['2040-02-03T04:05:06Z', '2040'],
  ['1999-02-03T04:05:06Z', '1999'],
  ['1970-01-01T00:00:00Z', '1970'],
  ['9998-01-01T00:00:00Z', '9998'],
] as const) {
  test(`a cluster can start in the year ${year}`, async () => {
    await using earlier = await startCluster()
    await using cluster = await startCluster({ now })
    const { metadata } = await create(cluster, 'x')
    const { body } = await cluster.request<TimedObject>({ path: `${configMaps}/${metadata.name}` })
    assert.equal(body.metadata.creationTimestamp.slice(0, 4), year)
    // The clock also determines when the first objects of the cluster are created.
    const { body: first } = await cluster.request<TimedObject>({
      path: '/api/v1/namespaces/kube-system',
    })
    assert.equal(first.metadata.creationTimestamp.slice(0, 4), year)
    // Client certificates must be valid at the time that the cluster's clock shows.
    for (const user of [undefined, { name: 'alice', groups: ['system:masters'] }]) {
      const core = await cluster.client(CoreV1Api, user)
      assert.equal(
        (await core.readNamespacedConfigMap({ namespace: 'default', name: 'x' })).metadata?.name,
        'x',
      )
    }
    await using again = await startCluster({ now })
    const { body: forked } = await again.request<TimedObject>({
      path: '/api/v1/namespaces/kube-system',
    })
    assert.equal(forked.metadata.creationTimestamp.slice(0, 4), year)
    await using later = await startCluster()
    const { body: late } = await later.request<TimedObject>({
      path: '/api/v1/namespaces/kube-system',
    })
    const { body: early } = await earlier.request<TimedObject>({
      path: '/api/v1/namespaces/kube-system',
    })
    assert.equal(
      late.metadata.creationTimestamp.slice(0, 4),
      early.metadata.creationTimestamp.slice(0, 4),
    )
    assert.notEqual(late.metadata.creationTimestamp.slice(0, 4), year)
  })
}

test('an invalid time is rejected with an error that states the reason', async () => {
  await assert.rejects(startCluster({ now: 'tomorrow' }), /now: tomorrow is not a time/)
  await assert.rejects(startCluster({ now: '1969-12-31T23:59:59Z' }), /is before 1970/)
  await assert.rejects(startCluster({ now: new Date(8.64e15) }), /is too late/)
  await using cluster = await startCluster()
  const startMs = cluster.clock.now().getTime()
  for (const by of [Infinity, Number.NaN, -1, 1e20, 'soon', '']) {
    await assert.rejects(cluster.clock.advance(by), RangeError, String(by))
  }
  assert.ok(Math.abs(cluster.clock.now().getTime() - startMs) < 3_600_000)
})

test('advancing the clock of a cluster does not affect clusters that are started later', async () => {
  const options = { flags: ['--event-ttl=61m'] }
  await using first = await startCluster(options)
  await first.clock.advance(87_600 * 3_600_000)
  await create(first, 'x')
  await using second = await startCluster(options)
  const { body } = await second.request<{
    items: readonly (TimedObject & { spec: { renewTime?: string } })[]
  }>({
    path: '/apis/coordination.k8s.io/v1/leases',
  })
  const limitMs = Date.now() + 3_600_000
  for (const { metadata, spec } of body.items) {
    assert.ok(Date.parse(metadata.creationTimestamp) < limitMs, metadata.creationTimestamp)
    assert.ok(Date.parse(spec.renewTime ?? '') < limitMs, spec.renewTime)
  }
})

test('after a restore, expiring objects have the same remaining time as in the snapshot', async () => {
  await using cluster = await startCluster()
  const events = '/api/v1/namespaces/default/events'
  const involvedObject = { kind: 'ConfigMap', namespace: 'default', name: 'x' }
  const event = { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e' }, involvedObject }
  assert.equal((await cluster.request({ method: 'POST', path: events, body: event })).status, 201)
  const has = async (): Promise<boolean> =>
    (await cluster.request({ path: `${events}/e` })).status === 200
  const snapshot = cluster.snapshot()
  await cluster.clock.advance('50m')
  await cluster.restore(snapshot)
  await cluster.clock.advance('50m')
  assert.ok(await has(), 'it had an hour when the snapshot was made')
  await cluster.clock.advance('20m')
  assert.ok(!(await has()))
})

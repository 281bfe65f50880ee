/**
 * Tests the server and its controllers in keelson/testing while a state is restored, and
 * immediately afterwards.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Fields } from '../../src/api/object.ts'
import { Restores } from '../../src/lib/concurrency/restores.ts'
import { silent } from '../../src/lib/telemetry/log.ts'
import { MemoryEngine } from '../../src/storage/memory/memory-engine.ts'
import { boot } from '../../src/entry/testing/boot.ts'
import { TestClock } from '../../src/entry/testing/clock.ts'
import { configure } from '../../src/entry/testing/configure.ts'
import { createCredentials } from '../../src/entry/testing/credentials.ts'
import { History } from '../../src/entry/testing/history.ts'
import { type Cluster, startCluster } from '../../src/entry/testing/index.ts'
import { ask, type TestRequest } from '../../src/entry/testing/own-client.ts'
import {
  HoldingWebhook,
  type HeldRequests,
  webhookConfigurations,
} from '../support/harness/holding-webhook.ts'
import { until } from '../support/harness/until.ts'

const namespaces = '/api/v1/namespaces'
const configMaps = `${namespaces}/default/configmaps`
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const admission = '/apis/admissionregistration.k8s.io/v1'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const widgets = '/apis/example.com/v1/namespaces/default/widgets'

type ObjectList = {
  readonly items: readonly { readonly metadata: { readonly name: string; readonly uid: string } }[]
}

const named = (kind: string, name: string, fields: Fields = {}): Fields => ({
  apiVersion: 'v1',
  kind,
  metadata: { name },
  ...fields,
})

const widgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
    ],
  },
}

async function send(cluster: Cluster, request: TestRequest): Promise<void> {
  const { status, body } = await cluster.request(request)
  assert.ok(status < 300, `${request.path} returned ${status}: ${JSON.stringify(body)}`)
}

const post = (cluster: Cluster, path: string, body: Fields): Promise<void> =>
  send(cluster, { method: 'POST', path, body })

const remove = (cluster: Cluster, path: string): Promise<void> =>
  send(cluster, { method: 'DELETE', path })

const statusOf = async (cluster: Cluster, path: string): Promise<number> =>
  (await cluster.request({ path })).status

async function uidsOf(cluster: Cluster, path: string): Promise<string[]> {
  const { body } = await cluster.request<ObjectList>({ path })
  return body.items.map(({ metadata }) => `${metadata.name} ${metadata.uid}`)
}

/**
 * Deletes a namespace and waits until it has disappeared. In this time, the controllers have also
 * processed all earlier changes.
 */
async function controllersHavePassed(cluster: Cluster): Promise<void> {
  await post(cluster, namespaces, named('Namespace', 'other'))
  await remove(cluster, `${namespaces}/other`)
  await cluster.waitFor(async () => (await statusOf(cluster, `${namespaces}/other`)) === 404, {
    timeoutMs: 60_000,
  })
}

const deletions = (cluster: Cluster, resource: string): number =>
  cluster.history({ resource }).filter(({ operation }) => operation === 'delete').length

/** Number of objects, large enough that the server needs many ticks to delete them. */
const OBJECTS = 600

async function postMany(
  cluster: Cluster,
  path: string,
  bodyOf: (name: string) => Fields,
): Promise<void> {
  await Promise.all(
    Array.from({ length: OBJECTS }, (_, at) => post(cluster, path, bodyOf(`o${at}`))),
  )
}

test('a namespace that is restored while it is being emptied keeps all its objects', async () => {
  await using cluster = await startCluster()
  const path = `${namespaces}/n/configmaps`
  await post(cluster, namespaces, named('Namespace', 'n'))
  await cluster.waitFor(async () => (await statusOf(cluster, `${path}/kube-root-ca.crt`)) === 200)
  await postMany(cluster, path, (name) => named('ConfigMap', name))
  const before = await uidsOf(cluster, path)
  const snapshot = cluster.snapshot()
  await remove(cluster, `${namespaces}/n`)
  await cluster.waitFor(() => deletions(cluster, 'configmaps') > 10, { timeoutMs: 60_000 })
  await cluster.restore(snapshot)
  assert.ok(deletions(cluster, 'configmaps') < OBJECTS)
  assert.deepEqual(await uidsOf(cluster, path), before)
  await controllersHavePassed(cluster)
  assert.deepEqual(await uidsOf(cluster, path), before)
})

test('a definition that is restored while its objects are being deleted keeps all objects', async () => {
  await using cluster = await startCluster()
  await post(cluster, definitions, widgetDefinition)
  await cluster.waitFor(async () => (await statusOf(cluster, widgets)) === 200)
  await postMany(cluster, widgets, (name) =>
    named('Widget', name, { apiVersion: 'example.com/v1' }),
  )
  const before = await uidsOf(cluster, widgets)
  const snapshot = cluster.snapshot()
  await remove(cluster, `${definitions}/widgets.example.com`)
  await cluster.waitFor(() => deletions(cluster, 'widgets') > 10, { timeoutMs: 60_000 })
  await cluster.restore(snapshot)
  assert.ok(deletions(cluster, 'widgets') < OBJECTS)
  assert.deepEqual(await uidsOf(cluster, widgets), before)
  await controllersHavePassed(cluster)
  assert.deepEqual(await uidsOf(cluster, widgets), before)
})

type HeldWrite = {
  /**
   * Matches a write that a controller sends. The webhook delays this write until the restore is
   * complete.
   */
  readonly held: HeldRequests
  /** Creates the state for the snapshot. */
  readonly prepare: (cluster: Cluster) => Promise<void>
  /** Causes the controller to write. */
  readonly act: (cluster: Cluster) => Promise<void>
  /** Path of the objects that the write affects. */
  readonly path: string
}

const userIs = (account: string): string =>
  `request.userInfo.username == 'system:serviceaccount:kube-system:${account}'`

const heldWrites: Readonly<Record<string, HeldWrite>> = {
  'the deletion of a dependent by the garbage collector': {
    held: {
      operation: 'DELETE',
      resource: 'configmaps',
      condition: userIs('generic-garbage-collector'),
    },
    prepare: async (cluster) => {
      await post(cluster, configMaps, named('ConfigMap', 'owner'))
      const { body } = await cluster.request<ObjectList['items'][number]>({
        path: `${configMaps}/owner`,
      })
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: body.metadata.uid }
      await post(
        cluster,
        configMaps,
        named('ConfigMap', 'x', { metadata: { name: 'dependent', ownerReferences: [owner] } }),
      )
    },
    act: (cluster) => remove(cluster, `${configMaps}/owner`),
    path: configMaps,
  },
  'the deletion of an object of a namespace': {
    held: {
      operation: 'DELETE',
      resource: 'configmaps',
      condition: userIs('namespace-controller'),
    },
    prepare: async (cluster) => {
      await post(cluster, namespaces, named('Namespace', 'n'))
      await cluster.waitFor(
        async () =>
          (await statusOf(cluster, `${namespaces}/n/configmaps/kube-root-ca.crt`)) === 200,
      )
    },
    act: (cluster) => remove(cluster, `${namespaces}/n`),
    path: '/api/v1/configmaps',
  },
  'the creation of a ServiceAccount in a namespace': {
    held: {
      operation: 'CREATE',
      resource: 'serviceaccounts',
      condition: userIs('service-account-controller'),
    },
    prepare: async () => undefined,
    act: (cluster) => post(cluster, namespaces, named('Namespace', 'n')),
    path: '/api/v1/serviceaccounts',
  },
  'the status of a quota': {
    held: {
      operation: 'UPDATE',
      resource: 'resourcequotas/status',
      condition: userIs('resourcequota-controller'),
    },
    prepare: async () => undefined,
    act: (cluster) =>
      post(
        cluster,
        `${namespaces}/default/resourcequotas`,
        named('ResourceQuota', 'q', { spec: { hard: { pods: '1' } } }),
      ),
    path: '/api/v1/resourcequotas',
  },
}

suite('a write that a controller sent before a restore is not executed after the restore', () => {
  for (const [what, { held, prepare, act, path }] of Object.entries(heldWrites)) {
    test(what, async () => {
      await using hook = await HoldingWebhook.start()
      await using cluster = await startCluster()
      await prepare(cluster)
      await post(cluster, webhookConfigurations, hook.configuration(held))
      const before = await uidsOf(cluster, path)
      const snapshot = cluster.snapshot()
      await act(cluster)
      await hook.held
      await cluster.restore(snapshot)
      const { resourceVersion = '' } = cluster.history().at(-1) ?? {}
      hook.release()
      await controllersHavePassed(cluster)
      assert.deepEqual(await uidsOf(cluster, path), before)
      const resource = path.slice(path.lastIndexOf('/') + 1)
      const late = cluster.history({ resource, after: resourceVersion, source: 'server' })
      assert.deepEqual(
        late.filter(({ namespace }) => namespace !== 'other'),
        [],
      )
    })
  }
})

test('a request that was sent before a restore stores nothing after the restore', async () => {
  await using hook = await HoldingWebhook.start()
  await using cluster = await startCluster()
  await post(
    cluster,
    webhookConfigurations,
    hook.configuration({ operation: 'CREATE', resource: 'configmaps' }),
  )
  const snapshot = cluster.snapshot()
  const creating = cluster.request({
    method: 'POST',
    path: configMaps,
    body: named('ConfigMap', 'late'),
  })
  await hook.held
  await cluster.restore(snapshot)
  hook.release()
  assert.equal((await creating).status, 500)
  assert.equal(await statusOf(cluster, `${configMaps}/late`), 404)
})

test('an object that was recreated is first deleted, so that no watch event changes a uid', async () => {
  await using cluster = await startCluster()
  await post(cluster, configMaps, named('ConfigMap', 'c'))
  const snapshot = cluster.snapshot()
  await remove(cluster, `${configMaps}/c`)
  await post(cluster, configMaps, named('ConfigMap', 'c'))
  await cluster.restore(snapshot)
  const writes = cluster.history({ resource: 'configmaps', name: 'c' })
  assert.deepEqual(
    writes.map(({ operation }) => operation),
    ['create', 'delete', 'create', 'delete', 'create'],
  )
  const [first, , second, , last] = writes.map(({ object }) => object?.metadata.uid)
  assert.equal(last, first)
  assert.notEqual(last, second)
})

suite('after a restore has returned, requests are handled according to the restored state', () => {
  /**
   * Number of repetitions. An error is most likely in the second of two restores: watches that
   * recently had events are then notified later than others.
   */
  const ROUNDS = 5

  test('after a restore, authorization uses the restored roles and bindings', async () => {
    await using cluster = await startCluster()
    const user = { name: 'bob' }
    const empty = cluster.snapshot()
    const roleRef = {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: 'cluster-admin',
    }
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }]
    const binding = named('ClusterRoleBinding', 'z', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      roleRef,
      subjects,
    })
    // Create many bindings, so that loading them takes more than one tick of the event loop.
    await postMany(cluster, `${rbac}/clusterrolebindings`, (name) => ({
      ...binding,
      metadata: { name },
      subjects: [],
    }))
    await post(cluster, `${rbac}/clusterrolebindings`, binding)
    const full = cluster.snapshot()
    const list = async (): Promise<number> =>
      (await cluster.request({ path: '/api/v1/secrets', user })).status
    for (let round = 0; round < ROUNDS; round++) {
      await cluster.restore(empty)
      await cluster.restore(full)
      assert.equal(await list(), 200)
      await cluster.restore(empty)
      assert.equal(await list(), 403)
    }
  })

  test('after a restore, admission uses the restored policies and webhooks', async () => {
    await using hook = await HoldingWebhook.start()
    await using cluster = await startCluster()
    const apiVersion = 'admissionregistration.k8s.io/v1'
    const rule = {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['CREATE'],
      resources: ['configmaps'],
    }
    const policy = named('ValidatingAdmissionPolicy', 'p', {
      apiVersion,
      spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'false' }] },
    })
    const binding = named('ValidatingAdmissionPolicyBinding', 'p', {
      apiVersion,
      spec: { policyName: 'p', validationActions: ['Deny'] },
    })
    hook.release()
    const empty = cluster.snapshot()
    await post(
      cluster,
      webhookConfigurations,
      hook.configuration({ operation: 'CREATE', resource: 'configmaps' }),
    )
    await post(cluster, `${admission}/validatingadmissionpolicies`, policy)
    await post(cluster, `${admission}/validatingadmissionpolicybindings`, binding)
    const full = cluster.snapshot()
    const create = async (): Promise<[number, number]> => {
      const { count } = hook
      const path = `${configMaps}?dryRun=All`
      const { status } = await cluster.request({
        method: 'POST',
        path,
        body: named('ConfigMap', 'c'),
      })
      return [status, hook.count - count]
    }
    for (let round = 0; round < ROUNDS; round++) {
      await cluster.restore(full)
      await cluster.restore(empty)
      assert.deepEqual(await create(), [201, 0])
      await cluster.restore(full)
      assert.equal((await create())[0], 422)
    }
    await cluster.restore(full)
    await remove(cluster, `${admission}/validatingadmissionpolicybindings/p`)
    assert.deepEqual(await create(), [201, 1])
  })

  test('after a restore, custom resources are served according to the restored definitions', async () => {
    await using cluster = await startCluster()
    const empty = cluster.snapshot()
    await post(cluster, definitions, widgetDefinition)
    await cluster.waitFor(async () => (await statusOf(cluster, widgets)) === 200)
    await post(cluster, widgets, named('Widget', 'w', { apiVersion: 'example.com/v1' }))
    const full = cluster.snapshot()
    for (let round = 0; round < ROUNDS; round++) {
      await cluster.restore(full)
      await cluster.restore(empty)
      assert.equal(await statusOf(cluster, widgets), 404)
      await cluster.restore(full)
      assert.equal(await statusOf(cluster, `${widgets}/w`), 200)
    }
  })

  test('after a restore, namespaces and their objects are up to date, even if no controller watches them', async () => {
    await using cluster = await startCluster({ controllers: false })
    const empty = cluster.snapshot()
    await post(cluster, namespaces, named('Namespace', 'n'))
    await post(cluster, `${namespaces}/n/configmaps`, named('ConfigMap', 'c'))
    const full = cluster.snapshot()
    for (let round = 0; round < ROUNDS; round++) {
      await cluster.restore(empty)
      const body = named('ConfigMap', 'd')
      assert.equal(
        (await cluster.request({ method: 'POST', path: `${namespaces}/n/configmaps`, body }))
          .status,
        404,
      )
      assert.deepEqual(await uidsOf(cluster, `${namespaces}/n/configmaps?resourceVersion=0`), [])
      await cluster.restore(full)
      assert.equal(
        (await uidsOf(cluster, `${namespaces}/n/configmaps?resourceVersion=0`)).length,
        1,
      )
    }
  })
})

test('every write that the server begins has a fencing token, so that a later restore can reject the write', async () => {
  const config = configure({}, createCredentials())
  const clock = new TestClock({ offsetMs: 0, onMoving: () => undefined, onMoved: () => undefined })
  const history = new History({ wallMs: clock.clock.wallMs, revision: () => 0, root: '/registry/' })
  const restores = new Restores()
  const engine = new MemoryEngine()
  const change = engine.change.bind(engine)
  const [fenced, unfenced]: [Set<string>, Set<string>] = [new Set(), new Set()]
  let isStarted = false
  engine.change = (write, options) => {
    const resource = write.key.split('/')[2] ?? ''
    if (isStarted) (Restores.isWorking() ? fenced : unfenced).add(resource)
    return change(write, options)
  }
  const parts = {
    engine,
    restores,
    clock,
    log: silent,
    isPrepared: false,
    history,
    listen: async () => undefined,
  }
  const { server, handle } = await boot(config, parts)
  try {
    await server.bootstrapped
    isStarted = true
    const call = (method: 'POST' | 'DELETE', path: string, body?: Fields): Promise<unknown> =>
      restores.begin(() => ask(handle, { method, path, body }, history))
    await call('POST', namespaces, named('Namespace', 'n'))
    await call('POST', definitions, widgetDefinition)
    const limits = named('ResourceQuota', 'q', { spec: { hard: { pods: '1' } } })
    await call('POST', `${namespaces}/n/resourcequotas`, limits)
    await call(
      'POST',
      `${namespaces}/n/services`,
      named('Service', 's', { spec: { ports: [{ port: 80 }] } }),
    )
    await call('DELETE', `${namespaces}/n`)
    await call('DELETE', `${definitions}/widgets.example.com`)
    const isGone = (key: string): boolean => engine.peek(`/registry/${key}`) === undefined
    await until(() => isGone('namespaces/n'), 'the namespace is gone')
    await until(
      () => isGone('apiextensions.k8s.io/customresourcedefinitions/widgets.example.com'),
      'the definition is gone',
    )
    assert.deepEqual([...unfenced], [])
    for (const resource of [
      'namespaces',
      'serviceaccounts',
      'configmaps',
      'resourcequotas',
      'clusterroles',
    ])
      assert.ok(fenced.has(resource), `${resource} are not among ${[...fenced].join(', ')}`)
  } finally {
    await server.stop()
  }
})

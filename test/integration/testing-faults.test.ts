/**
 * Tests every kind of fault, with the example of docs/testing.md. An operator with one bug passes
 * without the fault and fails with it. A correct operator passes with the fault.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, suite, test } from 'node:test'
import { CoreV1Api, KubeConfig, Watch } from '@kubernetes/client-node'
import { type Care, careful, SiteOperator } from '../../examples/testing/operator.ts'
import {
  type Cluster,
  type Fault,
  type FaultEffect,
  type FaultMatch,
  startCluster,
} from '../../src/entry/testing/index.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const resource = 'configmaps'

type ItemList = { readonly items: readonly unknown[] }
type Site = { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } }

/**
 * The state of a site. A site is the resource that the operator of the example manages. `isReady`
 * states whether the operator has marked the site as ready. `children` is the number of the site's
 * children.
 */
type Outcome = { readonly isReady: boolean; readonly children: number }

const good: Outcome = { isReady: true, children: 1 }

suite('an injected fault reveals a bug in an operator', () => {
  let cluster: Cluster
  before(async () => {
    cluster = await startCluster()
  })
  after(() => cluster.stop())
  afterEach(() => cluster.reset())

  const start = (care: Care): SiteOperator => {
    const kubeconfig = new KubeConfig()
    kubeconfig.loadFromString(JSON.stringify(cluster.kubeconfig))
    return new SiteOperator(kubeconfig, care)
  }

  const create = async (name: string): Promise<void> => {
    const metadata = { name, labels: { kind: 'site' } }
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata }
    assert.equal((await cluster.request({ method: 'POST', path: configMaps, body })).status, 201)
  }

  const touch = async (name: string, text: string): Promise<void> => {
    const body = { data: { text } }
    assert.equal(
      (await cluster.request({ method: 'PATCH', path: `${configMaps}/${name}`, body })).status,
      200,
    )
  }

  const outcome = async (name: string): Promise<Outcome> => {
    const { body: site } = await cluster.request<Site>({ path: `${configMaps}/${name}` })
    const { body: children } = await cluster.request<ItemList>({
      path: `${configMaps}?labelSelector=site%3D${name}`,
    })
    const isReady = site.metadata.annotations?.['example.dev/ready'] === 'true'
    return { isReady, children: children.items.length }
  }

  type Act = (operator: SiteOperator, fault: Fault | undefined) => Promise<void>

  /**
   * Runs an operator. Sets the fault as soon as the operator watches, and then calls `act`, which
   * creates a site. Returns the state of the site.
   */
  const run = async (
    care: Care,
    fault: readonly [FaultMatch, FaultEffect] | undefined,
    act: Act,
  ): Promise<Outcome> => {
    {
      await using operator = start(care)
      await cluster.waitFor(() => operator.watches > 0, { what: 'the operator watches' })
      await act(operator, fault && cluster.faults.on(...fault))
      cluster.faults.clear()
      await operator.settled()
    }
    // Reset the cluster when the operator has stopped. A running operator would still use the
    // objects that the reset removes.
    const result = await outcome('home')
    await cluster.reset()
    return result
  }

  /**
   * Runs a faulty and a correct operator. Returns the results of the faulty operator without and
   * with the fault, and of the correct operator with the fault.
   */
  const compare = async (
    bug: Partial<Care>,
    fault: readonly [FaultMatch, FaultEffect],
    act: Act,
  ): Promise<{ unseen: Outcome; found: Outcome; right: Outcome }> => ({
    unseen: await run({ ...careful, ...bug }, undefined, act),
    found: await run({ ...careful, ...bug }, fault, act),
    right: await run(careful, fault, act),
  })

  /** Creates a site, and waits until the operator has handled it. */
  const makeSite: Act = async (operator, fault) => {
    await create('home')
    await cluster.waitFor(async () => (fault?.hits ?? 0) > 0 || (await outcome('home')).isReady, {
      what: 'the operator has met the fault, or has finished',
    })
    await operator.settled()
  }

  test('the injected fault `status` reveals that an operator does not retry failed requests', async () => {
    const fault = [{ verb: 'create', resource, times: 1 }, { status: 500 }] as const
    const { unseen, found, right } = await compare({ retries: false }, fault, makeSite)
    assert.deepEqual([unseen, right], [good, good])
    assert.deepEqual(found, { isReady: false, children: 0 })
  })

  test('the injected fault `conflict` reveals that an operator does not read changed objects again', async () => {
    const fault = [
      { verb: 'update', resource, name: 'home', times: 1 },
      { conflict: true },
    ] as const
    const { unseen, found, right } = await compare({ rereads: false }, fault, makeSite)
    assert.deepEqual([unseen, right], [good, good])
    assert.deepEqual(found, { isReady: false, children: 1 })
  })

  const touchWhileCreating: Act = async (operator, set) => {
    await create('home')
    const hasBegun = async (): Promise<boolean> =>
      set?.hits === 1 || (await outcome('home')).isReady
    await cluster.waitFor(hasBegun, { what: 'the first pass creates' })
    if (set === undefined) await operator.settled()
    await touch('home', 'again')
    if (set !== undefined)
      await cluster.waitFor(() => set.hits === 2, { what: 'the second pass creates' })
  }

  const createAfterWatch: Act = async (operator, set) => {
    let hasEnded = false
    void operator.ended.then(() => {
      hasEnded = true
    })
    if (set !== undefined)
      await cluster.waitFor(() => hasEnded || operator.watches > 1, { what: 'a new watch' })
    await create('home')
    if (!hasEnded) await cluster.waitFor(async () => (await outcome('home')).isReady)
  }

  test('the injected fault `dropConnection` reveals that an operator creates an object twice if the first response is lost', async () => {
    const fault = [{ verb: 'create', resource, times: 1 }, { dropConnection: 'after' }] as const
    const { unseen, found, right } = await compare(
      { looksAgain: false, namesChildren: false },
      fault,
      makeSite,
    )
    assert.deepEqual([unseen, right], [good, good])
    assert.deepEqual(found, { isReady: true, children: 2 })
  })

  test('the injected fault `dropConnection` reveals that an operator does not repeat a request that was not received', async () => {
    const fault = [{ verb: 'create', resource, times: 1 }, { dropConnection: true }] as const
    const { unseen, found, right } = await compare({ retries: false }, fault, makeSite)
    assert.deepEqual([unseen, right], [good, good])
    assert.deepEqual(found, { isReady: false, children: 0 })
  })

  test('the injected fault `delayMs` reveals that an operator creates an object twice if the first create is still in progress', async () => {
    const fault = [{ verb: 'create', resource }, { delayMs: 60_000 }] as const
    const { unseen, found, right } = await compare(
      { namesChildren: false },
      fault,
      touchWhileCreating,
    )
    assert.deepEqual([unseen, right], [good, good])
    assert.deepEqual(found, { isReady: true, children: 2 })
  })

  test('the injected fault `closeWatch` reveals that an operator does not reopen a watch that has ended', async () => {
    const fault = [{ verb: 'watch', resource, times: 1 }, { closeWatch: true }] as const
    const { unseen, found, right } = await compare({ rewatches: false }, fault, createAfterWatch)
    assert.deepEqual([unseen, right], [good, good])
    assert.deepEqual(found, { isReady: false, children: 0 })
  })

  test('the injected fault `staleRead` reveals that an operator creates an object again that is missing in an old list', async () => {
    const fault = [{ verb: 'list', resource }, { staleRead: true }] as const
    const act: Act = async (operator) => {
      await create('home')
      await cluster.waitFor(async () => (await outcome('home')).isReady)
      await operator.settled()
      await touch('home', 'again')
      const name = 'home'
      const version = (): number =>
        Number(cluster.history({ resource, name }).at(-1)?.resourceVersion ?? 0)
      const touched = version()
      await touch('home', 'and again')
      await cluster.waitFor(() => version() > touched)
      await operator.settled()
    }
    const { unseen, found, right } = await compare({ namesChildren: false }, fault, act)
    assert.deepEqual([unseen, right], [good, good])
    assert.ok(found.children > 1, `${found.children} children`)
  })
})

test('the injected fault `closeWatch` ends a watch after a complete event, even if the event is sent in parts', async () => {
  await using cluster = await startCluster()
  const path = '/api/v1/namespaces/default/configmaps'
  for (const [name, length] of [
    ['long', 100_000],
    ['short', 1],
  ] as const) {
    const metadata = { name, labels: { own: 'yes' } }
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { k: 'x'.repeat(length) } }
    assert.equal((await cluster.request({ method: 'POST', path, body })).status, 201)
  }
  const kubeconfig = new KubeConfig()
  kubeconfig.loadFromString(JSON.stringify(cluster.kubeconfig))
  for (const afterEvents of [1, 2]) {
    const fault = cluster.faults.on(
      { verb: 'watch', resource: 'configmaps' },
      { closeWatch: { afterEvents } },
    )
    const names: string[] = []
    const ended = Promise.withResolvers<unknown>()
    const onEvent = (_: string, { metadata }: { metadata: { name: string } }): void =>
      void names.push(metadata.name)
    await new Watch(kubeconfig).watch(path, { labelSelector: 'own=yes' }, onEvent, ended.resolve)
    await ended.promise
    fault.off()
    assert.deepEqual(names, ['long', 'short'].slice(0, afterEvents))
  }
})

type ObjectList = {
  readonly metadata: { readonly resourceVersion: string }
  readonly items: readonly unknown[]
}

test('with the injected fault `staleRead`, a list has the resourceVersion of its state, so that a watch reports later changes', async () => {
  await using cluster = await startCluster()
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e' },
    involvedObject: { kind: 'ConfigMap', namespace: 'default', name: 'x' },
  }
  const events = '/api/v1/namespaces/default/events'
  assert.equal((await cluster.request({ method: 'POST', path: events, body: event })).status, 201)
  cluster.faults.on({ verb: 'list', resource: 'events' }, { staleRead: true })
  const created = Number(cluster.history().at(-1)?.resourceVersion)
  const core = await cluster.client(CoreV1Api)
  const list = async (): Promise<readonly unknown[]> => {
    const { metadata, items } = await core.listNamespacedEvent({ namespace: 'default' })
    return [Number(metadata?.resourceVersion), items.length]
  }
  // The server also writes Leases of its own, which the history does not contain.
  const [frozen] = await list()
  assert.ok(Number(frozen) >= created)
  // The stale response must not change, whatever the server writes and however much time passes.
  await cluster.clock.advance('2h')
  for (let i = 0; i < 20; i++) {
    assert.deepEqual(await list(), [frozen, 1])
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { body: now } = await cluster.request<ObjectList>({ path: events })
  assert.ok(Number(now.metadata.resourceVersion) > Number(frozen))
  assert.equal(now.items.length, 0)
})

test('the injected fault `conflict` applies only to requests that change an object', async () => {
  await using cluster = await startCluster()
  const core = await cluster.client(CoreV1Api)
  const fault = cluster.faults.on({ resource }, { conflict: true })
  const body = { metadata: { name: 'x' } }
  const namespace = 'default'
  await core.createNamespacedConfigMap({ namespace, body })
  await core.readNamespacedConfigMap({ namespace, name: 'x' })
  await core.listNamespacedConfigMap({ namespace })
  assert.equal(fault.hits, 0)
  const name = 'x'
  await assert.rejects(core.replaceNamespacedConfigMap({ namespace, name, body }), { code: 409 })
  await assert.rejects(core.patchNamespacedConfigMap({ namespace, name, body: [] }), { code: 409 })
  await assert.rejects(core.deleteNamespacedConfigMap({ namespace, name }), { code: 409 })
  assert.equal(fault.hits, 3)
})

test('an injected fault for an unknown resource is rejected, even in a fork that has not started', async () => {
  await using cluster = await startCluster()
  const teas = { verb: 'list', resource: 'teas.example.com' } as const
  assert.throws(
    () => cluster.faults.on(teas, { status: 503 }),
    /create its CustomResourceDefinition/,
  )
  const body = {
    metadata: { name: 'teas.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'teas', kind: 'Tea' },
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
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  assert.equal((await cluster.request({ method: 'POST', path, body })).status, 201)
  cluster.faults.on(teas, { status: 503 })
  await using fork = await cluster.fork()
  fork.faults.on(teas, { status: 503 })
  assert.throws(() => fork.faults.on({ resource: 'tea' }, { status: 503 }), /did you mean teas/)
})

test('an unknown option of startCluster is rejected', async () => {
  const options: object = { flag: [] }
  await assert.rejects(startCluster(options), {
    name: 'TypeError',
    message: 'startCluster has no option flag; did you mean flags?',
  })
})

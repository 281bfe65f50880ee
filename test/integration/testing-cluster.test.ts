/** Tests clusters of keelson/testing in this process, their credentials and clients. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { AppsV1Api, CoreV1Api, KubeConfig, Watch } from '@kubernetes/client-node'
import { type Cluster, startCluster } from '../../src/entry/testing/index.ts'

/**
 * Maximum time for a start and a stop on a busy machine. Watches that are not closed would last for
 * five minutes or more.
 */
const FORGOTTEN_MS_MAX = 120_000

type NameList = { readonly items: readonly { readonly metadata: { readonly name: string } }[] }

const configMap = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
})

/** Sends a request over TLS, as a client without a library would. */
function getWithToken(cluster: Cluster, path: string, token: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const headers = { authorization: `Bearer ${token}` }
  const sent = httpsRequest(
    `${cluster.url}${path}`,
    { ca: cluster.certificateAuthority, headers },
    (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    },
  )
  sent.on('error', reject)
  sent.end()
  return promise
}

suite('clusters of keelson/testing work in the process that starts them', () => {
  let cluster: Cluster
  before(async () => {
    cluster = await startCluster()
  })
  after(() => cluster.stop())

  test('a cluster is ready after the start, so that a pod can be created immediately', async () => {
    const core = await cluster.client(CoreV1Api)
    const pod = { metadata: { name: 'first' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const created = await core.createNamespacedPod({ namespace: 'default', body: pod })
    assert.equal(created.spec?.serviceAccountName, 'default')
    assert.equal((await cluster.request({ path: '/readyz' })).status, 200)
  })

  test('a cluster is ready when it is returned, and so are further clusters and forks', async () => {
    await using further = await startCluster()
    assert.equal((await further.request({ path: '/readyz' })).status, 200)
    await using fork = await cluster.fork()
    assert.equal((await fork.request({ path: '/readyz' })).status, 200)
  })

  test('a cluster provides typed clients for any API group', async () => {
    const apps = await cluster.client(AppsV1Api)
    const { items } = await apps.listNamespacedDeployment({ namespace: 'default' })
    assert.deepEqual(items, [])
  })

  test('a cluster accepts only its own token', async () => {
    assert.equal(await getWithToken(cluster, '/api/v1/nodes', cluster.token), 200)
    assert.equal(await getWithToken(cluster, '/api/v1/nodes', 'wrong'), 401)
  })

  test('a cluster authenticates other users by their certificates, and authorizes them with roles', async () => {
    const alice = { name: 'alice', groups: ['readers'] }
    const core = await cluster.client(CoreV1Api, alice)
    await assert.rejects(core.listNamespacedConfigMap({ namespace: 'default' }), { code: 403 })
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'readers' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'readers' }],
    }
    const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings'
    assert.equal((await cluster.request({ method: 'POST', path, body: binding })).status, 201)
    assert.ok((await core.listNamespacedConfigMap({ namespace: 'default' })).items.length > 0)
    assert.equal((await cluster.request({ path: '/api/v1/nodes', user: alice })).status, 403)
  })

  test('a cluster provides its kubeconfig as an object and as a file', async () => {
    const path = cluster.kubeconfigFile()
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), cluster.kubeconfig)
    const kubeconfig = new KubeConfig()
    kubeconfig.loadFromFile(path)
    const { items } = await kubeconfig.makeApiClient(CoreV1Api).listNamespace()
    assert.deepEqual(
      items.map(({ metadata }) => metadata?.name),
      ['default', 'kube-node-lease', 'kube-public', 'kube-system'],
    )
  })

  test('cluster.waitFor waits until a controller has produced a result', async () => {
    const path = '/api/v1/namespaces'
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'passing' } }
    assert.equal((await cluster.request({ method: 'POST', path, body })).status, 201)
    const accounts = await cluster.waitFor(async () => {
      const { body: found } = await cluster.request<NameList>({
        path: `${path}/passing/serviceaccounts`,
      })
      return found.items.length > 0 && found.items
    })
    assert.equal(accounts[0]?.metadata.name, 'default')
    // Delete the namespace. It disappears only if controllers remove its contents.
    assert.equal((await cluster.request({ method: 'DELETE', path: `${path}/passing` })).status, 200)
    await cluster.waitFor(
      async () => (await cluster.request({ path: `${path}/passing` })).status === 404,
    )
  })

  test('when a wait times out, the error contains the awaited state and the cause', async () => {
    const why = new Error('this is why')
    const waiting = cluster.waitFor(() => Promise.reject(why), {
      timeoutMs: 50,
      what: 'the impossible',
    })
    await assert.rejects(waiting, {
      message: /^timed out after 50 ms waiting for the impossible\n/,
      cause: why,
    })
  })

  test('a cluster returns lists of any length', async () => {
    const path = '/api/v1/namespaces/default/configmaps'
    const big = 'x'.repeat(100_000)
    const created = Array.from({ length: 20 }, (_, i) =>
      cluster.request({ method: 'POST', path, body: configMap(`big-${i}`, { big }) }),
    )
    assert.ok((await Promise.all(created)).every(({ status }) => status === 201))
    const { body } = await cluster.request<NameList>({ path })
    assert.equal(body.items.filter(({ metadata }) => metadata.name.startsWith('big-')).length, 20)
    await assert.rejects(cluster.request({ path: `${path}?watch=true` }), /use a client/)
  })
})

test('clusters in one process are independent', async () => {
  await using one = await startCluster()
  await using other = await startCluster()
  const path = '/api/v1/namespaces/default/configmaps'
  assert.equal(
    (await one.request({ method: 'POST', path, body: configMap('only-here') })).status,
    201,
  )
  assert.equal((await one.request({ path: `${path}/only-here` })).status, 200)
  assert.equal((await other.request({ path: `${path}/only-here` })).status, 404)
  assert.notEqual(one.url, other.url)
})

test('controllers can be disabled, as with envtest', async () => {
  await using cluster = await startCluster({ controllers: false })
  const core = await cluster.client(CoreV1Api)
  assert.deepEqual((await core.listNamespacedServiceAccount({ namespace: 'default' })).items, [])
  const pod = { metadata: { name: 'first' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  await core.createNamespacedPod({ namespace: 'default', body: pod })
  await core.createNamespace({ body: { metadata: { name: 'stays' } } })
  await core.deleteNamespace({ name: 'stays' })
  assert.equal((await core.readNamespace({ name: 'stays' })).status?.phase, 'Terminating')
})

test('clusters accept the flags of keelson serve, and report invalid flags', async () => {
  await using cluster = await startCluster({
    flags: ['--enable-admission-plugins=AlwaysPullImages'],
  })
  const core = await cluster.client(CoreV1Api)
  const pod = {
    metadata: { name: 'first' },
    spec: { containers: [{ name: 'c', image: 'i', imagePullPolicy: 'Never' }] },
  }
  const created = await core.createNamespacedPod({ namespace: 'default', body: pod })
  assert.equal(created.spec?.containers[0]?.imagePullPolicy, 'Always')
  await assert.rejects(startCluster({ flags: ['--nope=1'] }), /nope/)
})

test('after a stop, no file, no open port and no watch remains', async () => {
  const cluster = await startCluster()
  const file = cluster.kubeconfigFile()
  const kubeconfig = new KubeConfig()
  kubeconfig.loadFromFile(file)
  const seen = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const onDone = (): void => ended.resolve()
  await new Watch(kubeconfig).watch('/api/v1/namespaces', {}, () => seen.resolve(), onDone)
  await seen.promise
  await cluster.stop()
  await ended.promise
  assert.ok(!existsSync(file))
  await assert.rejects(getWithToken(cluster, '/version', cluster.token), { code: 'ECONNREFUSED' })
  await assert.rejects(cluster.request({ path: '/version' }), /has been stopped/)
})

test('a cluster that was not stopped does not keep the process alive', async () => {
  const module = new URL('../../src/entry/testing/index.ts', import.meta.url).href
  const program = `
    const { startCluster } = await import(${JSON.stringify(module)})
    const cluster = await startCluster()
    const fork = await cluster.fork()
    await fork.ready()
    await cluster.request({ path: '/api/v1/namespaces' })
    console.log('forgotten')
  `
  // The process must end although it has open watches. Their timeout is several minutes.
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program],
    {
      timeout: FORGOTTEN_MS_MAX,
    },
  )
  assert.equal(stdout, 'forgotten\n')
})

test('the tokens of a cluster are invalid in other clusters, but valid in its forks', async () => {
  await using one = await startCluster()
  await using other = await startCluster()
  await using fork = await one.fork()
  const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const path = '/api/v1/namespaces/default/serviceaccounts/default/token'
  const { body } = await one.request<{ status: { token: string } }>({
    method: 'POST',
    path,
    body: asked,
  })
  for (const token of [one.token, body.status.token]) {
    const answers = [one, fork, other].map((cluster) => getWithToken(cluster, '/version', token))
    assert.deepEqual(await Promise.all(answers), [200, 200, 401])
  }
})

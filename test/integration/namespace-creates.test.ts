/**
 * Tests creates with slow admission in a namespace that is deleted in the meantime, and how quickly
 * a namespace is deleted.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../src/api/object.ts'
import { type Cluster, startCluster, type TestRequest } from '../../src/entry/testing/index.ts'
import { HoldingWebhook, webhookConfigurations } from '../support/harness/holding-webhook.ts'
import { PATIENCE_MS } from '../support/harness/until.ts'

const namespaces = '/api/v1/namespaces'
const configMaps = `${namespaces}/n/configmaps`

type NameList = { readonly items: readonly { readonly metadata: { readonly name: string } }[] }

const named = (kind: string, name: string): Fields => ({
  apiVersion: 'v1',
  kind,
  metadata: { name },
})

async function send(cluster: Cluster, request: TestRequest): Promise<void> {
  const { status, body } = await cluster.request(request)
  assert.ok(status < 300, `${request.path} returned ${status}: ${JSON.stringify(body)}`)
}

const post = (cluster: Cluster, path: string, body: Fields): Promise<void> =>
  send(cluster, { method: 'POST', path, body })

const isThere = async (cluster: Cluster, path: string): Promise<boolean> =>
  (await cluster.request({ path })).status === 200

/** Creates a namespace, and waits for the objects that controllers create in it. */
async function createNamespace(cluster: Cluster): Promise<void> {
  await post(cluster, namespaces, named('Namespace', 'n'))
  await cluster.waitFor(() => isThere(cluster, `${configMaps}/kube-root-ca.crt`))
  await cluster.waitFor(() => isThere(cluster, `${namespaces}/n/serviceaccounts/default`))
}

const isGone = async (cluster: Cluster): Promise<boolean> =>
  !(await isThere(cluster, `${namespaces}/n`))

const late = named('ConfigMap', 'late')
const ofLate = {
  operation: 'CREATE',
  resource: 'configmaps',
  condition: "request.name == 'late'",
} as const
const apply = 'application/apply-patch+yaml'
const requests: Readonly<Record<string, TestRequest>> = {
  'a create': { method: 'POST', path: configMaps, body: late },
  'an apply': {
    method: 'PATCH',
    path: `${configMaps}/late?fieldManager=m`,
    body: late,
    contentType: apply,
  },
}

for (const [what, request] of Object.entries(requests)) {
  test(`${what} that is in progress when its namespace is deleted stores nothing`, async () => {
    await using hook = await HoldingWebhook.start()
    await using cluster = await startCluster()
    await createNamespace(cluster)
    await post(cluster, webhookConfigurations, hook.configuration(ofLate))
    const creating = cluster.request<{ readonly message: string }>(request)
    await hook.held
    await send(cluster, { method: 'DELETE', path: `${namespaces}/n` })
    await cluster.waitFor(() => isGone(cluster), { timeoutMs: PATIENCE_MS })
    hook.release()
    const { status, body } = await creating
    assert.deepEqual([status, body.message], [404, 'namespaces "n" not found'])
    const { body: list } = await cluster.request<NameList>({ path: configMaps })
    assert.deepEqual(list.items, [])
  })
}

test('a create with slow admission is rejected if the deletion of its namespace begins in the meantime', async () => {
  await using hook = await HoldingWebhook.start()
  await using cluster = await startCluster({ controllers: ['serviceaccount-controller'] })
  await post(cluster, namespaces, named('Namespace', 'n'))
  await post(cluster, webhookConfigurations, hook.configuration(ofLate))
  const creating = cluster.request<{ readonly message: string }>({
    method: 'POST',
    path: configMaps,
    body: late,
  })
  await hook.held
  await send(cluster, { method: 'DELETE', path: `${namespaces}/n` })
  hook.release()
  const { status, body } = await creating
  assert.equal(status, 403)
  assert.match(
    body.message,
    /unable to create new content in namespace n because it is being terminated/,
  )
  assert.equal(await isThere(cluster, `${configMaps}/late`), false)
})

test('a create with slow admission succeeds if its namespace is changed in the meantime', async () => {
  await using hook = await HoldingWebhook.start()
  await using cluster = await startCluster()
  await post(cluster, namespaces, named('Namespace', 'n'))
  await post(cluster, webhookConfigurations, hook.configuration(ofLate))
  const creating = cluster.request({ method: 'POST', path: configMaps, body: late })
  await hook.held
  await send(cluster, {
    method: 'PATCH',
    path: `${namespaces}/n`,
    body: { metadata: { labels: { changed: 'true' } } },
    contentType: 'application/merge-patch+json',
  })
  hook.release()
  assert.equal((await creating).status, 201)
})

test('an empty namespace is deleted within 100 ms', async () => {
  await using cluster = await startCluster()
  const endMs = performance.now() + PATIENCE_MS
  // Try until one attempt is fast enough, because other programs on the machine can slow down an
  // attempt.
  for (let tookMs = Infinity; tookMs > 100; ) {
    assert.ok(performance.now() < endMs, `${tookMs} ms`)
    await createNamespace(cluster)
    const startMs = performance.now()
    await send(cluster, { method: 'DELETE', path: `${namespaces}/n` })
    await cluster.waitFor(() => isGone(cluster), { timeoutMs: PATIENCE_MS })
    tookMs = performance.now() - startMs
  }
})

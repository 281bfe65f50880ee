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
  test(`${what} that is in progress when its namespace is deleted leaves nothing behind`, async () => {
    await using hook = await HoldingWebhook.start()
    await using cluster = await startCluster()
    await createNamespace(cluster)
    await post(cluster, webhookConfigurations, hook.configuration(ofLate))
    const creating = cluster.request(request)
    await hook.held
    await send(cluster, { method: 'DELETE', path: `${namespaces}/n` })
    // Another namespace that is deleted later disappears first, because this one waits for the
    // request.
    await post(cluster, namespaces, named('Namespace', 'other'))
    await send(cluster, { method: 'DELETE', path: `${namespaces}/other` })
    await cluster.waitFor(async () => !(await isThere(cluster, `${namespaces}/other`)), {
      timeoutMs: PATIENCE_MS,
    })
    assert.equal(await isGone(cluster), false)
    hook.release()
    await creating
    await cluster.waitFor(() => isGone(cluster), { timeoutMs: PATIENCE_MS })
    const { body } = await cluster.request<NameList>({ path: configMaps })
    assert.deepEqual(body.items, [])
  })
}

test('a create with slow admission is rejected if its namespace is being deleted in the meantime', async () => {
  await using hook = await HoldingWebhook.start()
  await using cluster = await startCluster({ controllers: ['serviceaccount-controller'] })
  await post(cluster, namespaces, named('Namespace', 'n'))
  await post(cluster, webhookConfigurations, hook.configuration(ofLate))
  const startMs = performance.now()
  const creating = cluster.request<{ readonly message: string }>({
    method: 'POST',
    path: configMaps,
    body: late,
  })
  await hook.held
  await send(cluster, { method: 'DELETE', path: `${namespaces}/n` })
  await cluster.waitFor(() => performance.now() - startMs > 1_500)
  hook.release()
  const { status, body } = await creating
  assert.equal(status, 403)
  assert.match(
    body.message,
    /unable to create new content in namespace n because it is being terminated/,
  )
  assert.equal(await isThere(cluster, `${configMaps}/late`), false)
})

test('an empty namespace is deleted within 100 ms', async () => {
  await using cluster = await startCluster()
  const endMs = performance.now() + PATIENCE_MS
  // The fastest of several attempts counts, because other programs might use the machine.
  for (let tookMs = Infinity; tookMs > 100; ) {
    assert.ok(performance.now() < endMs, `${tookMs} ms`)
    await createNamespace(cluster)
    const startMs = performance.now()
    await send(cluster, { method: 'DELETE', path: `${namespaces}/n` })
    await cluster.waitFor(() => isGone(cluster), { timeoutMs: PATIENCE_MS })
    tookMs = performance.now() - startMs
  }
})

/**
 * Tests creates whose namespace or definition is deleted after admission has checked it: while a
 * webhook holds back the create, and while the replica that serves the create is paused.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../src/api/object.ts'
import { startCluster } from '../../src/entry/testing/index.ts'
import { HoldingWebhook, webhookConfigurations } from '../support/harness/holding-webhook.ts'
import { startEtcd } from '../support/harness/etcd.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import { PATIENCE_MS, until } from '../support/harness/until.ts'
import { type Client, clients } from './support.ts'

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const boxes = '/apis/example.com/v1/boxes'
const namespaces = '/api/v1/namespaces'

const definition: Fields = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'boxes.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'boxes', singular: 'box', kind: 'Box', listKind: 'BoxList' },
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

test('a create of a custom resource is rejected if its definition is deleted in the meantime', async () => {
  await using hook = await HoldingWebhook.start()
  await using cluster = await startCluster()
  const serves = async (): Promise<boolean> =>
    (await cluster.request({ path: boxes })).status === 200
  await cluster.request({ method: 'POST', path: definitions, body: definition })
  await cluster.waitFor(serves, { timeoutMs: PATIENCE_MS })
  const configuration = hook.configuration({
    operation: 'CREATE',
    group: 'example.com',
    resource: 'boxes',
  })
  await cluster.request({ method: 'POST', path: webhookConfigurations, body: configuration })
  const box = { apiVersion: 'example.com/v1', kind: 'Box', metadata: { name: 'late' } }
  const creating = cluster.request<{ readonly message: string }>({
    method: 'POST',
    path: boxes,
    body: box,
  })
  await hook.held
  await cluster.request({ method: 'DELETE', path: `${definitions}/boxes.example.com` })
  await cluster.waitFor(async () => !(await serves()), { timeoutMs: PATIENCE_MS })
  // Create the definition again. Its kind is served at the same path, but the pending create must
  // not be stored, because it belongs to the deleted definition.
  await cluster.request({ method: 'POST', path: definitions, body: definition })
  await cluster.waitFor(serves, { timeoutMs: PATIENCE_MS })
  hook.release()
  const { status, body } = await creating
  assert.deepEqual(
    [status, body.message],
    [405, 'create not allowed while custom resource definition is terminating'],
  )
  const { body: list } = await cluster.request<{ readonly items: unknown[] }>({ path: boxes })
  assert.deepEqual(list.items, [])
})

test('a replica that was paused during a create stores nothing in a namespace that no longer exists', async () => {
  await using hook = await HoldingWebhook.start()
  await using etcd = await startEtcd()
  await using one = await startKeelson({
    etcdUrl: etcd.clientUrl,
    args: ['--controllers=namespace-controller'],
  })
  await using two = await startKeelson({ etcdUrl: etcd.clientUrl })
  await using first = connect(one.url)
  await using second = connect(two.url)
  const ofLate = { operation: 'CREATE', resource: 'configmaps' } as const
  await send(first, 'POST', namespaces, named('Namespace', 'n'))
  await send(second, 'POST', webhookConfigurations, hook.configuration(ofLate))
  const creating = second.call({
    method: 'POST',
    path: `${namespaces}/n/configmaps`,
    body: named('ConfigMap', 'late'),
  })
  await hook.held
  process.kill(two.pid, 'SIGSTOP')
  try {
    await send(first, 'DELETE', `${namespaces}/n`)
    const isGone = async (): Promise<boolean> =>
      (await first.call({ path: `${namespaces}/n` })).status === 404
    await until(isGone, 'the namespace is gone')
    hook.release()
  } finally {
    process.kill(two.pid, 'SIGCONT')
  }
  assert.equal((await creating).status, 404)
  const { text } = await first.call({ path: `${namespaces}/n/configmaps` })
  assert.doesNotMatch(text, /late/)
})

test('an object whose namespace has been deleted is not stored, even if its resource uses another etcd than the namespace', async () => {
  await using hook = await HoldingWebhook.start()
  await using etcd = await startEtcd()
  await using other = await startEtcd()
  const args = [
    '--controllers=namespace-controller',
    `--etcd-servers-overrides=/events#${other.clientUrl}`,
  ]
  await using server = await startKeelson({ etcdUrl: etcd.clientUrl, args })
  await using client = connect(server.url)
  await send(client, 'POST', namespaces, named('Namespace', 'n'))
  const ofEvents = { operation: 'CREATE', resource: 'events' } as const
  await send(client, 'POST', webhookConfigurations, hook.configuration(ofEvents))
  const path = `${namespaces}/n/events`
  const event = { ...named('Event', 'late'), involvedObject: { namespace: 'n' } }
  const creating = client.call({ method: 'POST', path, body: event })
  await hook.held
  await send(client, 'DELETE', `${namespaces}/n`)
  const isGone = async (): Promise<boolean> =>
    (await client.call({ path: `${namespaces}/n` })).status === 404
  await until(isGone, 'the namespace is gone')
  hook.release()
  assert.equal((await creating).status, 404)
  assert.doesNotMatch((await client.call({ path })).text, /late/)
})

test('objects can be created if namespaces and CustomResourceDefinitions are stored in another etcd', async () => {
  await using etcd = await startEtcd()
  await using other = await startEtcd()
  const overridden = ['/namespaces', 'apiextensions.k8s.io/customresourcedefinitions']
  const overrides = overridden.map((resource) => `${resource}#${other.clientUrl}`).join(',')
  const args = [`--etcd-servers-overrides=${overrides}`]
  await using server = await startKeelson({ etcdUrl: etcd.clientUrl, args })
  await using client = connect(server.url)
  await send(client, 'POST', namespaces, named('Namespace', 'n'))
  await send(client, 'POST', `${namespaces}/n/configmaps`, named('ConfigMap', 'c'))
  await send(client, 'POST', definitions, definition)
  const isServed = async (): Promise<boolean> => (await client.call({ path: boxes })).status === 200
  await until(isServed, 'the definition is served')
  const box = { apiVersion: 'example.com/v1', kind: 'Box', metadata: { name: 'b' } }
  await send(client, 'POST', boxes, box)
})

function connect(url: string): Client {
  const client = clients['HTTP/2']?.(url)
  assert.ok(client)
  return client
}

async function send(client: Client, method: string, path: string, body?: Fields): Promise<void> {
  const { status } = await client.call({ method, path, body })
  assert.ok(status < 300, `${method} ${path} returned ${status}`)
}

const named = (kind: string, name: string): Fields => ({
  apiVersion: 'v1',
  kind,
  metadata: { name },
})

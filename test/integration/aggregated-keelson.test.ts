/**
 * Tests one Keelson server behind another. The outer server serves an API group of the inner
 * server.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Authority } from '../support/harness/issued-certificate.ts'
import { until } from '../support/harness/until.ts'
import {
  type Answer,
  type Call,
  type Client,
  clients,
  startTestServer,
  type TestServer,
} from './support.ts'

const proxies = new Authority('proxies')
const servers = new Authority('servers')
const group = 'inner.example.com'
const widgets = `/apis/${group}/v1/namespaces/default/widgets`
const parts = new AsyncDisposableStack()
let dir = ''
let inner: TestServer
let outer: TestServer
let innerClient: Client
let client: Client

const file = async (name: string, text: string): Promise<string> => {
  const path = join(dir, name)
  await writeFile(path, text, { mode: 0o600 })
  return path
}

function clientOf(url: string): Client {
  const open = clients['HTTP/2']
  assert.ok(open)
  return parts.use(open(url))
}

async function call(sent: Call, expected: number, own = client): Promise<Answer> {
  const answer = await own.call(sent)
  assert.equal(answer.status, expected, `${sent.path}: ${answer.text}`)
  return answer
}

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-behind-'))
  parts.defer(() => rm(dir, { recursive: true, force: true }))
  inner = parts.use(await startTestServer(await innerFlags()))
  const proxy = proxies.issue({ cn: 'front' })
  outer = parts.use(
    await startTestServer([
      `--proxy-client-cert-file=${await file('front.pem', proxy.certificatePem)}`,
      `--proxy-client-key-file=${await file('front-key.pem', proxy.keyPem)}`,
    ]),
  )
  innerClient = clientOf(inner.url)
  client = clientOf(outer.url)
  await defineWidgets()
  await registerGroup()
})
after(() => parts.disposeAsync())

/**
 * Returns flags with which the inner server accepts the outer server as a front proxy. The outer
 * server authenticates with its client certificate.
 */
async function innerFlags(): Promise<string[]> {
  const serving = servers.issue({
    cn: 'inner',
    usage: ['server'],
    hosts: ['inner.default.svc', '127.0.0.1'],
  })
  return [
    `--tls-cert-file=${await file('inner.pem', serving.certificatePem)}`,
    `--tls-private-key-file=${await file('inner-key.pem', serving.keyPem)}`,
    `--requestheader-client-ca-file=${await file('proxies.pem', proxies.certificatePem)}`,
    '--requestheader-allowed-names=front',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  ]
}

/** Defines widgets in the inner server and waits until it serves them. */
async function defineWidgets(): Promise<void> {
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  await call({ method: 'POST', path: definitions, body: definition }, 201, innerClient)
  await until(
    async () => (await innerClient.call({ path: widgets })).status === 200,
    'the inner server serves widgets',
  )
}

/** Registers the group in the outer server and waits until it serves widgets. */
async function registerGroup(): Promise<void> {
  const service = { type: 'ExternalName', externalName: 'localhost' }
  const path = '/api/v1/namespaces/default/services'
  const body = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'inner' }, spec: service }
  await call({ method: 'POST', path, body }, 201)
  const apiService = {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `v1.${group}` },
    spec: {
      group,
      version: 'v1',
      groupPriorityMinimum: 1000,
      versionPriority: 15,
      caBundle: Buffer.from(servers.certificatePem).toString('base64'),
      service: { namespace: 'default', name: 'inner', port: Number(new URL(inner.url).port) },
    },
  }
  await call(
    { method: 'POST', path: '/apis/apiregistration.k8s.io/v1/apiservices', body: apiService },
    201,
  )
  await until(
    async () => (await client.call({ path: widgets })).status === 200,
    'the outer server serves widgets',
  )
}

const widget = (name: string): object => ({
  apiVersion: `${group}/v1`,
  kind: 'Widget',
  metadata: { name },
  size: 1,
})

test('objects that are written and deleted through the outer server are stored in the aggregated inner server', async () => {
  const events = client.lines({ path: `${widgets}?watch=1` })
  const next = async (): Promise<unknown> => {
    const { type, object } = JSON.parse(String((await events.next()).value))
    return [type, object.metadata.name, object.size]
  }
  await call({ method: 'POST', path: widgets, body: widget('a') }, 201)
  assert.deepEqual(await next(), ['ADDED', 'a', 1])
  const headers = { 'content-type': 'application/merge-patch+json' }
  await call({ method: 'PATCH', path: `${widgets}/a`, body: { size: 2 }, headers }, 200)
  assert.deepEqual(await next(), ['MODIFIED', 'a', 2])
  assert.equal(JSON.parse((await call({ path: `${widgets}/a` }, 200, innerClient)).text).size, 2)
  assert.equal(JSON.parse((await call({ path: widgets }, 200)).text).items.length, 1)
  await call({ method: 'DELETE', path: `${widgets}/a` }, 200)
  assert.deepEqual(await next(), ['DELETED', 'a', 2])
  await call({ path: `${widgets}/a` }, 404)
  await events.return()
})

test('the aggregated inner server authorizes the user that the outer server has authenticated', async () => {
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
  const roleRef = {
    apiGroup: 'rbac.authorization.k8s.io',
    kind: 'ClusterRole',
    name: 'cluster-admin',
  }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }]
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'jane' },
  }
  await call({ method: 'POST', path: roles, body: { ...binding, roleRef, subjects } }, 201)
  const headers = { 'impersonate-user': 'jane' }
  const refused = await call({ path: widgets, headers }, 403)
  assert.match(refused.text, /User \\"jane\\" cannot list resource/)
  await call(
    { method: 'POST', path: roles, body: { ...binding, roleRef, subjects } },
    201,
    innerClient,
  )
  await call({ path: widgets, headers }, 200)
})

test('when the aggregated inner server stops, the outer server continues, and the API group of the inner one is unavailable', async () => {
  const watched = client.lines({ path: `${widgets}?watch=1` })
  const first = watched.next()
  await inner.stop()
  // Wait for the end of the watch. It may end with an error, because its server stops.
  await first.catch(() => undefined)
  await until(
    async () => (await client.call({ path: widgets })).status === 503,
    'the inner server is unavailable',
  )
  await call({ path: '/api/v1/namespaces/default/configmaps' }, 200)
})

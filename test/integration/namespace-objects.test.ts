/**
 * Tests the objects that the server's controllers maintain in every namespace, and the status of
 * quotas.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../support/harness/until.ts'
import { type Client, clients, startTestServer, type TestServer } from './support.ts'

let server: TestServer
let client: Client

before(async () => {
  server = await startTestServer([
    '--controllers=serviceaccount-controller,root-ca-certificate-publisher-controller,resourcequota-controller,namespace-controller',
    '--authorization-mode=RBAC',
  ])
  client = clients['HTTP/2']?.(server.url) ?? assert.fail()
})
after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

async function read(path: string) {
  const { status, text } = await client.call({ path })
  return status === 200 ? JSON.parse(text) : undefined
}

async function post(path: string, body: object): Promise<void> {
  const { status, text } = await client.call({ method: 'POST', path, body })
  assert.equal(status, 201, text)
}

const remove = (path: string) => client.call({ method: 'DELETE', path })

const account = '/api/v1/namespaces/shop/serviceaccounts/default'
const ca = '/api/v1/namespaces/shop/configmaps/kube-root-ca.crt'

test('a new namespace has a service account and a CA config map, which are recreated after a deletion', async () => {
  await post('/api/v1/namespaces', { metadata: { name: 'shop' } })
  const both = async (): Promise<boolean> =>
    (await read(account)) !== undefined && (await read(ca)) !== undefined
  await until(both, 'both objects exist')
  const pem = (await read(ca)).data['ca.crt']
  assert.match(pem, /^-----BEGIN CERTIFICATE-----/)
  const { uid } = (await read(account)).metadata
  await remove(account)
  await remove(ca)
  await until(both, 'both objects exist again')
  assert.notEqual((await read(account)).metadata.uid, uid)
  const headers = { 'content-type': 'application/merge-patch+json' }
  await client.call({
    method: 'PATCH',
    path: ca,
    headers,
    body: { data: { 'ca.crt': 'x', more: 'y' } },
  })
  await until(async () => (await read(ca)).data.more === undefined, 'the ConfigMap is corrected')
  assert.deepEqual((await read(ca)).data, { 'ca.crt': pem })
})

test('the default service account and the CA config map do not prevent the deletion of their namespace', async () => {
  await post('/api/v1/namespaces', { metadata: { name: 'ends' } })
  await until(
    async () => (await read('/api/v1/namespaces/ends/serviceaccounts/default')) !== undefined,
    'the service account exists',
  )
  await remove('/api/v1/namespaces/ends')
  await until(
    async () => (await read('/api/v1/namespaces/ends')) === undefined,
    'the namespace is gone',
  )
})

test('the status of a quota is updated when it is created, when its limits change, and when objects are deleted', async () => {
  const quota = '/api/v1/namespaces/shop/resourcequotas/q'
  const configMaps = '/api/v1/namespaces/shop/configmaps'
  await until(async () => (await read(ca)) !== undefined, 'the CA exists')
  await post(configMaps, { metadata: { name: 'a' } })
  await post(configMaps, { metadata: { name: 'b' } })
  await post('/api/v1/namespaces/shop/resourcequotas', {
    metadata: { name: 'q' },
    spec: { hard: { configmaps: '10', 'count/secrets': '5', pods: '3', 'requests.cpu': '2' } },
  })
  const used = async (): Promise<Record<string, string> | undefined> =>
    (await read(quota)).status.used
  await until(async () => (await used())?.['configmaps'] === '3', 'the objects are counted')
  assert.deepEqual(await used(), {
    configmaps: '3',
    'count/secrets': '0',
    pods: '0',
    'requests.cpu': '0',
  })
  await remove(`${configMaps}/a`)
  await until(async () => (await used())?.['configmaps'] === '2', 'one fewer is counted')
  const headers = { 'content-type': 'application/merge-patch+json' }
  const body = { spec: { hard: { configmaps: '20', services: '2', pods: null } } }
  await client.call({ method: 'PATCH', path: quota, headers, body })
  await until(
    async () => (await read(quota)).status.hard.services === '2',
    'the status has the new limits',
  )
  assert.deepEqual(await used(), {
    configmaps: '2',
    'count/secrets': '0',
    'requests.cpu': '0',
    services: '0',
  })
  const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '500m' } } }]
  await post('/api/v1/namespaces/shop/pods', { metadata: { name: 'p' }, spec: { containers } })
  await until(async () => (await used())?.['requests.cpu'] === '500m', 'the pod is charged')
  const path = '/api/v1/namespaces/shop/pods/p/status'
  await client.call({ method: 'PATCH', path, headers, body: { status: { phase: 'Succeeded' } } })
  await until(
    async () => (await used())?.['requests.cpu'] === '0',
    'a pod that has ended uses nothing',
  )
})

async function define(plural: string): Promise<void> {
  await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, kind: plural },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
    },
  })
  await until(
    async () => (await read(`/apis/example.com/v1/${plural}`)) !== undefined,
    'the resource is served',
  )
}

/** Returns how many times a quota has been queued, so that its objects are counted again. */
async function counts(): Promise<number> {
  const { text } = await client.call({ path: '/metrics' })
  return Number(/^workqueue_adds_total\{name="resourcequota_primary"\} (\d+)/m.exec(text)?.[1])
}

/** Time without a change after which all counts are considered finished. */
const QUIET_MS = 1_500

async function settledCounts(): Promise<number> {
  for (let last = -1; ; ) {
    const now = await counts()
    if (now === last) return now
    last = now
    await sleep(QUIET_MS)
  }
}

test('a new definition triggers a count of only those quotas that limit its objects', async () => {
  const quotas = '/api/v1/namespaces/shop/resourcequotas'
  await post(quotas, {
    metadata: { name: 'lamps' },
    spec: { hard: { 'count/lamps.example.com': '2' } },
  })
  await until(
    async () => (await read(`${quotas}/lamps`)).status.hard !== undefined,
    'the status has the limits',
  )
  const earlier = await settledCounts()
  assert.ok(earlier > 0)
  await define('chairs')
  await sleep(QUIET_MS)
  assert.equal(await counts(), earlier)
  await define('lamps')
  const used = async (): Promise<object | undefined> => (await read(`${quotas}/lamps`)).status.used
  await until(
    async () => JSON.stringify(await used()) === '{"count/lamps.example.com":"0"}',
    'the objects are counted',
  )
})

test('the server logs no warnings or errors while the tests of this file run', () =>
  assert.deepEqual(server.complaints, []))

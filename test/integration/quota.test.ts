/** Tests quotas with many concurrent writers on two servers that share an etcd. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../support/harness/until.ts'
import { type Client, clients, startReplica, startTestServer, type TestServer } from './support.ts'

const servers: TestServer[] = []
const replicas: Client[] = []

before(async () => {
  const first = await startTestServer()
  servers.push(await startReplica(first), first)
  for (const { url } of servers) {
    const client = clients['HTTP/2']?.(url)
    assert.ok(client)
    replicas.push(client)
  }
})

after(async () => {
  for (const client of replicas) await client[Symbol.asyncDispose]()
  for (const server of servers) {
    await server[Symbol.asyncDispose]()
    assert.deepEqual(server.complaints, [])
  }
})

const call = async (at: number, method: string, path: string, body?: unknown) => {
  const client = replicas[at % replicas.length]
  assert.ok(client)
  const { status, text } = await client.call({
    method,
    path,
    ...(body === undefined ? {} : { body }),
  })
  return { status, body: JSON.parse(text) }
}

/**
 * Creates a namespace with quotas and sets their status as the controller would. Afterwards, all
 * replicas have loaded the quotas.
 */
async function limited(
  namespace: string,
  quotas: { [name: string]: { [resource: string]: string } },
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}`
  assert.equal(
    (await call(0, 'POST', '/api/v1/namespaces', { metadata: { name: namespace } })).status,
    201,
  )
  for (const [name, hard] of Object.entries(quotas)) {
    const used = Object.fromEntries(Object.keys(hard).map((resource) => [resource, '0']))
    const quota = { metadata: { name }, spec: { hard }, status: { hard, used } }
    await call(0, 'POST', `${path}/resourcequotas`, quota)
    assert.equal((await call(0, 'PUT', `${path}/resourcequotas/${name}/status`, quota)).status, 200)
  }
  for (const at of replicas.keys()) await call(at, 'GET', `${path}/resourcequotas`)
  return path
}

const usedOf = async (path: string, name: string) =>
  (await call(0, 'GET', `${path}/resourcequotas/${name}`)).body.status.used

const WRITERS = 120

test('two replicas together do not allow more objects than the quota', async () => {
  const path = await limited('counted', { q: { configmaps: '40' } })
  const made = await Promise.all(
    Array.from({ length: WRITERS }, (_, at) =>
      call(at, 'POST', `${path}/configmaps`, { metadata: { name: `c${at}` } }),
    ),
  )
  const statuses = Object.groupBy(made, ({ status }) => status)
  assert.deepEqual(Object.keys(statuses).toSorted(), ['201', '403'])
  assert.equal(statuses[201]?.length, 40)
  assert.equal((await call(1, 'GET', `${path}/configmaps`)).body.items.length, 40)
  assert.deepEqual(await usedOf(path, 'q'), { configmaps: '40' })
})

test('pods are charged for their requests, and never exceed the quota', async () => {
  const path = await limited('spent', { q: { 'requests.cpu': '5', pods: '100' } })
  const resources = { requests: { cpu: '200m' } }
  const pod = (name: string) => ({
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i', resources }] },
  })
  const made = await Promise.all(
    Array.from({ length: WRITERS }, (_, at) => call(at, 'POST', `${path}/pods`, pod(`p${at}`))),
  )
  assert.equal(made.filter(({ status }) => status === 201).length, 25)
  assert.deepEqual(await usedOf(path, 'q'), { pods: '25', 'requests.cpu': '5' })
})

test('the smaller of two quotas limits the number of objects, and both are charged the same amount', async () => {
  const path = await limited('twice', { a: { secrets: '50' }, b: { 'count/secrets': '30' } })
  const made = await Promise.all(
    Array.from({ length: WRITERS }, (_, at) =>
      call(at, 'POST', `${path}/secrets`, { metadata: { name: `s${at}` } }),
    ),
  )
  assert.equal(made.filter(({ status }) => status === 201).length, 30)
  assert.deepEqual(await usedOf(path, 'a'), { secrets: '30' })
  assert.deepEqual(await usedOf(path, 'b'), { 'count/secrets': '30' })
})

test('a dry run is rejected like the real request, and is not charged', async () => {
  const path = await limited('dry', { q: { configmaps: '1' } })
  const body = { metadata: { name: 'c' } }
  assert.equal((await call(0, 'POST', `${path}/configmaps?dryRun=All`, body)).status, 201)
  assert.equal((await call(1, 'POST', `${path}/configmaps`, body)).status, 201)
  const refused = await call(0, 'POST', `${path}/configmaps?dryRun=All`, {
    metadata: { name: 'd' },
  })
  assert.equal(
    refused.body.message,
    'configmaps "d" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1',
  )
  assert.deepEqual(await usedOf(path, 'q'), { configmaps: '1' })
})

test('a client that never has more than one object is rarely refused although its quota allows several objects', async () => {
  await using server = await startTestServer(['--controllers=resourcequota-controller'])
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail('there is a client')
  const path = '/api/v1/namespaces/churn'
  const post = (target: string, body: object) => client.call({ method: 'POST', path: target, body })
  await post('/api/v1/namespaces', { metadata: { name: 'churn' } })
  const quota = { metadata: { name: 'q' }, spec: { hard: { configmaps: '4' } } }
  await post(`${path}/resourcequotas`, quota)
  const isCounted = async (): Promise<boolean> => {
    const { text } = await client.call({ path: `${path}/resourcequotas/q` })
    return JSON.parse(text).status.used?.configmaps === '0'
  }
  await until(isCounted, 'the quota is counted')
  const times = 20
  let refused = 0
  for (let at = 0; at < times; at++) {
    const { status } = await post(`${path}/configmaps`, { metadata: { name: 'c' } })
    if (status === 403) refused++
    else await client.call({ method: 'DELETE', path: `${path}/configmaps/c` })
    await sleep(50)
  }
  // After each deletion, the controller counts the objects and updates the quota. A create is
  // rejected only if this is late, for example on a busy machine.
  assert.ok(refused < times / 2, `${refused} of ${times} creates are refused`)
})

/** Tests quotas with many concurrent writers on two servers that share an etcd. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PATIENCE_MS, until } from '../support/harness/until.ts'
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

const post = (client: Client, path: string, body: object) =>
  client.call({ method: 'POST', path, body })

test('while objects are created and deleted on two servers with controllers, the quota holds', async () => {
  const [hard, writers] = [10, 16]
  const args = ['--controllers=resourcequota-controller']
  await using first = await startTestServer(args)
  await using second = await startReplica(first, args)
  await using one = clients['HTTP/2']?.(first.url) ?? assert.fail('there is a client')
  await using other = clients['HTTP/2']?.(second.url) ?? assert.fail('there is a client')
  const path = '/api/v1/namespaces/churn'
  await post(one, '/api/v1/namespaces', { metadata: { name: 'churn' } })
  const quota = { metadata: { name: 'q' }, spec: { hard: { configmaps: String(hard) } } }
  await post(one, `${path}/resourcequotas`, quota)
  const read = async (): Promise<string> =>
    JSON.parse((await one.call({ path: `${path}/resourcequotas/q` })).text).status.used?.configmaps
  await until(async () => (await read()) === '0', 'the quota is counted')
  const endMs = performance.now() + PATIENCE_MS
  let [created, most] = [0, 0]
  const isOver = (): boolean => created >= 3 * hard || performance.now() > endMs
  const write = async (client: Client, writer: number): Promise<void> => {
    for (let at = 0; !isOver(); at++) {
      const name = `c${writer}-${at}`
      const { status } = await post(client, `${path}/configmaps`, { metadata: { name } })
      assert.ok(status === 201 || status === 403)
      if (status !== 201) continue
      created++
      await client.call({ method: 'DELETE', path: `${path}/configmaps/${name}` })
    }
  }
  const watch = async (): Promise<void> => {
    while (!isOver()) {
      const { items } = JSON.parse((await other.call({ path: `${path}/configmaps` })).text)
      most = Math.max(most, items.length)
    }
  }
  await Promise.all([
    watch(),
    ...Array.from({ length: writers }, (_, at) => write(at % 2 === 0 ? one : other, at)),
  ])
  assert.ok(most <= hard, `${most} objects`)
  assert.ok(created >= 3 * hard, 'deleted objects are given back')
  await until(async () => (await read()) === '0', 'all objects are given back')
})

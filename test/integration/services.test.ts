/**
 * Tests Services on two replicas that share an etcd: addresses and node ports are assigned only
 * once, and are released.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '../support/harness/until.ts'
import {
  type Answer,
  type Client,
  clients,
  startReplica,
  startTestServer,
  type TestServer,
} from './support.ts'

const SERVICES = 1000
const ipRange = '--service-cluster-ip-range=10.96.0.0/16'

let servers: readonly TestServer[]
let replicas: readonly Client[]

before(async () => {
  const first = await startTestServer([ipRange, '--advertise-address=192.0.2.11'])
  servers = [first, await startReplica(first, [ipRange, '--advertise-address=192.0.2.12'])]
  replicas = servers.map(({ url }) => connect(url))
  // Wait until the servers have created their own objects. The endpoint of the second server is the
  // last one.
  await until(
    async () =>
      (await replica(0).call({ path: `${endpoints}/kubernetes` })).text.includes('192.0.2.12'),
    'the endpoint of the second',
  )
  await until(
    async () => (await replica(0).call({ path: `${services}/kubernetes` })).status === 200,
    'the Service kubernetes',
  )
})

after(async () => {
  for (const client of replicas) await client[Symbol.asyncDispose]()
  for (const server of servers.toReversed()) await server[Symbol.asyncDispose]()
  assert.deepEqual(
    servers.flatMap(({ complaints }) => complaints),
    [],
  )
})

function connect(url: string): Client {
  const made = clients['HTTP/2']?.(url)
  assert.ok(made)
  return made
}

function never(): never {
  throw new Error('the servers have not started')
}

/** Returns a replica. The replicas are used in turn. */
const replica = (at: number): Client => replicas[at % replicas.length] ?? never()

const json = ({ text }: Answer) => JSON.parse(text)
const services = '/api/v1/namespaces/default/services'
const endpoints = '/api/v1/namespaces/default/endpoints'
const addresses = '/apis/networking.k8s.io/v1/ipaddresses'
const nodePort = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { type: 'NodePort', ports: [{ port: 80 }], ...spec },
})
const create = (at: number, body: unknown): Promise<Answer> =>
  replica(at).call({ method: 'POST', path: services, body })
const remove = (at: number, name: string): Promise<Answer> =>
  replica(at).call({ method: 'DELETE', path: `${services}/${name}` })

async function addressNames(): Promise<string[]> {
  const { items } = json(await replica(0).call({ path: addresses }))
  return items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
}

test('many concurrent services on two replicas get different addresses and ports, and release all of them', async () => {
  const names = Array.from({ length: SERVICES }, (_, at) => `crowd-${at}`)
  const begun = performance.now()
  const made = await Promise.all(names.map((name, at) => create(at, nodePort(name))))
  const createdMs = performance.now() - begun
  assert.deepEqual([...new Set(made.map(({ status }) => status))], [201])
  const specs = made.map((answer) => json(answer).spec)
  assert.equal(new Set(specs.map(({ clusterIP }) => clusterIP)).size, SERVICES)
  assert.equal(new Set(specs.map(({ ports }) => ports[0].nodePort)).size, SERVICES)
  assert.equal((await addressNames()).length, SERVICES + 1)
  // Each Service is deleted through the replica that did not create it.
  const gone = await Promise.all(names.map((name, at) => remove(at + 1, name)))
  assert.deepEqual([...new Set(gone.map(({ status }) => status))], [200])
  assert.deepEqual(await addressNames(), ['10.96.0.1'])
  // Allocate all ports of the range. Any further allocation must fail.
  const all = Array.from({ length: 277 }, (_, at) => {
    const ports = Array.from({ length: Math.min(10, 2768 - 10 * at) }, (__, port) => ({
      name: `p${port}`,
      port: port + 1,
    }))
    return create(at, nodePort(`all-${at}`, { ports }))
  })
  const taken = await Promise.all(all)
  assert.deepEqual([...new Set(taken.map(({ status }) => status))], [201])
  const full = await create(0, nodePort('one-more'))
  assert.equal(full.status, 500)
  assert.match(full.text, /failed to allocate a nodePort: range is full/)
  await Promise.all(taken.map((_, at) => remove(at, `all-${at}`)))
  assert.deepEqual(await addressNames(), ['10.96.0.1'])
  console.log(`${SERVICES} services over two replicas: ${Math.round(createdMs)} ms`)
})

test('if many services request the same address and port, one of them gets both', async () => {
  const wanted = { clusterIP: '10.96.0.77', ports: [{ port: 80, nodePort: 30077 }] }
  const made = await Promise.all(
    Array.from({ length: 40 }, (_, at) => create(at, nodePort(`same-${at}`, wanted))),
  )
  assert.equal(made.filter(({ status }) => status === 201).length, 1)
  assert.equal(made.filter(({ status }) => status === 422).length, 39)
  await Promise.all(made.map((_, at) => remove(at, `same-${at}`)))
  const again = await create(1, nodePort('same-again', wanted))
  assert.equal(again.status, 201)
  await remove(0, 'same-again')
})

test('a failed create releases the addresses and ports that it allocated', async () => {
  const wanted = { clusterIP: '10.96.0.78', ports: [{ port: 80, nodePort: 30078 }] }
  const refused = await create(0, nodePort('Bad', wanted))
  assert.equal(refused.status, 422)
  assert.match(refused.text, /DNS-1035/)
  assert.equal((await create(0, nodePort('good', wanted))).status, 201)
  const twice = await create(1, nodePort('good'))
  assert.equal(twice.status, 409)
  assert.equal((await addressNames()).length, 2)
  const dry = await replica(1).call({
    method: 'POST',
    path: `${services}?dryRun=All`,
    body: nodePort('dry'),
  })
  assert.equal(dry.status, 201)
  assert.ok(json(dry).spec.ports[0].nodePort >= 30_000)
  assert.equal((await addressNames()).length, 2)
  await remove(0, 'good')
})

test('changing the type of a Service releases its ports and its address', async () => {
  const wanted = { clusterIP: '10.96.0.79', ports: [{ port: 80, nodePort: 30079 }] }
  const made = json(await create(0, nodePort('changing', wanted)))
  const path = `${services}/changing`
  const plain = { ...made, spec: { ...made.spec, type: 'ClusterIP' } }
  assert.equal((await replica(1).call({ method: 'PUT', path, body: plain })).status, 200)
  const other = await create(0, nodePort('other', { ports: [{ port: 80, nodePort: 30079 }] }))
  assert.equal(other.status, 201)
  const named = {
    metadata: { name: 'changing' },
    spec: { type: 'ExternalName', externalName: 'example.com' },
  }
  assert.equal((await replica(0).call({ method: 'PUT', path, body: named })).status, 200)
  assert.ok(!(await addressNames()).includes('10.96.0.79'))
  await Promise.all([remove(0, 'changing'), remove(1, 'other')])
  assert.deepEqual(await addressNames(), ['10.96.0.1'])
})

test('the kubernetes service has the first address, and its endpoints are the servers', async () => {
  const { spec } = json(await replica(1).call({ path: `${services}/kubernetes` }))
  assert.equal(spec.clusterIP, '10.96.0.1')
  assert.deepEqual(spec.ipFamilies, ['IPv4'])
  const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes'
  const slice = json(await replica(0).call({ path }))
  assert.deepEqual(
    slice.endpoints.map(({ addresses: list }: { addresses: string[] }) => list[0]),
    ['192.0.2.11', '192.0.2.12'],
  )
  const { items } = json(
    await replica(0).call({ path: '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases' }),
  )
  // Both servers run on the same host, so they share one Lease, as in kube-apiserver.
  assert.equal(items.length, 1)
})

/** Returns the endpoints of the service kubernetes as text. */
const addressesOf = async (): Promise<string> =>
  (await replica(0).call({ path: `${endpoints}/kubernetes` })).text

test('a replica that stops is removed from the endpoints', async () => {
  const third = await startReplica(servers[0] ?? never(), [
    ipRange,
    '--advertise-address=192.0.2.13',
  ])
  await until(async () => (await addressesOf()).includes('192.0.2.13'), 'the endpoint of the third')
  await third[Symbol.asyncDispose]()
  assert.doesNotMatch(await addressesOf(), /192\.0\.2\.13/)
})

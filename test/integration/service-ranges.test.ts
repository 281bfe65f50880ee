/** Tests the IP ranges of Services, with servers that start with different ranges. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdClient } from '../../src/storage/etcd/client.ts'
import { until } from '../support/harness/until.ts'
import { type Client, clients, startReplica, startTestServer, type TestServer } from './support.ts'

const services = '/api/v1/namespaces/default/services'
const range = '/apis/networking.k8s.io/v1/servicecidrs/kubernetes'
const addresses = '/apis/networking.k8s.io/v1/ipaddresses'
const preferringTwo = (name: string) => ({
  metadata: { name },
  spec: { ipFamilyPolicy: 'PreferDualStack', ports: [{ port: 80 }] },
})

const named = (name: string, clusterIP: string) => ({
  metadata: { name },
  spec: { clusterIP, ports: [{ port: 80 }] },
})

async function withClient<T>(
  { url }: TestServer,
  use: (call: Client['call']) => Promise<T>,
): Promise<T> {
  const client = clients['HTTP/2']?.(url)
  assert.ok(client)
  await using open = client
  return await use(open.call)
}

test('a cluster becomes dual-stack when a server starts with a second range', async () => {
  await using first = await startTestServer(['--service-cluster-ip-range=192.168.0.0/24'])
  const path = `${services}/before`
  await withClient(first, async (call) => {
    const { status } = await call({ method: 'POST', path: services, body: preferringTwo('before') })
    assert.equal(status, 201)
  })
  const dual = '--service-cluster-ip-range=192.168.0.0/24,2001:db8:1::/112'
  await using second = await startReplica(first, [dual])
  await withClient(second, async (call) => {
    const { spec } = JSON.parse((await call({ path: range })).text)
    assert.deepEqual(spec.cidrs, ['192.168.0.0/24', '2001:db8:1::/112'])
    assert.deepEqual(
      JSON.parse((await call({ path })).text).spec.ipFamilies,
      ['IPv4'],
      'existing Services do not change',
    )
    const { status, text } = await call({
      method: 'POST',
      path: services,
      body: preferringTwo('after'),
    })
    assert.equal(status, 201, text)
    assert.deepEqual(JSON.parse(text).spec.ipFamilies, ['IPv4', 'IPv6'])
  })
  assert.deepEqual(second.complaints, [])
})

test('objects that the server itself creates have the same field managers as in kube-apiserver', async () => {
  await using server = await startTestServer(['--service-cluster-ip-range=192.168.0.0/24'])
  await withClient(server, async (call) => {
    const managers = async (path: string): Promise<readonly object[]> => {
      const { metadata } = JSON.parse((await call({ path })).text)
      return (metadata?.managedFields ?? []).map(
        ({ manager, operation, subresource, fieldsV1 }: Entry) => {
          const { 'f:spec': spec, 'f:status': status } = fieldsV1
          return {
            manager,
            operation,
            subresource,
            spec: Object.keys(spec ?? {}),
            status: status !== undefined,
          }
        },
      )
    }
    // The ServiceCIDR and the Service `kubernetes` are created after the server is ready.
    const isThere = async (): Promise<boolean> =>
      (await managers(range)).length >= 2 && (await managers(`${services}/kubernetes`)).length >= 1
    await until(isThere, 'both objects exist')
    const kube = {
      manager: 'kube-apiserver',
      operation: 'Update',
      subresource: undefined,
      status: false,
    }
    const ready = {
      manager: 'kubernetes-service-cidr-controller',
      operation: 'Apply',
      subresource: 'status',
      spec: [],
    }
    assert.deepEqual(
      new Set(await managers(range)),
      new Set([
        { ...ready, status: true },
        { ...kube, spec: ['f:cidrs'] },
      ]),
    )
    const [entry] = await managers(`${services}/kubernetes`)
    const spec = [
      'clusterIP',
      'internalTrafficPolicy',
      'ipFamilyPolicy',
      'ports',
      'sessionAffinity',
      'type',
    ]
    assert.deepEqual(
      entry,
      { ...kube, spec: spec.map((field) => `f:${field}`) },
      'ipFamilies are set by the server',
    )
    const { status } = JSON.parse((await call({ path: range })).text)
    assert.equal(status.conditions[0].reason, '')
  })
})

type Entry = {
  readonly manager: string
  readonly operation: string
  readonly subresource?: string
  readonly fieldsV1: { readonly 'f:spec'?: object; readonly 'f:status'?: object }
}

test("the Service `kubernetes` and the ServiceCIDR of the server's range are recreated after their deletion", async () => {
  await using server = await startTestServer(['--service-cluster-ip-range=192.168.0.0/24'])
  await withClient(server, async (call) => {
    const condition = async (): Promise<string | undefined> =>
      JSON.parse((await call({ path: range })).text).status?.conditions?.[0]?.status
    const isComplete = async (): Promise<boolean> =>
      (await condition()) === 'True' &&
      (await call({ path: `${services}/kubernetes` })).status === 200
    // Waits until both objects exist. The server checks this every ten seconds.
    const completed = (): Promise<void> => until(isComplete, 'both objects exist')
    // Wait once, because the Service is created only when the server is ready.
    await completed()
    assert.equal((await call({ method: 'DELETE', path: range })).status, 200)
    const body = { metadata: { name: 'kubernetes' }, spec: { cidrs: ['192.168.0.0/24'] } }
    await call({ method: 'POST', path: range.replace('/kubernetes', ''), body })
    assert.equal((await call({ method: 'DELETE', path: `${services}/kubernetes` })).status, 200)
    await completed()
  })
})

test('a server whose range differs from that of the cluster logs this once', async () => {
  await using first = await startTestServer(['--service-cluster-ip-range=192.168.0.0/24'])
  await using second = await startReplica(first, ['--service-cluster-ip-range=192.168.1.0/24'])
  const reported = second.complaints.filter((complaint) =>
    complaint.includes('differs from --service-cluster-ip-range'),
  )
  assert.equal(reported.length, 1)
})

test('with DisableAllocatorDualWrite, the service range can be larger than an allocation record for older servers allows', async () => {
  const gate = '--feature-gates=DisableAllocatorDualWrite=true'
  await using server = await startTestServer(['--service-cluster-ip-range=2001:db8::/64', gate])
  await withClient(server, async (call) => {
    const body = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }
    const { status, text } = await call({ method: 'POST', path: services, body })
    assert.equal(status, 201, text)
    const { clusterIP } = JSON.parse(text).spec
    assert.match(clusterIP, /^2001:db8:/)
    assert.equal((await call({ path: `${addresses}/${clusterIP}` })).status, 200)
  })
  assert.deepEqual(server.complaints, [])
})

test('the address of a Service from an older server is allocated by an update, and again after its IPAddress is deleted', async () => {
  await using server = await startTestServer(['--service-cluster-ip-range=192.168.0.0/24'])
  const address = `${addresses}/192.168.0.11`
  const stored = {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: {
      name: 'old',
      namespace: 'default',
      uid: 'u',
      creationTimestamp: '2020-01-01T00:00:00Z',
    },
    spec: { clusterIP: '192.168.0.11', ports: [{ port: 80 }] },
  }
  await using etcd = new EtcdClient({ endpoints: [server.etcdUrl] })
  const key = Buffer.from('/registry/services/specs/default/old')
  await etcd.kv.put({ key, value: Buffer.from(JSON.stringify(stored)) })
  await withClient(server, async (call) => {
    const taken = async (): Promise<string> => {
      let answer = await call({ path: address })
      await until(
        async () => (answer = await call({ path: address })).status === 200,
        'the address is allocated',
      )
      return JSON.parse(answer.text).metadata.uid
    }
    const body = { metadata: { name: 'old', labels: { a: 'b' } }, spec: stored.spec }
    const { status, text } = await call({ method: 'PUT', path: `${services}/old`, body })
    assert.equal(status, 200, text)
    const uid = await taken()
    assert.equal((await call({ method: 'DELETE', path: address })).status, 200)
    assert.notEqual(await taken(), uid)
    assert.equal((await call({ method: 'DELETE', path: `${services}/old` })).status, 200)
    await sleep(500)
    assert.equal((await call({ path: address })).status, 404, 'the address stays free')
  })
})

/**
 * Creates a Service with this address. Returns the error message, or undefined if it was created.
 */
const refusal = (server: TestServer, name: string, ip: string): Promise<string | undefined> =>
  withClient(server, async (call) => {
    const { status, text } = await call({ method: 'POST', path: services, body: named(name, ip) })
    return status === 201 ? undefined : JSON.parse(text).message
  })

test('servers with IPAddress objects, without them and with a larger range do not assign the same address twice', async () => {
  const gate = '--feature-gates=MultiCIDRServiceAllocator=false'
  const taken = /provided IP is already allocated$/
  await using withObjects = await startTestServer(['--service-cluster-ip-range=192.168.0.0/24'])
  await using without = await startReplica(withObjects, [
    '--service-cluster-ip-range=192.168.0.0/24',
    gate,
  ])
  assert.equal(await refusal(without, 'a', '192.168.0.5'), undefined)
  assert.match((await refusal(withObjects, 'b', '192.168.0.5')) ?? '', taken)
  assert.equal(await refusal(withObjects, 'c', '192.168.0.6'), undefined)
  assert.match((await refusal(without, 'd', '192.168.0.6')) ?? '', taken)
  await using larger = await startReplica(withObjects, [
    '--service-cluster-ip-range=192.168.0.0/16',
    gate,
  ])
  assert.match((await refusal(larger, 'e', '192.168.0.5')) ?? '', taken)
  assert.match(
    (await refusal(without, 'f', '192.168.0.7')) ?? '',
    /the provided range does not match the current range$/,
  )
  assert.equal(await refusal(larger, 'g', '192.168.7.7'), undefined)
})

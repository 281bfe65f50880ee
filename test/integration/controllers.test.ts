/**
 * Tests the controllers inside the server. Exactly one replica runs them, or none while a
 * kube-controller-manager is running.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ownLease } from '../../src/controllers/election.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import { until } from '../support/harness/until.ts'
import { SoakClient } from '../chaos/soak/client.ts'
import { type Client, clients, startReplica, startTestServer } from './support.ts'

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
const flag = '--controllers=*'

async function holder(client: Client): Promise<string> {
  const { status, text } = await client.call({ path: `${leases}/${ownLease}` })
  return status === 200 ? (JSON.parse(text).spec.holderIdentity ?? '') : ''
}

async function anyHolder(client: Client): Promise<string> {
  let name = ''
  await until(async () => (name = await holder(client)) !== '', 'a replica holds the Lease')
  return name
}

test('one replica runs the controllers, and when it stops, another one takes over immediately', async () => {
  await using first = await startTestServer([flag])
  await using client = clients['HTTP/2']?.(first.url) ?? assert.fail()
  const before = await anyHolder(client)
  await using second = await startReplica(first, [flag])
  await using other = clients['HTTP/2']?.(second.url) ?? assert.fail()
  await sleep(2_500)
  assert.equal(await holder(other), before)
  await first.stop()
  // Check that the first server released the Lease, instead of leaving it to expire.
  const { text } = await other.call({ path: `${leases}/${ownLease}` })
  const { holderIdentity = '', leaseDurationSeconds } = JSON.parse(text).spec
  assert.notEqual(holderIdentity, before)
  if (holderIdentity === '') assert.equal(leaseDurationSeconds, 1)
  await until(async () => !['', before].includes(await holder(other)), 'the other holds the Lease')
  assert.deepEqual([...first.complaints, ...second.complaints], [])
})

test('the controllers stop while kube-controller-manager holds its Lease', async () => {
  await using server = await startTestServer([flag])
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  await anyHolder(client)
  const renewTime = new Date().toISOString().replace('Z', '000Z')
  const spec = { holderIdentity: 'manager', leaseDurationSeconds: 3600, renewTime }
  const body = { metadata: { name: 'kube-controller-manager' }, spec }
  assert.equal((await client.call({ method: 'POST', path: leases, body })).status, 201)
  await until(async () => (await holder(client)) === '', 'no replica holds the Lease')
  // Shorten the duration of the Lease. It then expires, because its holder does not renew it.
  const headers = { 'content-type': 'application/merge-patch+json' }
  const short = { spec: { leaseDurationSeconds: 1 } }
  const path = `${leases}/kube-controller-manager`
  assert.equal((await client.call({ method: 'PATCH', path, headers, body: short })).status, 200)
  await anyHolder(client)
  assert.deepEqual(server.complaints, [])
})

test('a server immediately takes over a Lease that a killed process left in the data folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-left-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rmSync(folder, { recursive: true }))
  const inFolder = { etcdUrl: '', omit: ['etcd-servers'], args: [`--data-dir=${folder}`] }
  const call = async (
    args: readonly string[],
    act: (client: SoakClient) => Promise<void>,
  ): Promise<void> => {
    await using server = await startKeelson({ ...inFolder, args: [...inFolder.args, ...args] })
    using client = new SoakClient(server.url)
    await act(client)
  }
  await call([], async (client) => {
    const spec = { holderIdentity: 'killed', leaseDurationSeconds: 3600 }
    assert.equal(
      (await client.call('POST', leases, { metadata: { name: ownLease }, spec })).status,
      201,
    )
  })
  await call([flag], async (client) => {
    const isTaken = async (): Promise<boolean> => {
      const { body } = await client.call('GET', `${leases}/${ownLease}`)
      return !JSON.stringify(body).includes('"holderIdentity":"killed"')
    }
    await until(isTaken, 'this process holds the Lease')
  })
})

test('without --controllers, the server creates no Lease for controllers', async () => {
  await using server = await startTestServer()
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  await sleep(1_500)
  assert.equal((await client.call({ path: `${leases}/${ownLease}` })).status, 404)
})

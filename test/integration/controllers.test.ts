/** Controllers inside the server: one replica runs them, and none while a kube-controller-manager does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ownLease } from '../../src/controllers/election.ts'
import { type Client, clients, startReplica, startTestServer } from './support.ts'

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
const flag = '--controllers=*'

async function holder(client: Client): Promise<string> {
  const { status, text } = await client.call({ path: `${leases}/${ownLease}` })
  return status === 200 ? (JSON.parse(text).spec.holderIdentity ?? '') : ''
}

async function until<T>(read: () => Promise<T>, isDone: (value: T) => boolean, withinMs: number): Promise<T> {
  const endMs = performance.now() + withinMs
  for (;;) {
    const value = await read()
    if (isDone(value)) return value
    assert.ok(performance.now() < endMs, `not within ${withinMs} ms: ${JSON.stringify(value)}`)
    await sleep(50)
  }
}

const isHeld = (name: string): boolean => name !== ''

test('one replica runs them; when it ends another one goes on at once', async () => {
  await using first = await startTestServer([flag])
  await using client = clients['HTTP/2']?.(first.url) ?? assert.fail()
  const before = await until(() => holder(client), isHeld, 5_000)
  await using second = await startReplica(first, [flag])
  await using other = clients['HTTP/2']?.(second.url) ?? assert.fail()
  await sleep(2_500)
  assert.equal(await holder(other), before)
  await first.stop()
  await until(
    () => holder(other),
    (name) => isHeld(name) && name !== before,
    5_000,
  )
  assert.deepEqual([...first.complaints, ...second.complaints], [])
})

test('they stand back while kube-controller-manager holds its Lease', async () => {
  await using server = await startTestServer([flag])
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  await until(() => holder(client), isHeld, 5_000)
  const renewTime = new Date().toISOString().replace('Z', '000Z')
  const spec = { holderIdentity: 'manager', leaseDurationSeconds: 3, renewTime }
  const body = { metadata: { name: 'kube-controller-manager' }, spec }
  assert.equal((await client.call({ method: 'POST', path: leases, body })).status, 201)
  await until(
    () => holder(client),
    (name) => name === '',
    5_000,
  )
  // Its Lease is not renewed.
  await until(() => holder(client), isHeld, 10_000)
  assert.deepEqual(server.complaints, [])
})

test('without the flag there is no Lease', async () => {
  await using server = await startTestServer()
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  await sleep(1_500)
  assert.equal((await client.call({ path: `${leases}/${ownLease}` })).status, 404)
})

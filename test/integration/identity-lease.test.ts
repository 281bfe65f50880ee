/** Tests the Leases by which servers show that they are running. */
import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { test } from 'node:test'
import { serverName } from '../../src/controllers/identity-lease.ts'
import { until } from '../support/harness/until.ts'
import { clients, startReplica, startTestServer } from './support.ts'

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
const labels = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' }
const ago = (seconds: number): string =>
  new Date(Date.now() - 1000 * seconds).toISOString().replace('Z', '000Z')

test('the Lease of a server that no longer runs is deleted, and the Leases of other servers are kept', async () => {
  await using first = await startTestServer()
  await using client = clients['HTTP/2']?.(first.url) ?? assert.fail()
  const create = async (
    name: string,
    renewTime: string,
    metadata: object = { labels },
  ): Promise<void> => {
    const spec = { holderIdentity: name, leaseDurationSeconds: 3600, renewTime }
    const { status } = await client.call({
      method: 'POST',
      path: leases,
      body: { metadata: { name, ...metadata }, spec },
    })
    assert.equal(status, 201)
  }
  await create('apiserver-gone', ago(4000))
  await create('apiserver-up', ago(10))
  await create('of-another-program', ago(4000), {})
  await using second = await startReplica(first)
  await until(
    async () => (await client.call({ path: `${leases}/apiserver-gone` })).status === 404,
    'the Lease is gone',
  )
  for (const name of ['apiserver-up', 'of-another-program', serverName(hostname())])
    assert.equal((await client.call({ path: `${leases}/${name}` })).status, 200, name)
  assert.deepEqual([...first.complaints, ...second.complaints], [])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../api/object.ts'
import { ClusterIps } from './cluster-ips.ts'

const parent = { namespace: 'n', name: 's' }
const range: KubeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name: 'kubernetes' },
  spec: { cidrs: ['10.0.0.0/16'] },
}

test('others have their turns while a full range is looked through', async () => {
  let looks = 0
  const ips = new ClusterIps({
    listRanges: async () => [range],
    hasAddress: async () => ++looks > 0,
    readAddress: () => assert.fail('only whether it is there is asked'),
    createAddress: () => assert.fail('nothing is free'),
    deleteAddress: async () => undefined,
    records: { add: async () => undefined, remove: async () => undefined },
    random: () => 0.5,
  })
  let turns = 0
  const others = setInterval(() => turns++, 0)
  await assert.rejects(ips.takeAny('IPv4', parent, { isDryRun: false }), /range is full/)
  clearInterval(others)
  assert.equal(looks, 65_534)
  assert.ok(turns > 1, `${turns} turns`)
})

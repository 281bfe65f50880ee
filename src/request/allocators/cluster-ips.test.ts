import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCidr } from '../../api/ip.ts'
import type { KubeObject } from '../../api/object.ts'
import { Leases } from '../../storage/leases.ts'
import { MemoryEngine } from '../../storage/memory/memory-engine.ts'
import { Store } from '../../storage/store.ts'
import { identity } from '../../storage/transform.ts'
import { addressOf, ClusterIps } from './cluster-ips.ts'
import { IpRecords } from './ip-records.ts'
import { RecordedIps } from './recorded-ips.ts'

const parent = { namespace: 'n', name: 's' }
const range: KubeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name: 'kubernetes' },
  spec: { cidrs: ['10.0.0.0/16'] },
}

test('other tasks run while a range without free addresses is searched', async () => {
  let looks = 0
  const ips = new ClusterIps({
    listRanges: async () => [range],
    hasAddress: async () => ++looks > 0,
    readAddress: () => assert.fail('only the existence of an address is checked'),
    createAddress: () => assert.fail('nothing is free'),
    deleteAddress: async () => undefined,
    records: { take: () => assert.fail('nothing is free'), remove: async () => undefined },
    random: () => 0.5,
  })
  let turns = 0
  const others = setInterval(() => turns++, 0)
  await assert.rejects(ips.takeAny('IPv4', parent, { isDryRun: false }), /range is full/)
  clearInterval(others)
  assert.equal(looks, 65_534)
  assert.ok(turns > 1, `${turns} turns`)
})

const wet = { isDryRun: false }
const isTaken = { message: 'provided IP is already allocated' }

async function recordsOn(engine: MemoryEngine): Promise<IpRecords> {
  const leases = new Leases((ttl, call) => engine.grantLease(ttl, call))
  const store = new Store(engine, { transformer: identity, leases })
  const ranges = [parseCidr('10.0.0.0/29') ?? assert.fail()]
  const log = assert.fail
  const records = new IpRecords({
    store,
    root: '/registry/',
    ranges,
    life: () => 0,
    random: () => 0,
    log,
  })
  for (const { record } of records.entries) await record.changeAt(0, () => undefined)
  return records
}

function ipsWith(records: IpRecords, objects: Map<string, KubeObject>): ClusterIps {
  return new ClusterIps({
    listRanges: async () => [{ ...range, spec: { cidrs: ['10.0.0.0/29', '10.9.0.0/29'] } }],
    hasAddress: async (ip) => objects.has(ip),
    readAddress: async (ip) => objects.get(ip),
    createAddress: async (address) => {
      const { name = '' } = address.metadata
      if (objects.has(name)) return false
      objects.set(name, address)
      return true
    },
    deleteAddress: async (ip) => void objects.delete(ip),
    records,
    random: () => 0,
  })
}

test('replicas that use IPAddress objects and replicas that use allocation records never allocate the same address', async () => {
  await using engine = new MemoryEngine()
  const objects = new Map<string, KubeObject>()
  const withGate = ipsWith(await recordsOn(engine), objects)
  const without = new RecordedIps((await recordsOn(engine)).entries)
  await without.take('10.0.0.5', parent, wet)
  await assert.rejects(withGate.take('10.0.0.5', parent, wet), isTaken)
  await withGate.take('10.0.0.6', parent, wet)
  await assert.rejects(without.take('10.0.0.6', parent, wet), isTaken)
  const given = await Promise.all(
    [withGate, without, withGate, without].map((ips) => ips.takeAny('IPv4', parent, wet)),
  )
  assert.deepEqual(given.toSorted(), ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'])
  await withGate.release('10.0.0.6', parent)
  await without.take('10.0.0.6', parent, wet)
  // The second range has no record, so only the IPAddress object shows that the address is taken.
  await withGate.take('10.9.0.1', parent, wet)
  await assert.rejects(withGate.take('10.9.0.1', parent, wet), isTaken)
})

test('if the IPAddress object of an address cannot be created, the address is removed from the allocation record', async () => {
  await using engine = new MemoryEngine()
  const records = await recordsOn(engine)
  const [{ record } = assert.fail()] = records.entries
  const objects = new Map([
    ['10.0.0.5', addressOf('10.0.0.5', 'IPv4', { namespace: 'n', name: 'other' })],
  ])
  const ips = ipsWith(records, objects)
  await assert.rejects(ips.take('10.0.0.5', parent, wet), isTaken)
  objects.set = () => {
    throw new Error('status 503')
  }
  await assert.rejects(ips.take('10.0.0.6', parent, wet), /503/)
  assert.deepEqual(await record.attempt((set) => set.list()), [])
})

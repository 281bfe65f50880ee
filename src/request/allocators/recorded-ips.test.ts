import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCidr } from '../../api/ip.ts'
import type { KubeObject } from '../../api/object.ts'
import { NumberSet } from './number-set.ts'
import { Leases } from '../../storage/leases.ts'
import { MemoryEngine } from '../../storage/memory/memory-engine.ts'
import { Store } from '../../storage/store.ts'
import { identity } from '../../storage/transform.ts'
import { IpRecords, lastOf } from './ip-records.ts'
import { RecordedIps } from './recorded-ips.ts'
import { Repair } from './repair.ts'

const parent = { namespace: 'n', name: 's' }
const wet = { isDryRun: false }
const dry = { isDryRun: true }

function poolOf(text: string): { readonly ips: RecordedIps; readonly set: NumberSet } {
  const cidr = parseCidr(text) ?? assert.fail(text)
  const set = new NumberSet({ first: 0, last: lastOf(cidr), named: 0 }, Buffer.alloc(0), () => 0)
  return {
    ips: new RecordedIps([{ cidr, record: { change: async (change) => change(set) } }]),
    set,
  }
}

const refused = (text: string, range: string): object => ({
  message: `the provided IP (${text}) is not in the valid range. The range of valid IPs is ${range}`,
})

test('an address cannot be allocated again until it is released', async () => {
  const { ips, set } = poolOf('10.0.0.0/29')
  await ips.take('10.0.0.6', parent, wet)
  await assert.rejects(ips.take('10.0.0.6', parent, wet), {
    message: 'provided IP is already allocated',
  })
  assert.equal(await ips.takeAny('IPv4', parent, wet), '10.0.0.1')
  assert.deepEqual(set.list(), [0, 5])
  await ips.release('10.0.0.6', parent)
  await ips.release('10.9.0.6', parent)
  assert.deepEqual(set.list(), [0])
})

test('the network and broadcast addresses are not allocated, and an IPv6 allocation record has 65,535 addresses', async () => {
  const { ips } = poolOf('10.0.0.0/29')
  for (const text of ['10.0.0.0', '10.0.0.7', '10.0.1.1']) {
    await assert.rejects(ips.take(text, parent, wet), refused(text, '10.0.0.0/29'))
  }
  const six = poolOf('fd00::/108').ips
  await six.take('fd00::ffff', parent, wet)
  await assert.rejects(six.take('fd00::1:0', parent, wet), refused('fd00::1:0', 'fd00::/108'))
})

test('allocation fails in a range without free addresses, and a dry run neither allocates nor checks an address', async () => {
  const { ips, set } = poolOf('10.0.0.0/30')
  await ips.takeAny('IPv4', parent, wet)
  await ips.takeAny('IPv4', parent, wet)
  await assert.rejects(ips.takeAny('IPv4', parent, wet), { message: 'range is full' })
  assert.equal(await ips.takeAny('IPv4', parent, dry), '10.0.0.0')
  await ips.take('10.0.0.1', parent, dry)
  assert.deepEqual(set.list(), [0, 1])
})

const log = (): void => undefined

type Replica = { readonly ips: RecordedIps; readonly repair: Repair }

function replicaOn(engine: MemoryEngine, range: string, services: readonly KubeObject[]): Replica {
  const leases = new Leases((ttl, call) => engine.grantLease(ttl, call))
  const store = new Store(engine, { transformer: identity, leases })
  const ranges = [parseCidr(range) ?? assert.fail(range)]
  const records = new IpRecords({
    store,
    root: '/registry/',
    ranges,
    life: () => 0,
    random: () => 0,
    log,
  })
  const repair = new Repair({
    nodePorts: { revision: async () => 0, changeAt: async () => undefined },
    listServices: async () => services,
    listAddresses: () => assert.fail('there are no objects'),
    createAddress: () => assert.fail('there are no objects'),
    deleteAddress: () => assert.fail('there are no objects'),
    readAddress: () => assert.fail('there are no objects'),
    hasAddress: () => assert.fail('there are no objects'),
    records,
    hasAddressObjects: false,
    life: () => 0,
    wallMs: () => 0,
    log,
  })
  return { ips: new RecordedIps(records.entries), repair }
}

const isTaken = { name: 'IpError', message: 'provided IP is already allocated' }
const isOther = { name: 'IpError', message: 'the provided range does not match the current range' }
const isAbsent = {
  name: 'IpError',
  message: 'cannot allocate resources of type serviceipallocations at this time',
}

test('if the allocation record of a range is missing or has another range, no address is allocated until it is repaired', async () => {
  await using engine = new MemoryEngine()
  const spec = { type: 'ClusterIP', clusterIPs: ['10.0.7.7'] }
  const services = [
    { apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'n', name: 'old' }, spec },
  ]
  const small = replicaOn(engine, '10.0.0.0/24', services)
  await assert.rejects(small.ips.take('10.0.0.5', parent, wet), isAbsent)
  await assert.rejects(small.ips.takeAny('IPv4', parent, wet), isAbsent)
  await small.repair.prepare()
  await small.ips.take('10.0.0.5', parent, wet)
  const large = replicaOn(engine, '10.0.0.0/16', services)
  await assert.rejects(large.ips.take('10.0.0.5', parent, wet), isOther)
  await assert.rejects(large.ips.takeAny('IPv4', parent, wet), isOther)
  await large.repair.prepare()
  // The repair loop does not release 10.0.0.5, because its Service might not be stored yet.
  for (const ip of ['10.0.0.5', '10.0.7.7'])
    await assert.rejects(large.ips.take(ip, parent, wet), isTaken)
  await large.ips.take('10.0.0.6', parent, wet)
  await assert.rejects(small.ips.take('10.0.0.7', parent, wet), isOther)
  await small.repair.prepare()
  for (const ip of ['10.0.0.5', '10.0.0.6'])
    await assert.rejects(small.ips.take(ip, parent, wet), isTaken)
})

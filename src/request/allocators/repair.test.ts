import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { Leases } from '../../storage/leases.ts'
import { MemoryEngine } from '../../storage/memory/memory-engine.ts'
import { Store } from '../../storage/store.ts'
import { identity } from '../../storage/transform.ts'
import { parseCidr } from '../../api/ip.ts'
import { addressOf } from './cluster-ips.ts'
import { IpRecords } from './ip-records.ts'
import { NumberSet } from './number-set.ts'
import { RangeRecord } from './range-record.ts'
import { Repair } from './repair.ts'

const log = (): void => undefined

const service = (name: string, ip: string, nodePort: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'n', name },
  spec: { type: 'NodePort', clusterIPs: [ip], ports: [{ port: 1, nodePort }] },
})

const address = (ip: string, name: string, created: string): KubeObject => {
  const made = addressOf(ip, 'IPv4', { namespace: 'n', name })
  return { ...made, metadata: { ...made.metadata, uid: `uid-${ip}`, creationTimestamp: created } }
}

type RepairOptions = ConstructorParameters<typeof Repair>[0]

/** Creates a repair loop that repairs only node ports. */
const repairOfPorts = (
  options: Pick<RepairOptions, 'nodePorts' | 'listServices'> & Partial<RepairOptions>,
): Repair =>
  new Repair({
    listAddresses: async () => [],
    createAddress: async () => true,
    deleteAddress: async () => undefined,
    readAddress: async () => undefined,
    hasAddress: async () => false,
    records: { add: async () => undefined, entries: [] },
    hasAddressObjects: true,
    life: () => 0,
    wallMs: () => 0,
    log,
    ...options,
  })

/** The record of node ports, as one replica reads and writes it. */
const nodePortsIn = (engine: MemoryEngine): RangeRecord =>
  new RangeRecord({
    store: new Store(engine, {
      transformer: identity,
      leases: new Leases((ttl, call) => engine.grantLease(ttl, call)),
    }),
    key: '/registry/ranges/servicenodeports',
    range: { first: 30_000, last: 30_010 },
    text: '',
    adopt: () => Buffer.alloc(0),
    random: () => 0,
    life: () => 0,
  })

test('the repair loop allocates the addresses and ports that Services use, and later releases those that no Service uses', async () => {
  const ports = new NumberSet({ first: 30_000, last: 30_010 }, Buffer.alloc(0), () => 0)
  ports.take(30_007)
  const freed: string[] = []
  const created: string[] = []
  const old = '2020-01-01T00:00:00Z'
  const recent = '2020-01-01T00:09:30Z'
  const foreign = {
    ...address('10.0.0.9', 'x', old),
    metadata: { name: '10.0.0.9', creationTimestamp: old },
  }
  const repair = new Repair({
    nodePorts: { revision: async () => 1, changeAt: async (_, change) => change(ports) },
    listServices: async () => [service('a', '10.0.0.2', 30_001)],
    listAddresses: async () => [
      address('10.0.0.3', 'gone', old),
      address('10.0.0.4', 'coming', recent),
      foreign,
    ],
    createAddress: async ({ metadata }) => created.push(metadata.name ?? '') > 0,
    deleteAddress: async (ip) => {
      freed.push(ip)
    },
    readAddress: async () => undefined,
    hasAddress: async () => false,
    records: { add: async () => undefined, entries: [] },
    hasAddressObjects: true,
    life: () => 0,
    wallMs: () => Date.parse('2020-01-01T00:10:00Z'),
    log,
  })
  await repair.pass()
  assert.deepEqual(created, ['10.0.0.2'])
  assert.deepEqual(freed, ['10.0.0.3'])
  assert.deepEqual(ports.list(), [30_001, 30_007])
  await repair.pass()
  assert.deepEqual(ports.list(), [30_001, 30_007])
  await repair.pass()
  assert.deepEqual(ports.list(), [30_001])
})

test('after the database is replaced, the repair loop counts the passes in which no Service uses a port from zero again', async () => {
  const ports = new NumberSet({ first: 30_000, last: 30_010 }, Buffer.alloc(0), () => 0)
  ports.take(30_007)
  let life = 0
  const repair = repairOfPorts({
    nodePorts: { revision: async () => 1, changeAt: async (_, change) => change(ports) },
    listServices: async () => [],
    life: () => life,
  })
  await repair.pass()
  await repair.pass()
  life++
  await repair.pass()
  await repair.pass()
  assert.deepEqual(ports.list(), [30_007])
  await repair.pass()
  assert.deepEqual(ports.list(), [])
})

test('ports that are allocated or released while Services are being listed are not changed', async () => {
  await using engine = new MemoryEngine()
  const record = nodePortsIn(engine)
  let services: KubeObject[] = []
  /** Called while the slow replica lists Services to repair the ports. */
  let meanwhile: (() => Promise<void>) | undefined
  const quick = repairOfPorts({
    nodePorts: nodePortsIn(engine),
    listServices: async () => services,
  })
  const ports = nodePortsIn(engine)
  let isForPorts = false
  const slow = repairOfPorts({
    nodePorts: {
      revision: () => {
        isForPorts = true
        return ports.revision()
      },
      changeAt: (revision, change) => ports.changeAt(revision, change),
    },
    listServices: async () => {
      const listed = services
      if (!isForPorts) return listed
      isForPorts = false
      const happens = meanwhile
      meanwhile = undefined
      await happens?.()
      return listed
    },
  })
  await record.change((set) => set.take(30_007))
  for (let pass = 1; pass < 3; pass++) for (const repair of [quick, slow]) await repair.pass()
  meanwhile = async () => {
    // The quick replica releases the port. The port is then allocated to a new Service.
    await quick.pass()
    await record.change((set) => set.take(30_007))
    services = [service('s', '10.0.0.2', 30_007)]
  }
  await slow.pass()
  assert.deepEqual(await record.attempt((set) => set.list()), [30_007])
  meanwhile = async () => {
    services = []
    await record.change((set) => set.release(30_007))
  }
  await slow.pass()
  assert.deepEqual(await record.attempt((set) => set.list()), [])
})

test('an address for a Service that another replica is about to store is not released', async () => {
  await using engine = new MemoryEngine()
  const store = new Store(engine, {
    transformer: identity,
    leases: new Leases((ttl, call) => engine.grantLease(ttl, call)),
  })
  const ranges = [parseCidr('10.0.0.0/24') ?? assert.fail()]
  const records = new IpRecords({
    store,
    root: '/registry/',
    ranges,
    life: () => 0,
    random: () => 0,
    log,
  })
  const [{ record } = assert.fail()] = records.entries
  const taken = (): Promise<number[]> => record.attempt((set) => set.list())
  await record.changeAt(0, (set) => set.add(8))
  const repair = new Repair({
    nodePorts: { revision: async () => 1, changeAt: async () => undefined },
    listServices: async () => [service('a', '10.0.0.2', 30_001)],
    listAddresses: async () => [address('10.0.0.2', 'a', '2020-01-01T00:00:00Z')],
    createAddress: async () => true,
    deleteAddress: async () => undefined,
    readAddress: async () => undefined,
    hasAddress: async () => false,
    records,
    hasAddressObjects: true,
    life: () => 0,
    wallMs: () => 0,
    log,
  })
  for (let pass = 1; pass < 3; pass++) {
    await repair.pass()
    assert.deepEqual(await taken(), [1, 8])
  }
  await repair.pass()
  assert.deepEqual(await taken(), [1])
})

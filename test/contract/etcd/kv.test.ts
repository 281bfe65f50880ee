import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { type EtcdProcess, startEtcd } from '../../support/harness/etcd.ts'
import { failure } from './wait.ts'

const bytes = (text: string): Buffer => Buffer.from(text)
let etcd: EtcdProcess
let client: EtcdClient

before(async () => {
  etcd = await startEtcd()
  client = new EtcdClient({ endpoints: [etcd.clientUrl] })
})

after(async () => {
  await client[Symbol.asyncDispose]()
  await etcd[Symbol.asyncDispose]()
})

test('put, range and delete return keys, values, revisions and counts', async () => {
  const { kv } = client
  const first = await kv.put({ key: bytes('kv/a'), value: bytes('1') })
  const second = await kv.put({ key: bytes('kv/a'), value: bytes('2'), prevKv: true })
  equal(second.revision, first.revision + 1)
  equal(second.prevKv?.value.toString(), '1')
  await kv.put({ key: bytes('kv/b'), value: Buffer.alloc(0) })

  const all = await kv.range({ key: bytes('kv/'), rangeEnd: bytes('kv0') })
  deepEqual(
    all.kvs.map((one) => [
      one.key.toString(),
      one.value.toString(),
      one.createRevision,
      one.modRevision,
      one.version,
    ]),
    [
      ['kv/a', '2', first.revision, second.revision, 2],
      ['kv/b', '', second.revision + 1, second.revision + 1, 1],
    ],
  )
  equal(all.count, 2)
  equal(all.more, false)

  const old = await kv.range({ key: bytes('kv/a'), revision: first.revision })
  equal(old.kvs[0]?.value.toString(), '1')
  const page = await kv.range({
    key: bytes('kv/'),
    rangeEnd: bytes('kv0'),
    limit: 1,
    keysOnly: true,
  })
  deepEqual([page.kvs.length, page.more, page.count, page.kvs[0]?.value.length], [1, true, 2, 0])
  const counted = await kv.range({
    key: bytes('kv/'),
    rangeEnd: bytes('kv0'),
    countOnly: true,
    serializable: true,
  })
  deepEqual([counted.kvs.length, counted.count], [0, 2])
  const newer = await kv.range({
    key: bytes('kv/'),
    rangeEnd: bytes('kv0'),
    minModRevision: second.revision + 1,
  })
  deepEqual(
    newer.kvs.map((one) => one.key.toString()),
    ['kv/b'],
  )
  const last = await kv.range({
    key: bytes('kv/'),
    rangeEnd: bytes('kv0'),
    limit: 1,
    sort: { by: 'mod', descending: true },
  })
  equal(last.kvs[0]?.key.toString(), 'kv/b')

  const deleted = await kv.deleteRange({ key: bytes('kv/'), rangeEnd: bytes('kv0'), prevKv: true })
  deepEqual([deleted.deleted, deleted.prevKvs.length], [2, 2])
})

test('a transaction executes the branch that its comparisons select', async () => {
  const { kv } = client
  const key = bytes('txn/a')
  const create = {
    compare: [{ key, target: 'mod', result: '=', value: 0 }],
    success: [{ type: 'put', key, value: bytes('new') }],
    failure: [{ type: 'range', key }],
  } as const
  const won = await kv.txn(create)
  equal(won.succeeded, true)
  const lost = await kv.txn(create)
  equal(lost.succeeded, false)
  const [found] = lost.responses
  ok(found?.type === 'range')
  equal(found.kvs[0]?.value.toString(), 'new')
  equal(found.kvs[0]?.modRevision, won.revision)
})

test('a transaction can compare version, creation revision, modification revision, value and lease', async () => {
  const { kv } = client
  const key = bytes('txn/compare')
  const { revision } = await kv.put({ key, value: bytes('v') })
  const holds = async (
    compare: Parameters<typeof kv.txn>[0]['compare'][number],
  ): Promise<boolean> => (await kv.txn({ compare: [compare], success: [], failure: [] })).succeeded
  equal(await holds({ key, target: 'version', result: '=', value: 1 }), true)
  equal(await holds({ key, target: 'create', result: '<', value: revision }), false)
  equal(await holds({ key, target: 'mod', result: '>', value: revision - 1 }), true)
  equal(await holds({ key, target: 'value', result: '!=', value: bytes('v') }), false)
  equal(await holds({ key, target: 'value', result: '=', value: bytes('v') }), true)
  equal(await holds({ key, target: 'lease', result: '=', value: 0n }), true)
  const all = { key: bytes('txn/'), rangeEnd: bytes('txn0') }
  equal(await holds({ ...all, target: 'create', result: '>', value: 0 }), true)
  equal(await holds({ ...all, target: 'create', result: '<', value: revision }), false)
})

test('a transaction can contain a nested transaction with a delete', async () => {
  const { kv } = client
  const key = bytes('txn/nested')
  await kv.put({ key, value: bytes('v') })
  const answer = await kv.txn({
    compare: [],
    success: [
      {
        type: 'txn',
        compare: [{ key, target: 'version', result: '=', value: 1 }],
        success: [{ type: 'delete', key, prevKv: true }],
        failure: [],
      },
    ],
    failure: [],
  })
  const [inner] = answer.responses
  ok(inner?.type === 'txn')
  equal(inner.succeeded, true)
  const [gone] = inner.responses
  ok(gone?.type === 'delete')
  equal(gone.prevKvs[0]?.value.toString(), 'v')
})

test('a read at a compacted or future revision fails with OutOfRange', async () => {
  const { kv } = client
  const key = bytes('compact/a')
  const { revision } = await kv.put({ key, value: bytes('1') })
  await kv.put({ key, value: bytes('2') })
  await kv.compact({ revision: revision + 1, physical: true })
  const old = await failure(kv.range({ key, revision }))
  deepEqual([old.code, old.ambiguous, old.endpoint], ['OutOfRange', false, etcd.clientUrl])
  ok(old.message.includes('compacted'))
  const future = await failure(kv.range({ key, revision: revision + 1000 }))
  equal(future.code, 'OutOfRange')
  ok(future.message.includes('future'))
})

test('a request that etcd rejects fails with its status, and nothing was written', async () => {
  const { kv } = client
  const empty = await failure(kv.put({ key: Buffer.alloc(0), value: bytes('v') }))
  deepEqual([empty.code, empty.ambiguous], ['InvalidArgument', false])
  const large = await failure(
    kv.put({ key: bytes('large'), value: Buffer.alloc(1.7 * 1024 * 1024) }),
  )
  deepEqual([large.code, large.ambiguous], ['InvalidArgument', false])
  // This request exceeds etcd's limit by more than 512 KB. etcd's gRPC server rejects such a
  // message before it reads it.
  const larger = await failure(
    kv.put({ key: bytes('large'), value: Buffer.alloc(3 * 1024 * 1024) }),
  )
  deepEqual([larger.code, larger.ambiguous], ['ResourceExhausted', false])
  const lease = await failure(kv.put({ key: bytes('leased'), value: bytes('v'), lease: 12345n }))
  deepEqual([lease.code, lease.ambiguous], ['NotFound', false])
})

test('a response of many megabytes is assembled from its chunks', async () => {
  const { kv } = client
  const value = Buffer.alloc(1024 * 1024, 'x')
  for (let index = 0; index < 24; index++) await kv.put({ key: bytes(`big/${index}`), value })
  const answers = await Promise.all(
    [1, 2].map(() => kv.range({ key: bytes('big/'), rangeEnd: bytes('big0') })),
  )
  for (const { kvs } of answers) {
    equal(kvs.length, 24)
    ok(kvs.every((one) => one.value.equals(value)))
  }
  await kv.deleteRange({ key: bytes('big/'), rangeEnd: bytes('big0') })
})

test('keys and values preserve arbitrary bytes', async () => {
  const { kv } = client
  const key = Buffer.from([0xff, 0x00, 0x80, 0x0a])
  await kv.put({ key, value: Buffer.from([0, 255, 0]) })
  const { kvs } = await kv.range({ key })
  deepEqual(kvs[0]?.key, key)
  deepEqual([...(kvs[0]?.value ?? [])], [0, 255, 0])
})

test('`head` returns the revision and the ID of the cluster', async () => {
  await using other = await startEtcd({ args: ['--initial-cluster-token', 'another'] })
  await using otherClient = new EtcdClient({ endpoints: [other.clientUrl] })
  const { revision } = await client.kv.put({ key: bytes('head'), value: bytes('1') })
  const head = await client.kv.head(bytes('\0'))
  equal(head.revision, revision)
  deepEqual(await client.kv.head(bytes('head')), head)
  ok(head.clusterId > 0n)
  const { clusterId } = await otherClient.kv.head(bytes('\0'))
  ok(clusterId !== head.clusterId)
})

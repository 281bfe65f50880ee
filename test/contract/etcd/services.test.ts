import { deepEqual, equal, ok } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { after, before, test } from 'node:test'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import type { GrpcError } from '../../../src/net/grpc/errors.ts'
import { type EtcdProcess, startEtcd } from '../../support/harness/etcd.ts'
import { failure, until } from './wait.ts'

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

test('a lease can be granted, queried, renewed, and revoked together with its keys', async () => {
  const { lease, kv } = client
  const granted = await lease.grant({ ttlSeconds: 60 })
  ok(granted.id > 0n)
  equal(granted.ttlSeconds, 60)
  await kv.put({ key: bytes('leased/a'), value: bytes('v'), lease: granted.id })
  equal((await kv.range({ key: bytes('leased/a') })).kvs[0]?.lease, granted.id)
  const status = await lease.timeToLive(granted.id, { keys: true })
  equal(status.grantedTtlSeconds, 60)
  ok(status.ttlSeconds > 50)
  deepEqual(status.keys.map(String), ['leased/a'])
  const renewed = await lease.keepAliveOnce(granted.id)
  deepEqual([renewed.id, renewed.ttlSeconds], [granted.id, 60])
  await lease.revoke(granted.id)
  equal((await kv.range({ key: bytes('leased/a') })).count, 0)
  equal((await lease.timeToLive(granted.id)).ttlSeconds, -1)
  equal((await failure(lease.keepAliveOnce(granted.id))).code, 'NotFound')
})

test('the client can choose the ID of a lease, including the largest possible one', async () => {
  const id = 2n ** 63n - 1n
  const granted = await client.lease.grant({ ttlSeconds: 60, id })
  equal(granted.id, id)
  const again = await failure(client.lease.grant({ ttlSeconds: 60, id }))
  deepEqual([again.code, again.ambiguous], ['FailedPrecondition', false])
  await client.lease.revoke(id)
})

test('a lease is renewed repeatedly until it is lost', async () => {
  const granted = await client.lease.grant({ ttlSeconds: 2 })
  const lost: GrpcError[] = []
  let renewals = 0
  const kept = client.lease.keepAlive(granted, {
    onRenewed: () => {
      renewals++
    },
    onLost: (error) => lost.push(error),
  })
  await until(() => renewals >= 2, 'two renewals')
  await client.lease.revoke(granted.id)
  await until(() => lost.length === 1, 'the loss')
  equal(lost[0]?.code, 'NotFound')
  kept.stop()
})

test('`status` returns the version, sizes, leader and revision', async () => {
  const { revision } = await client.kv.put({ key: bytes('status'), value: bytes('v') })
  const status = await client.maintenance.status()
  ok(/^3\.\d+\.\d+/.test(status.version))
  equal(status.revision, revision)
  ok(status.dbSizeBytes > 0 && status.dbSizeInUseBytes > 0)
  ok(status.memberId > 0n)
  equal(status.leader, status.memberId)
  equal(status.isLearner, false)
  deepEqual(status.errors, [])
})

test('`memberList` returns the members of the cluster', async () => {
  const members = await client.cluster.memberList()
  equal(members.length, 1)
  equal(members[0]?.name, basename(etcd.dir))
  deepEqual(members[0]?.clientUrls, [etcd.clientUrl])
  equal(members[0]?.id, (await client.maintenance.status()).memberId)
})

test('a snapshot consists of the database file and its checksum', async () => {
  const value = Buffer.alloc(512 * 1024, 's')
  for (let index = 0; index < 8; index++)
    await client.kv.put({ key: bytes(`snapshot/${index}`), value })
  const chunks: Buffer[] = []
  for await (const chunk of client.maintenance.snapshot()) chunks.push(Buffer.from(chunk))
  const whole = Buffer.concat(chunks)
  const file = whole.subarray(0, -32)
  equal(file.length % 512, 0)
  ok(file.length > 8 * value.length)
  deepEqual(createHash('sha256').update(file).digest(), whole.subarray(-32))
})

test('if a snapshot is no longer read or is canceled, its call to etcd ends', async () => {
  for await (const chunk of client.maintenance.snapshot()) {
    ok(chunk.length > 0)
    break
  }
  const abort = new AbortController()
  const read = async (): Promise<void> => {
    for await (const chunk of client.maintenance.snapshot({ signal: abort.signal })) {
      ok(chunk.length > 0)
      abort.abort()
    }
  }
  equal((await failure(read())).code, 'Cancelled')
})

test('`defragment` completes without an error', async () => {
  await client.maintenance.defragment()
})

test('a full database reports an alarm, and accepts writes again after the alarm is deactivated', async () => {
  await using small = await startEtcd({ args: ['--quota-backend-bytes', String(2 * 1024 * 1024)] })
  await using full = new EtcdClient({ endpoints: [small.clientUrl] })
  const value = Buffer.alloc(256 * 1024)
  let error: GrpcError | undefined
  for (let index = 0; index < 40 && error === undefined; index++) {
    await full.kv.put({ key: bytes(`full/${index}`), value }).catch((thrown: GrpcError) => {
      error = thrown
    })
  }
  deepEqual([error?.code, error?.ambiguous], ['ResourceExhausted', true])
  ok(error?.message.includes('space'))
  const alarms = await full.maintenance.alarms()
  equal(alarms[0]?.alarm, 'nospace')
  await full.kv.deleteRange({ key: bytes('full/'), rangeEnd: bytes('full0') })
  const { revision } = await full.kv.range({ key: bytes('x') })
  await full.kv.compact({ revision, physical: true })
  await full.maintenance.defragment()
  for (const alarm of alarms) await full.maintenance.deactivateAlarm(alarm)
  deepEqual(await full.maintenance.alarms(), [])
  await full.kv.put({ key: bytes('full/again'), value: bytes('v') })
})

/** Tests a cluster of three members that loses members and finally its quorum. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { GrpcError } from '../../../src/net/grpc/errors.ts'
import { EtcdProcess, freePorts } from '../../support/harness/etcd.ts'
import { until } from './wait.ts'

const key = Buffer.from('key')

async function startCluster(): Promise<EtcdProcess[]> {
  const names = ['a', 'b', 'c']
  const ports = await freePorts(2 * names.length)
  const peers = names.map((_, index) => `http://127.0.0.1:${ports[index]}`)
  const initial = names.map((name, index) => `${name}=${peers[index]}`).join(',')
  const members = await Promise.all(
    names.map(async (name, index) => {
      const dir = await mkdtemp(join(tmpdir(), 'keelson-etcd-'))
      const clientUrl = `http://127.0.0.1:${ports[names.length + index]}`
      const peer = peers[index] ?? ''
      return new EtcdProcess(dir, clientUrl, [
        ...[
          '--name',
          name,
          '--data-dir',
          join(dir, 'data'),
          '--initial-cluster',
          initial,
          '--log-level',
          'error',
        ],
        ...[
          '--listen-client-urls',
          clientUrl,
          '--advertise-client-urls',
          clientUrl,
          '--unsafe-no-fsync',
        ],
        ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      ])
    }),
  )
  await Promise.all(members.map((member) => member.start()))
  return members
}

test('writes continue when one member stops, and fail when the quorum is lost', {
  timeout: 120_000,
}, async () => {
  const members = await startCluster()
  await using stack = new AsyncDisposableStack()
  for (const member of members) stack.use(member)
  await using client = new EtcdClient({
    endpoints: members.map((member) => member.clientUrl),
    timeoutMs: 8000,
  })

  const listed = await client.cluster.memberList()
  deepEqual(listed.map((member) => member.name).toSorted(), ['a', 'b', 'c'])
  const { leader } = await client.maintenance.status()
  const leaderUrl = listed.find((member) => member.id === leader)?.clientUrls[0]

  let acknowledged = 0
  let inDoubt = 0
  const write = async (): Promise<void> => {
    try {
      await client.kv.put({ key, value: Buffer.from(`${acknowledged + inDoubt}`) })
      acknowledged++
    } catch (error) {
      if (!(error instanceof GrpcError && error.ambiguous)) throw error
      inDoubt++
    }
  }
  for (let index = 0; index < 20; index++) await write()
  const dead = members.find((member) => member.clientUrl === leaderUrl)
  await dead?.stop()
  for (let index = 0; index < 20; index++) await write()
  const { kvs } = await client.kv.range({ key })
  const version = kvs[0]?.version ?? 0
  // Each acknowledged write was applied once, and each write with an unknown outcome at most once.
  ok(
    version >= acknowledged && version <= acknowledged + inDoubt,
    `${version} of ${acknowledged} + ${inDoubt}`,
  )
  ok(acknowledged >= 35, `${acknowledged} acknowledged`)

  const ends: (GrpcError | undefined)[] = []
  let isCreated = false
  const onCreated = (): void => {
    isCreated = true
  }
  client.watch
    .open({ requireLeader: true, onEnd: (error) => ends.push(error) })
    .create({ key }, { onCreated, onEvents: () => undefined, onCanceled: () => undefined })
  await until(() => isCreated, 'the watch')
  const alive = members.filter((member) => member !== dead)
  const serving = await client.maintenance.status()
  const servingName = listed.find((member) => member.id === serving.memberId)?.clientUrls[0]
  for (const member of alive) if (member.clientUrl !== servingName) await member.stop()
  await until(() => ends.length === 1, 'the end of a watch without a leader', 20_000)
  equal(ends[0]?.code, 'Unavailable')
  ok(ends[0]?.message.includes('no leader'), ends[0]?.message)
  // Serializable reads still work without a quorum, because the member serves them from its own
  // state.
  equal((await client.kv.range({ key, serializable: true })).kvs[0]?.version, version)
  try {
    await client.kv.put({ key, value: key })
    ok(false, 'a write without a quorum')
  } catch (error) {
    ok(
      error instanceof GrpcError && error.code === 'Unavailable' && !error.ambiguous,
      String(error),
    )
  }
})

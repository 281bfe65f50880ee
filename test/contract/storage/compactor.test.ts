/** Tests compaction by several servers that share one etcd. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { silent } from '../../../src/lib/telemetry/log.ts'
import { Compactor } from '../../../src/storage/compactor.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import { EtcdEngine } from '../../../src/storage/etcd-engine.ts'
import { compactionMarker, toBytes } from '../../../src/storage/keys.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { bytes, newStore, until } from './subject.ts'

const INTERVAL_MS = 1_000

async function marker(client: EtcdClient): Promise<{ version: number; noted: number }> {
  const { kvs } = await client.kv.range({ key: toBytes(compactionMarker) })
  return { version: kvs[0]?.version ?? 0, noted: Number(kvs[0]?.value.toString() ?? 0) }
}

test('two replicas together compact once per interval, so that the history of the last interval is kept', async () => {
  await using etcd = await startEtcd()
  await using client = new EtcdClient({ endpoints: [etcd.clientUrl] })
  await using other = new EtcdClient({ endpoints: [etcd.clientUrl] })
  const engine = new EtcdEngine(client)
  const store = newStore(engine)
  const old = await store.create('/x/old', bytes(1))
  const started = performance.now()
  await using running = new AsyncDisposableStack()
  for (const one of [client, other])
    running.use(new Compactor({ client: one, log: silent, intervalMs: INTERVAL_MS }))

  const written: number[] = []
  while (performance.now() - started < INTERVAL_MS * 7.5) {
    written.push(await store.create(`/x/${written.length}`, bytes(1)))
    await sleep(20)
  }
  const { version, noted } = await marker(client)
  const intervals = Math.floor((performance.now() - started) / INTERVAL_MS)
  assert.ok(version >= 2 && version <= intervals, `${version} in ${intervals} intervals`)
  // The compactors share a key in which they store a revision, and have compacted up to this
  // revision. The revisions of the last interval are still available.
  assert.ok(noted > old)
  await assert.rejects(
    store.get('/x/old', { revision: old }),
    (error) => error instanceof StorageError && error.code === 'compacted',
  )
  const recent = written.at(-1) ?? 0
  assert.equal((await store.get('/x/old', { revision: recent })).found?.revision, old)
})

test('nothing is compacted before the first interval ends, or if no interval is configured', async () => {
  await using etcd = await startEtcd()
  await using client = new EtcdClient({ endpoints: [etcd.clientUrl] })
  await using running = new AsyncDisposableStack()
  running.use(new Compactor({ client, log: silent, intervalMs: 0 }))
  running.use(new Compactor({ client, log: silent }))
  // This interval is longer than the maximum delay of a timer, which must not make the timer fire
  // immediately.
  running.use(new Compactor({ client, log: silent, intervalMs: 2 ** 31 }))
  await sleep(100)
  assert.deepEqual(await marker(client), { version: 0, noted: 0 })
})

test('failed compactions are logged, and later compactions still run', async () => {
  await using etcd = await startEtcd()
  await using client = new EtcdClient({ endpoints: [etcd.clientUrl], timeoutMs: 1_000 })
  const warnings: string[] = []
  await using running = new AsyncDisposableStack()
  running.use(
    new Compactor({
      client,
      log: (level, message) => level === 'warn' && warnings.push(message),
      intervalMs: 100,
    }),
  )
  let version = 0
  await until(() => readVersion() > 0, 'the marker')
  await etcd.stop()
  await until(() => warnings.length > 0, 'a warning')
  await etcd.start()
  const before = version
  await until(() => readVersion() > before, 'the marker changes again')

  /** Returns the version of the marker from the last completed read, and starts the next read. */
  function readVersion(): number {
    void marker(client)
      .then((read) => (version = read.version))
      .catch(() => undefined)
    return version
  }
})

/** Runs the storage contract on a real etcd, and tests failures that only occur with etcd. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import { EtcdEngine } from '../../../src/storage/etcd-engine.ts'
import { rangeOf } from '../../../src/storage/keys.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { storeContract } from './store-contract.ts'
import { bytes, newStore, Recorder, type Subject, until } from './subject.ts'

storeContract('etcd', async (): Promise<Subject> => {
  const etcd = await startEtcd()
  const client = new EtcdClient({ endpoints: [etcd.clientUrl] })
  const engine = new EtcdEngine(client)
  return {
    engine,
    compact: async (revision) => {
      await client.kv.compact({ revision })
    },
    revokeLease: async (lease) => {
      await client.lease.revoke(lease)
    },
    pause: () => etcd.pause(),
    resume: () => etcd.resume(),
    [Symbol.asyncDispose]: async () => {
      await engine[Symbol.asyncDispose]()
      await etcd[Symbol.asyncDispose]()
    },
  }
})

test('when etcd stops, the event feed ends once with a cause, and a new feed continues from the same revision', async () => {
  await using etcd = await startEtcd()
  await using engine = new EtcdEngine(new EtcdClient({ endpoints: [etcd.clientUrl] }))
  const store = newStore(engine)
  const range = rangeOf('/x/')
  using feed = new Recorder(engine, [{ ...range, after: await engine.latest() }])
  const first = await store.create('/x/a', bytes(1))
  await feed.reach(first)
  await etcd.stop()
  await until(() => feed.ends.length > 0, 'the end')
  assert.ok(
    feed.ends[0] instanceof StorageError && feed.ends[0].code === 'unavailable',
    String(feed.ends[0]),
  )
  await assert.rejects(
    engine.latest({ timeoutMs: 300 }),
    (error) => error instanceof StorageError && error.code === 'unavailable' && !error.ambiguous,
  )
  // etcd is stopped, so the write is not sent, and its outcome is not ambiguous.
  await assert.rejects(
    store.create('/x/never', bytes(0)),
    (error) => error instanceof StorageError && error.code === 'unavailable' && !error.ambiguous,
  )
  await etcd.start()
  const second = await store.create('/x/b', bytes(2))
  using next = new Recorder(engine, [{ ...range, after: first }])
  await next.reach(second)
  assert.deepEqual(
    next.events.map(({ key }) => key),
    ['/x/b'],
  )
  feed.close()
  assert.equal(feed.ends.length, 1)
})

test('if etcd does not run, a new event feed ends with an error, but only after openFeed has returned', async () => {
  await using etcd = await startEtcd()
  await etcd.stop()
  await using engine = new EtcdEngine(new EtcdClient({ endpoints: [etcd.clientUrl] }))
  using feed = new Recorder(engine, [{ ...rangeOf('/x/'), after: 1 }])
  assert.equal(feed.ends.length, 0)
  await until(() => feed.ends.length > 0, 'the end')
  assert.ok(feed.ends[0] instanceof StorageError)
})

test('a full etcd is reported as no-space, and the outcome of the write is unknown', async () => {
  await using etcd = await startEtcd({ args: ['--quota-backend-bytes', String(2 * 1024 * 1024)] })
  await using engine = new EtcdEngine(new EtcdClient({ endpoints: [etcd.clientUrl] }))
  const store = newStore(engine)
  const fill = async (): Promise<void> => {
    for (let i = 0; i < 100; i++) await store.create(`/x/${i}`, Buffer.alloc(200_000, 'x'))
  }
  await assert.rejects(
    fill(),
    (error) => error instanceof StorageError && error.code === 'no-space' && error.ambiguous,
  )
})

test('an event feed reports if its next revision is compacted, because old versions of etcd omit deletions at this revision', async () => {
  await using etcd = await startEtcd()
  const client = new EtcdClient({ endpoints: [etcd.clientUrl] })
  await using engine = new EtcdEngine(client)
  const store = newStore(engine)
  const after = await store.create('/x/a', bytes(1))
  const next = await store.create('/x/b', bytes(1))
  await client.kv.compact({ revision: next })
  using feed = new Recorder(engine, [
    { ...rangeOf('/x/'), after },
    { ...rangeOf('/y/'), after: next },
  ])
  await until(() => feed.compacted.length > 0, 'compaction')
  assert.deepEqual(feed.compacted, [{ range: 0, oldest: next }])
  await feed.reach(next)
})

/**
 * Tests that the in-memory engine limits the memory of its history, regardless of the compaction
 * interval.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Key, Revision } from '../../../src/storage/engine.ts'
import { rangeOf } from '../../../src/storage/keys.ts'
import { HISTORY_BYTES_MAX } from '../../../src/storage/memory/database.ts'
import { MemoryEngine } from '../../../src/storage/memory/memory-engine.ts'
import { type Cluster, startCluster } from '../../../src/entry/testing/index.ts'
import { Recorder, until } from './subject.ts'

const VALUE_BYTES = 1024 * 1024
/**
 * Number of writes. Their values together are more than twice as large as the limit for the
 * history.
 */
const WRITES = 2 * (HISTORY_BYTES_MAX / VALUE_BYTES) + 10

async function put(engine: MemoryEngine, key: Key, value: Buffer): Promise<Revision> {
  const { won, revision } = await engine.change({
    key,
    expected: engine.peek(key)?.revision ?? 0,
    write: { put: value },
  })
  assert.ok(won)
  return revision
}

test('the memory for replaced and deleted values is limited, and an open event feed receives every event', async () => {
  await using engine = new MemoryEngine()
  const first = await put(engine, '/x/small', Buffer.from('1'))
  using feed = new Recorder(engine, [{ ...rangeOf('/x/'), after: first }])
  let revision = first
  for (let n = 0; n < WRITES; n++) {
    const key = `/x/${n % 4}`
    if (n % 9 === 8)
      ({ revision } = await engine.change({
        key,
        expected: engine.peek(key)?.revision ?? 0,
        write: 'delete',
      }))
    else revision = await put(engine, key, Buffer.alloc(VALUE_BYTES, n))
    assert.ok(engine.stats().historyBytes <= HISTORY_BYTES_MAX)
  }
  await feed.reach(revision)
  assert.deepEqual(
    feed.events.map((event) => event.revision),
    Array.from({ length: WRITES }, (_, n) => first + 1 + n),
  )
  await assert.rejects(engine.range({ ...rangeOf('/x/'), revision: first }), { code: 'compacted' })
  using late = new Recorder(engine, [{ ...rangeOf('/x/'), after: first }])
  await until(
    () => late.compacted.length > 0,
    'a feed from a dropped revision is reported as compacted',
  )
  // The most recent revisions are still available.
  using recent = new Recorder(engine, [{ ...rangeOf('/x/'), after: revision - 20 }])
  await recent.reach(revision)
  assert.equal(recent.events.length, 20)
})

test('current values do not count toward the memory limit of the history, regardless of their number', async () => {
  await using engine = new MemoryEngine()
  const first = await put(engine, '/x/0', Buffer.alloc(VALUE_BYTES))
  for (let n = 1; n < WRITES; n++) await put(engine, `/x/${n}`, Buffer.alloc(VALUE_BYTES))
  const { count } = await engine.range({ ...rangeOf('/x/'), revision: first })
  assert.equal(count, 1)
})

const configMaps = '/api/v1/namespaces/default/configmaps'

const patch = async (cluster: Cluster, name: string, n: number): Promise<void> => {
  const body = { data: { n: String(n) } }
  const contentType = 'application/merge-patch+json'
  const { status } = await cluster.request({
    method: 'PATCH',
    path: `${configMaps}/${name}`,
    body,
    contentType,
  })
  assert.equal(status, 200)
}

test('a cluster whose history was truncated can be forked, and restored to an earlier snapshot', async (t) => {
  const cluster = await startCluster()
  t.after(() => cluster.stop())
  const body = { metadata: { name: 'large' }, data: { k: 'x'.repeat(900_000), n: 'first' } }
  assert.equal((await cluster.request({ method: 'POST', path: configMaps, body })).status, 201)
  const before = cluster.snapshot()
  for (let n = 0; n < 90; n++) await patch(cluster, 'large', n)
  const fork = await cluster.fork()
  t.after(() => fork.stop())
  type Large = { readonly data: { readonly n: string } }
  const shown = async (one: Cluster): Promise<string> =>
    (await one.request<Large>({ path: `${configMaps}/large` })).body.data.n
  assert.deepEqual([await shown(cluster), await shown(fork)], ['89', '89'])
  await cluster.restore(before)
  assert.deepEqual([await shown(cluster), await shown(fork)], ['first', '89'])
})

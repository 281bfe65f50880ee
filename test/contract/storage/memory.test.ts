/** Runs the storage contract on the in-memory engine. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { StorageError } from '../../../src/storage/errors.ts'
import { rangeOf } from '../../../src/storage/keys.ts'
import { MemoryEngine } from '../../../src/storage/memory/memory-engine.ts'
import { storeContract } from './store-contract.ts'
import { bytes, newStore, Recorder, type Subject, until } from './subject.ts'

storeContract('memory', async (): Promise<Subject> => {
  const engine = new MemoryEngine()
  return {
    engine,
    compact: async (revision) => engine.compact(revision),
    revokeLease: async (lease) => engine.revokeLease(lease),
    pause: () => engine.pause(),
    resume: () => engine.resume(),
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  }
})

test('compaction frees the memory of deleted keys', async () => {
  await using engine = new MemoryEngine()
  const store = newStore(engine)
  for (let i = 0; i < 100; i++) {
    await store.create(`/x/${i}`, bytes(i))
    await store.delete(`/x/${i}`, { decode: (stored) => stored })
  }
  await store.create('/x/kept', bytes('kept'))
  assert.equal(engine.stats().keys, 101)
  engine.compact(await engine.latest())
  await until(() => engine.stats().keys === 1, 'the deleted keys are gone')
  assert.throws(() => engine.compact(5), { code: 'compacted' })
  assert.throws(() => engine.compact(5000), { code: 'too-new' })
})

test('a restore resets the database: event feeds end, and revisions are reused', async () => {
  await using engine = new MemoryEngine()
  const store = newStore(engine)
  await store.create('/x/a', bytes(1))
  const backup = engine.snapshot()
  const lost = await store.create('/x/b', bytes(2))
  using feed = new Recorder(engine, [{ ...rangeOf('/x/'), after: lost }])
  await feed.reach(lost)
  engine.restore(backup)
  assert.ok(feed.ends[0] instanceof StorageError)
  assert.equal((await store.get('/x/b')).found, undefined)
  // Open an event feed after a revision that the restored database has not reached yet. The feed
  // must not report anything before the database reaches this revision.
  using next = new Recorder(engine, [{ ...rangeOf('/x/'), after: lost }])
  next.requestProgress()
  await sleep(20)
  assert.deepEqual(next.progress, [])
  assert.equal(await store.create('/x/c', bytes(3)), lost)
  assert.equal(await store.create('/x/d', bytes(4)), lost + 1)
  await next.reach(lost + 1)
  assert.deepEqual(
    next.events.map(({ key }) => key),
    ['/x/d'],
  )
  await until(() => engine.stats().feeds === 1, 'the first feed is gone')
})

test('after a restore, the keys of the database are counted again', async () => {
  await using engine = new MemoryEngine()
  const store = newStore(engine)
  const backup = engine.snapshot()
  for (const name of ['a', 'b', 'c', 'd']) await store.create(`/x/${name}`, bytes(name))
  const page = { ...rangeOf('/x/'), limit: 1 }
  const { revision } = await engine.range(page)
  engine.restore(backup)
  for (const key of ['/x/a', '/x/b', '/x/c', '/y/d']) await store.create(key, bytes(key))
  assert.equal(await engine.latest(), revision)
  assert.equal((await engine.range({ ...page, from: '/x/a\0', revision })).count, 2)
})

test('the removal of compacted versions does not continue in a database that was restored in the meantime', async () => {
  await using engine = new MemoryEngine()
  const keys = Array.from({ length: 20_000 }, (_, i) => `/x/${String(i).padStart(6, '0')}`)
  for (const key of keys) void engine.change({ key, expected: 0, write: { put: bytes('old') } })
  const first = await engine.latest()
  const last = keys.at(-1) ?? ''
  await engine.change({ key: last, expected: first, write: { put: bytes('new') } })
  const backup = engine.snapshot()
  engine.compact(await engine.latest())
  // At this point, the removal of compacted versions has started, but is far from complete. The
  // restore must stop it.
  engine.restore(backup)
  // Wait for 300 ticks. If the removal continued, it would be complete long before that.
  for (let turn = 0; turn < 300; turn++) await new Promise((resolve) => setImmediate(resolve))
  const { values } = await engine.range({ from: last, to: `${last}\0`, revision: first })
  assert.equal(values[0]?.value.toString(), 'old')
})

test('a long list yields to other work and returns the state at one revision', async () => {
  await using engine = new MemoryEngine()
  const keys = Array.from({ length: 50_000 }, (_, i) => `/x/${String(i).padStart(6, '0')}`)
  for (const key of keys) void engine.change({ key, expected: 0, write: { put: bytes(key) } })
  const revision = await engine.latest()
  let turns = 0
  let isListed = false
  const count = (): void => {
    turns++
    if (!isListed) setImmediate(count)
  }
  const listed = engine.range(rangeOf('/x/'))
  count()
  await engine.change({ key: '/x/0', expected: 0, write: { put: bytes('late') } })
  engine.compact(revision + 1)
  const found = await listed
  isListed = true
  assert.deepEqual([found.count, found.revision], [keys.length, revision])
  assert.ok(turns > 3, `${turns} ticks`)
})

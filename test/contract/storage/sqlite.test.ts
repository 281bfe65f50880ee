/**
 * Runs the storage contract on the SQLite engine, and tests behavior that only a file has: data
 * survives a restart, and only one process can open a folder.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemTime } from '../../../src/lib/time/timers.ts'
import { rangeOf } from '../../../src/storage/keys.ts'
import { SqliteEngine } from '../../../src/storage/sqlite/sqlite-engine.ts'
import { storeContract } from './store-contract.ts'
import { PATIENCE_MS, until } from '../../support/harness/until.ts'
import { bytes, decode, failsWith, newStore, Recorder, type Subject } from './subject.ts'

const root = mkdtempSync(join(tmpdir(), 'keelson-sqlite-'))
after(() => rmSync(root, { recursive: true, force: true }))
const newPath = (): string => mkdtempSync(join(root, 'store-'))

storeContract('sqlite', async (): Promise<Subject> => {
  const folder = newPath()
  const engine = await SqliteEngine.open({ folder })
  return {
    engine,
    compact: (revision) => engine.compact(revision),
    revokeLease: (lease) => engine.revokeLease(lease),
    [Symbol.asyncDispose]: async () => {
      await engine[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    },
  }
})

test('objects, revisions, history, leases and the database ID survive a restart', async () => {
  const folder = newPath()
  let engine = await SqliteEngine.open({ folder })
  const store = newStore(engine)
  const first = await store.create('/x/a', bytes('one'))
  const { revision } = await store.update('/x/a', { decode }, () => ({ put: bytes('two') }))
  const lease = await engine.grantLease(3600)
  await engine.change({ key: '/x/leased', expected: 0, write: { put: bytes('gone soon'), lease } })
  const { databaseId } = engine
  const latest = await engine.latest()
  await engine[Symbol.asyncDispose]()

  engine = await SqliteEngine.open({ folder })
  assert.deepEqual([engine.databaseId, await engine.latest()], [databaseId, latest])
  const past = await engine.range({ ...rangeOf('/x/'), revision: first })
  assert.deepEqual(
    past.values.map(({ value }) => value.toString()),
    ['one'],
  )
  using feed = new Recorder(engine, [{ ...rangeOf('/x/'), after: first }])
  await feed.reach(latest)
  assert.deepEqual(
    feed.events.map(({ value }) => value),
    ['two', 'gone soon'],
  )
  await engine.revokeLease(lease)
  const { values } = await engine.range(rangeOf('/x/'))
  assert.deepEqual(
    values.map(({ key, revision: at }) => [key, at]),
    [['/x/a', revision]],
  )
  await engine[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

test('only one process can open a data folder at a time', async () => {
  const folder = newPath()
  await using engine = await SqliteEngine.open({ folder })
  await assert.rejects(SqliteEngine.open({ folder }), (error: Error) => {
    assert.equal(
      error.message,
      `${folder} is in use by process ${process.pid} on ${hostname()}: stop it, or choose another --data-dir`,
    )
    return true
  })
  await engine.latest()
})

test('a second process reports which process has opened the data folder', async () => {
  const folder = newPath()
  await using engine = await SqliteEngine.open({ folder })
  const second = spawnSync(
    process.execPath,
    [join(import.meta.dirname, 'sqlite-subject.ts'), folder],
    {
      encoding: 'utf8',
    },
  )
  assert.notEqual(second.status, 0)
  assert.ok(
    second.stderr.includes(`${folder} is in use by process ${process.pid} on ${hostname()}`),
    second.stderr,
  )
  await engine.change({ key: '/x/a', expected: 0, write: { put: bytes('x') } })
})

test('a lease that expired while the data folder was closed ends at the next start, and can no longer be revoked', async () => {
  const folder = newPath()
  let wallMs = 1_000_000_000_000
  const time = { ...systemTime, wallMs: () => wallMs }
  {
    await using engine = await SqliteEngine.open({ folder, time })
    const lease = await engine.grantLease(600)
    await engine.change({ key: '/x/leased', expected: 0, write: { put: bytes('x'), lease } })
    await engine.change({ key: '/x/kept', expected: 0, write: { put: bytes('x') } })
  }
  wallMs += 3_600_000
  await using engine = await SqliteEngine.open({ folder, time })
  await until(async () => (await engine.range(rangeOf('/x/'))).count === 1, 'the lease ends')
  const latest = await engine.latest()
  await assert.rejects(engine.revokeLease(1n), failsWith('missing'))
  assert.equal(await engine.latest(), latest)
})

test('leases that expired at the same time end one after the other', async () => {
  const folder = newPath()
  let wallMs = 1_000_000_000_000
  const time = { ...systemTime, wallMs: () => wallMs }
  const LEASES = 20
  {
    await using engine = await SqliteEngine.open({ folder, time, isDurable: false })
    for (let n = 0; n < LEASES; n++) {
      const lease = await engine.grantLease(600)
      await engine.change({ key: `/x/${n}`, expected: 0, write: { put: bytes('x'), lease } })
    }
  }
  wallMs += 3_600_000
  await using engine = await SqliteEngine.open({ folder, time })
  const before = await engine.latest()
  await until(async () => (await engine.range(rangeOf('/x/'))).count === 0, 'all leases end')
  assert.equal(await engine.latest(), before + LEASES)
})

test('a canceled list stops, and a list of many slices returns the state at one revision', async () => {
  const folder = newPath()
  const patient = { timeoutMs: PATIENCE_MS }
  await using engine = await SqliteEngine.open({ folder, isDurable: false })
  const put = Buffer.alloc(1000, 'x')
  const keys = Array.from({ length: 2_000 }, (_, n) => `/x/${String(n).padStart(6, '0')}`)
  const made = await Promise.all(
    keys.map((key) => engine.change({ key, expected: 0, write: { put } }, patient)),
  )
  const revision = await engine.latest()
  const controller = new AbortController()
  const left = assert.rejects(
    engine.range(rangeOf('/x/'), { ...patient, signal: controller.signal }),
    failsWith('cancelled'),
  )
  setImmediate(() => controller.abort())
  const listed = engine.range(rangeOf('/x/'), patient)
  // Wait for another range. It is served after the first slice of the list, so the list is in
  // progress now.
  await engine.range({ from: '/y/', to: '/y/0' }, patient)
  const changes = made.map(({ revision: expected }, n) =>
    engine.change({ key: keys[n] ?? '', expected, write: 'delete' }, patient),
  )
  await left
  assert.ok((await Promise.all(changes)).every(({ won }) => won))
  await engine.change({ key: '/x/other', expected: 0, write: { put } })
  await engine.compact(await engine.latest())
  const found = await listed
  assert.deepEqual(
    [found.revision, found.count, found.values.length],
    [revision, keys.length, keys.length],
  )
})

test('compaction removes old versions in slices, and the remaining values can be read', async () => {
  const folder = newPath()
  await using engine = await SqliteEngine.open({ folder, isDurable: false })
  const store = newStore(engine)
  for (let round = 0; round < 20; round++) {
    const all = Array.from({ length: 100 }, async (_, i) => {
      if (round === 0) await store.create(`/x/${i}`, bytes(round))
      else await store.update(`/x/${i}`, { decode }, () => ({ put: bytes(round) }))
    })
    await Promise.all(all)
  }
  for (let i = 0; i < 50; i++) await store.delete(`/x/${i}`, { decode })
  const latest = await engine.latest()
  await engine.compact(latest)
  await engine[Symbol.asyncDispose]()
  await using again = await SqliteEngine.open({ folder })
  assert.equal(await again.latest(), latest)
  const { count, values } = await again.range(rangeOf('/x/'))
  assert.deepEqual([count, values.every(({ value }) => value.toString() === '19')], [50, true])
})

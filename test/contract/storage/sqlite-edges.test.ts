/**
 * Tests the SQLite engine with large numbers, large commits, unusual folders, and other programs
 * that use its file.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { moveStore } from '../../../src/entry/commands/move-store.ts'
import { rangeOf } from '../../../src/storage/keys.ts'
import type { Log } from '../../../src/lib/telemetry/log.ts'
import { DatabaseThread } from '../../../src/storage/sqlite/database-thread.ts'
import { SqliteDatabase } from '../../../src/storage/sqlite/database.ts'
import { fileIn } from '../../../src/storage/sqlite/folder-lock.ts'
import { LONG_LOG_BYTES } from '../../../src/storage/sqlite/log-growth.ts'
import type { Calls } from '../../../src/storage/sqlite/messages.ts'
import { SqliteEngine } from '../../../src/storage/sqlite/sqlite-engine.ts'
import { KEYS_OF_REVISION_MAX, REVISION_MAX, setUp } from '../../../src/storage/sqlite/tables.ts'
import { PATIENCE_MS, until } from '../../support/harness/until.ts'
import { bytes, failsWith, Recorder } from './subject.ts'

const root = mkdtempSync(join(tmpdir(), 'keelson-edges-'))
after(() => rmSync(root, { recursive: true, force: true }))
const newPath = (): string => mkdtempSync(join(root, 'store-'))
const run = (...args: readonly string[]): Promise<string> =>
  moveStore(args, { nowMs: Date.now(), showProgress: null })
const patient = { timeoutMs: PATIENCE_MS }

test('while another program locks the database file, writes fail with the reason, and reads continue', async () => {
  const folder = newPath()
  const lines: string[] = []
  await using engine = await SqliteEngine.open({
    folder,
    log: (level, message) => lines.push(`${level} ${message}`),
  })
  const put = bytes('x')
  const { revision } = await engine.change({ key: '/x/a', expected: 0, write: { put } })
  using other = new DatabaseSync(fileIn(folder))
  other.exec('BEGIN IMMEDIATE')
  for (const key of ['/x/b', '/x/c']) {
    await assert.rejects(
      engine.change({ key, expected: 0, write: { put } }, patient),
      (error: unknown) => {
        assert.ok(failsWith('unavailable')(error) && error instanceof Error && 'ambiguous' in error)
        assert.equal(error.ambiguous, false)
        assert.match(error.message, /another program has locked the file/)
        return true
      },
    )
    assert.equal((await engine.range(rangeOf('/x/'), patient)).count, 1)
  }
  other.exec('ROLLBACK')
  for (let isWritten = false; !isWritten; ) {
    isWritten = await engine.change({ key: '/x/d', expected: 0, write: { put } }, patient).then(
      (outcome) => outcome.revision === revision + 1,
      () => false,
    )
  }
  assert.deepEqual(lines, [
    'error the store is not writable; reads continue',
    'info the store is writable again',
  ])
})

test("SQLite's write-ahead log grows while another program reads the database, and is truncated afterwards", () => {
  const file = join(newPath(), 'keelson.sqlite')
  const logBytes = (): number => statSync(`${file}-wal`).size
  const LONG_BYTES = 60_000_000
  using database = new SqliteDatabase({ file, isDurable: false })
  const put = Buffer.alloc(1_000_000, 'x')
  const write = (n: number): void =>
    void database.commit(() => database.change({ key: `/x/${n}`, expected: 0, put }))
  write(0)
  {
    using reader = new DatabaseSync(file, { readOnly: true })
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM current').get()
    for (let n = 1; n <= 70; n++) write(n)
    assert.ok(logBytes() > LONG_BYTES)
  }
  // After the reader has ended, the first write copies SQLite's log back into the file, and the
  // second one starts to overwrite the log.
  for (let n = 71; n <= 73; n++) write(n)
  assert.ok(logBytes() < LONG_BYTES, `${logBytes()} bytes`)
})

test("a warning is logged when a reader makes SQLite's write-ahead log grow, and a message when this log is small again", async () => {
  const folder = newPath()
  const reported: string[] = []
  const log: Log = (level, message, fields) => {
    reported.push(`${level} ${message}`)
    if (level === 'warn') assert.ok(Number(fields?.['bytes']) > LONG_LOG_BYTES)
  }
  await using engine = await SqliteEngine.open({ folder, isDurable: false, log })
  let writes = 0
  const write = async (length = 1): Promise<void> => {
    const put = Buffer.alloc(length, 'x')
    await engine.change({ key: `/x/${++writes}`, expected: 0, write: { put } }, patient)
  }
  await write()
  {
    using reader = new DatabaseSync(fileIn(folder), { readOnly: true })
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM current').get()
    while (writes < 70) await write(1_000_000)
    assert.ok((await engine.size()) > LONG_LOG_BYTES)
    await until(() => write().then(() => reported.length === 1), 'the warning')
  }
  await until(() => write().then(() => reported.length === 2), 'the message')
  const long =
    "warn SQLite's write-ahead log keeps growing and cannot be checkpointed: does another program keep reading the file?"
  assert.deepEqual(reported, [long, "info SQLite's write-ahead log is short again"])
})

test('a server continues to read and write its data folder after the folder was moved', async () => {
  const folder = newPath()
  const lines: string[] = []
  const log: Log = (level, message) => void lines.push(`${level} ${message}`)
  await using engine = await SqliteEngine.open({ folder, isDurable: false, log })
  const write = (n: number) =>
    engine.change({ key: `/x/${n}`, expected: 0, write: put('x') }, patient)
  await write(0)
  renameSync(folder, `${folder}.moved`)
  // Replace the folder by a link to itself. Looking up a file in it then fails with an error other
  // than ENOENT, as on a failing disk.
  symlinkSync(folder, folder)
  try {
    // Wait longer than the interval at which the engine checks the size of SQLite's log.
    const endMs = performance.now() + 1_500
    for (let n = 1; performance.now() < endMs; n++) {
      await write(n)
      assert.equal((await engine.range(rangeOf('/x/'), patient)).count, n + 1)
      await new Promise((resolve) => void setTimeout(resolve, 50))
    }
  } finally {
    rmSync(folder)
    renameSync(`${folder}.moved`, folder)
  }
  assert.deepEqual(lines, [])
})

test('writes that together exceed the size of one commit are all written, in their order', async () => {
  const put = Buffer.alloc(1_000_000, 'x')
  await using engine = await SqliteEngine.open({ folder: newPath(), isDurable: false })
  const first = await engine.latest()
  const writes = Array.from({ length: 60 }, (_, n) =>
    engine.change({ key: `/x/${n}`, expected: 0, write: { put } }, patient),
  )
  assert.deepEqual(
    (await Promise.all(writes)).map(({ revision }) => revision),
    writes.map((_, n) => first + 1 + n),
  )
})

test('a commit is limited to about 16 MB, so that reads do not wait for all queued writes', () => {
  const { port1: engine, port2: port } = new MessageChannel()
  using database = new SqliteDatabase({ file: join(newPath(), 'keelson.sqlite'), isDurable: false })
  const thread = new DatabaseThread(database, port)
  const MESSAGE_BYTES = 4 << 20
  const messages = Array.from({ length: 6 }, (_, n): Calls => {
    const call = {
      op: 'change',
      id: n,
      key: `/x/${n}`,
      expected: 0,
      put: { start: 0, end: 1 },
    } as const
    return { calls: [call], bytes: new Uint8Array(MESSAGE_BYTES), cancelled: [] }
  })
  const [first, ...more] = messages
  for (const message of more) engine.postMessage(message, [])
  const { revision } = database
  thread.take(first ?? assert.fail())
  assert.equal(database.revision - revision, 4)
  const next: { readonly message: Calls } | undefined = receiveMessageOnPort(port)
  assert.equal(next?.message.calls[0]?.id, 4)
  for (const one of [engine, port]) one.close()
})

test('a durable store also flushes the cache of the drive, because fsync alone does not always flush this cache', () => {
  const settings = ['synchronous', 'fullfsync', 'checkpoint_fullfsync']
  for (const isDurable of [true, false]) {
    using db = new DatabaseSync(join(newPath(), 'keelson.sqlite'))
    setUp(db, isDurable)
    assert.deepEqual(
      settings.map((name) => db.prepare(`PRAGMA ${name}`).get()?.[name]),
      isDurable ? [2, 1, 1] : [0, 0, 0],
    )
  }
})

const put = (text: string): { readonly put: Buffer } => ({ put: bytes(text) })

/** Creates a store whose next revision follows `revision`. */
function advance(file: string, revision: number): void {
  new SqliteDatabase({ file, isDurable: false })[Symbol.dispose]()
  using db = new DatabaseSync(file)
  for (const name of ['compacted', 'swept'])
    db.prepare('INSERT INTO meta VALUES (?, ?)').run(name, revision)
}

for (const last of [2 ** 33, REVISION_MAX - 5]) {
  test(`history, reads at old revisions, leases and compaction work at revisions around ${last}`, async () => {
    const folder = newPath()
    advance(fileIn(folder), last)
    await using engine = await SqliteEngine.open({ folder, isDurable: false })
    const lease = await engine.grantLease(3600)
    for (const key of ['/x/a', '/x/b'])
      await engine.change({ key, expected: 0, write: { ...put('one'), lease } })
    const { revision } = await engine.change({ key: '/x/c', expected: 0, write: put('one') })
    assert.equal(revision, last + 3)
    await engine.change({ key: '/x/c', expected: revision, write: put('two') })
    await engine.revokeLease(lease)
    const valuesAt = async (at: number): Promise<string[]> =>
      (await engine.range({ ...rangeOf('/x/'), revision: at })).values.map(
        ({ key, value, revision: of }) => `${key} ${value.toString()} ${of - last}`,
      )
    const past = ['/x/a one 1', '/x/b one 2', '/x/c one 3']
    assert.deepEqual(await valuesAt(revision), past)
    using feed = new Recorder(engine, [{ ...rangeOf('/x/'), after: last }])
    await feed.reach(last + 5)
    assert.deepEqual(
      feed.events.map((event) => event.revision - last),
      [1, 2, 3, 4, 5, 5],
    )
    await engine.compact(last + 4)
    await assert.rejects(valuesAt(revision), failsWith('compacted'))
    assert.deepEqual(await valuesAt(last + 5), ['/x/c two 4'])
  })
}

test('several keys with the same very large revision can be exported and imported', async () => {
  const [folder, target] = [newPath(), newPath()]
  const revision = 9_000_000_000
  advance(fileIn(folder), revision)
  {
    using db = new DatabaseSync(fileIn(folder))
    const [version, current] = [
      db.prepare('INSERT INTO versions (id, key, created, value) VALUES (?, ?, ?, ?)'),
      db.prepare('INSERT INTO current (key, id, created) VALUES (?, ?, ?)'),
    ]
    for (let n = 0; n < 5; n++) {
      const [key, id] = [
        Buffer.from(`/registry/x/${n}`),
        BigInt(revision) * BigInt(KEYS_OF_REVISION_MAX) + BigInt(n),
      ]
      version.run(id, key, revision, Buffer.from(`value ${n}`))
      current.run(key, id, revision)
    }
  }
  const file = join(folder, 'dump')
  await run('export', `--data-dir=${folder}`, `--file=${file}`)
  await run('import', `--data-dir=${target}`, `--file=${file}`, '--revisions-ahead=0')
  await using engine = await SqliteEngine.open({ folder: target })
  const { values } = await engine.range(rangeOf('/registry/'))
  assert.deepEqual(
    values.map(({ key, value, revision: at }) => [key, value.toString(), at]),
    Array.from({ length: 5 }, (_, n) => [`/registry/x/${n}`, `value ${n}`, revision]),
  )
})

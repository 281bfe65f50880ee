/**
 * kill -9 at random moments: what was acknowledged is there, once, in its order. CRASHES=10000 is the long run, on several folders at
 * once; a crash costs a start of Node. Each folder lives through all of its crashes.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { SqliteDatabase } from '../../../src/storage/sqlite/database.ts'
import type { StoredEvent, StoredVersion } from '../../../src/storage/sqlite/stored.ts'

const CRASHES = Number(process.env['CRASHES'] ?? 6)
/** The run ends by then, with as many crashes as there were. */
const SECONDS_MAX = Number(process.env['CRASH_SECONDS'] ?? 600)
const FOLDERS = Math.min(CRASHES, 2 * availableParallelism())
/** By what it has acknowledged, not by time: on a busy machine it would die before its first write. Some do. */
const LIVES_WRITES_MAX = 60
/** Behind the last of these, so that it is hit in the middle of anything. */
const LIVES_MS_MAX = 3
const REPORTED_EVERY = 500
/** Every fourth process is the whole engine, with its thread; the others start faster. */
const ENGINES_EVERY = 4
const writers = { engine: 'sqlite-writer.ts', database: 'sqlite-committer.ts' }

const folder = mkdtempSync(join(tmpdir(), 'keelson-crash-'))
after(() => rmSync(folder, { recursive: true }))
// Code is compiled once, not for each process.
const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') }

type Acknowledged = { readonly revision: number; readonly key: string; readonly what: string }

/** Kills it some time after it has opened the store. A line that was cut off was not acknowledged. */
async function crash(path: string, kind: keyof typeof writers): Promise<Acknowledged[]> {
  const program = join(import.meta.dirname, writers[kind])
  const child: ChildProcess = spawn(process.execPath, [program, path], { stdio: ['ignore', 'pipe', 'inherit'], env })
  const lines: string[] = []
  assert.ok(child.stdout !== null)
  const reader = createInterface({ input: child.stdout })
  const last = 1 + Math.floor(Math.random() * LIVES_WRITES_MAX)
  reader.on('line', (line) => {
    if (lines.push(line) === last) setTimeout(() => child.kill('SIGKILL'), Math.random() * LIVES_MS_MAX)
  })
  await Promise.all([once(child, 'exit'), once(reader, 'close')])
  assert.equal(lines[0], 'open', 'the store opens again after every crash')
  return lines.slice(1).flatMap((line) => {
    const [, revision = '', key = '', what = ''] = /^(\d+) (\S+) (-|\d+-\d+)$/.exec(line) ?? []
    return revision === '' ? [] : [{ revision: Number(revision), key, what }]
  })
}

const told = (value: Uint8Array | undefined): string =>
  value === undefined ? '-' : (Buffer.from(value).toString().split(' ', 1)[0] ?? '')

function readEvents(database: SqliteDatabase, from: number): Map<number, StoredEvent> {
  const events = new Map<number, StoredEvent>()
  for (let last = Math.max(from, database.compacted); last < database.revision; ) {
    const found = database.commitsAfter({ after: last, most: 1000, previous: false, from: '/crash/', to: '/crash0' })
    assert.ok(found !== undefined)
    for (const row of found.rows) {
      assert.ok(!events.has(row.revision), 'each revision is one write')
      events.set(row.revision, row)
    }
    last = found.upTo
  }
  return events
}

function readState(database: SqliteDatabase): Map<string, StoredVersion> {
  const steps = database.range({ from: '/crash/', to: '/crash0', limit: 0, values: 'all' }, 0)
  return new Map([...steps].flat().map((row) => [row.key, row]))
}

/** Returns the revision of the store. */
function check(path: string, acknowledged: readonly Acknowledged[], before: number): number {
  using database = new SqliteDatabase({ file: join(path, 'keelson.sqlite'), isDurable: true })
  const revisions = new Set(acknowledged.map(({ revision }) => revision))
  assert.equal(revisions.size, acknowledged.length, 'no revision was acknowledged twice')
  assert.ok(acknowledged.every(({ revision }) => revision > before && revision <= database.revision))
  const events = readEvents(database, before)
  const state = readState(database)
  const lastOf = new Map<string, Acknowledged>()
  for (const write of acknowledged) {
    const { revision, key, what } = write
    if ((lastOf.get(key)?.revision ?? 0) < revision) lastOf.set(key, write)
    if (revision <= database.compacted) continue
    const event = events.get(revision)
    assert.ok(event !== undefined, `revision ${revision} of ${key} is lost`)
    assert.deepEqual([event.key, told(event.value)], [key, what])
  }
  // What is there is the last of them, or one whose acknowledgement was cut off.
  for (const { revision, key, what } of lastOf.values()) {
    const found = state.get(key)
    if (found?.revision === revision) assert.equal(told(found.value), what)
    else assert.ok(found === undefined ? what === '-' || hasLater(events, key, revision) : found.revision > revision)
  }
  // The history since the compaction ends in the state.
  const lastEvents = new Map([...events.values()].map((event) => [event.key, event]))
  for (const [key, event] of lastEvents) assert.equal(state.get(key)?.revision, event.value && event.revision)
  return database.revision
}

const hasLater = (events: ReadonlyMap<number, StoredEvent>, key: string, revision: number): boolean =>
  [...events.values()].some((event) => event.key === key && event.revision > revision)

test(`nothing acknowledged is lost or doubled by up to ${CRASHES} crashes`, async () => {
  let [crashes, writes] = [0, 0]
  const startMs = performance.now()
  const endMs = startMs + SECONDS_MAX * 1000
  const live = async (path: string): Promise<void> => {
    for (let [last, lives] = [1, 0]; crashes < CRASHES && performance.now() < endMs; lives++) {
      crashes++
      // The first one makes the folder.
      const kind = lives % ENGINES_EVERY === 0 ? 'engine' : 'database'
      const acknowledged = await crash(path, kind)
      writes += acknowledged.length
      last = check(path, acknowledged, last)
      if (crashes % REPORTED_EVERY !== 0) continue
      console.log(`${crashes} crashes, ${writes} writes, ${Math.round((performance.now() - startMs) / 1000)} s`)
    }
  }
  await Promise.all(Array.from({ length: FOLDERS }, (_, n) => live(join(folder, `${n}`))))
  assert.ok(writes > 0, 'writes were acknowledged')
  console.log(`${crashes} crashes, ${writes} writes acknowledged, none lost`)
})

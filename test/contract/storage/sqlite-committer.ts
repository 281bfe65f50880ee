/**
 * A process that writes to a SQLite store until it is killed, like `sqlite-writer.ts`. Unlike
 * there, the store has no thread of its own. This halves the start time, so that thousands of these
 * processes can be killed. The process commits, compacts and deletes compacted versions as the
 * thread does, and occasionally closes and reopens the file.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SqliteDatabase } from '../../../src/storage/sqlite/database.ts'
import {
  checkHistory,
  IN_FLIGHT_MAX,
  keyOf,
  readExpected,
  tagOf,
  tell,
  valueOf,
} from './crash-history.ts'
import { readingOf } from './crash-reading.ts'

const [folder = '', file = ''] = process.argv.slice(2)
const COMPACTED_EVERY = 40
const CLOSED_EVERY = 150
/**
 * One in this many processes runs SQLite's own check, because it takes longer than all other
 * checks.
 */
const PROVED_EVERY = 8
const path = join(folder, 'keelson.sqlite')
const expected = readExpected(file)
const { life } = expected
tell('opening\n')
const open = (): SqliteDatabase => new SqliteDatabase({ file: path, isDurable: true })
let database = open()
const checked = await checkHistory(readingOf(database), expected)
if (life % PROVED_EVERY === 0) prove()
tell(`checked ${JSON.stringify(checked)}\n`)

for (let n = 0; ; n++) {
  const before = database.revision
  // Each commit contains one to eight writes.
  const writes = 1 + ((n + life) % IN_FLIGHT_MAX)
  const reported = database.commit(() =>
    Array.from({ length: writes }, (_, writer) => write(n, writer)),
  )
  tell(reported.join(''))
  const { revision } = database
  if (isPassed(COMPACTED_EVERY, before, revision)) database.compact(revision - 1)
  if (database.isSweepDue) database.sweep()
  if (!isPassed(CLOSED_EVERY, before, revision)) continue
  database[Symbol.dispose]()
  database = open()
}

function isPassed(every: number, before: number, now: number): boolean {
  return Math.floor(before / every) !== Math.floor(now / every)
}

function write(n: number, writer: number): string {
  const key = keyOf(writer, n + life)
  const steps = database.range({ from: key, to: `${key}\0`, limit: 0, values: 'none' }, 0)
  const current = [...steps].flat()[0]?.revision ?? 0
  const isDeletion = current > 0 && n % 7 === 0
  const what = tagOf(life, writer, n)
  const { won, revision } = database.change({
    key,
    expected: current,
    ...(!isDeletion && { put: valueOf(what) }),
  })
  if (!won) throw new Error(`another process wrote ${key}`)
  return `${revision} ${key} ${isDeletion ? '-' : what}\n`
}

/** Checks the file on a separate connection, as another program would. */
function prove(): void {
  using db = new DatabaseSync(path, { readOnly: true })
  assert.equal(db.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok')
}

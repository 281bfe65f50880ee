/** Reads the history of a SQLite file for `checkHistory`. */
import assert from 'node:assert/strict'
import type { SqliteDatabase } from '../../../src/storage/sqlite/database.ts'
import { crashRange, type StoreReading, whatOf, type Write } from './crash-history.ts'

const READ_AT_ONCE = 1000

export function readingOf(database: SqliteDatabase): StoreReading {
  const { revision, compacted } = database
  return {
    revision,
    compacted,
    eventsAfter: (after) => eventsAfter(database, after),
    stateAt: (at) =>
      [...database.range({ ...crashRange, limit: 0, values: 'all' }, at)]
        .flat()
        .map(({ key, revision: last, value }) => ({ revision: last, key, what: whatOf(value) })),
  }
}

function eventsAfter(database: SqliteDatabase, after: number): Write[] {
  const writes: Write[] = []
  for (let last = after; last < database.revision; ) {
    const found = database.commitsAfter({
      after: last,
      most: READ_AT_ONCE,
      previous: false,
      ...crashRange,
    })
    assert.ok(found !== undefined, `${last} is compacted`)
    for (const { revision, key, value } of found.rows) {
      writes.push({ revision, key, what: value === undefined ? '-' : whatOf(value) })
    }
    last = found.upTo
  }
  return writes
}

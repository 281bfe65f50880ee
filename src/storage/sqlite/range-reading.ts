/**
 * Reads a range at one revision, in slices. Writes can happen between two slices. For a key that
 * has changed in the meantime, the version at the revision of the list is looked up (`versionAt`).
 * Each reader registers the revision that it needs, so that the versions of this revision are not
 * freed (`database.ts`).
 */
import type { Key, Revision } from '../engine.ts'
import { StorageError } from '../errors.ts'
import { keyAfter, toBytes } from '../keys.ts'
import type { PageCounts } from '../page-counts.ts'
import { keyOf, nothing, type SqlRow, type StoredVersion, versionOf } from './stored.ts'
import type { Statements } from './tables.ts'

/** A slice ends when this many bytes or rows have been read, which takes a few milliseconds. */
const SLICE_BYTES = 512 * 1024
export const SLICE_ROWS = 250
/**
 * Number of keys that can be counted in the time that reading one row takes. Counting is fast,
 * because it runs inside SQLite and returns no rows to JavaScript.
 */
const COUNTED_PER_ROW = 80
/**
 * Like COUNTED_PER_ROW, but for an older revision, because the versions of changed keys must be
 * looked up.
 */
const COUNTED_PER_ROW_PAST = 8
/**
 * Minimum number of rows to read at an older revision. Some of the keys did not exist at that
 * revision, so more rows must be read than were requested.
 */
const PAST_ROWS_MIN = 20
/** Represents no limit in SQL. */
const NO_LIMIT = -1
/**
 * Maximum size of one response, as in the etcd client. Callers that read in pages reduce the page
 * size.
 */
const ANSWER_BYTES_MAX = 256 * 1024 * 1024

export type RowRangeQuery = {
  readonly from: Key
  readonly to: Key
  /** Maximum number of rows. If 0, there is no limit. */
  readonly limit: number
  readonly values: 'all' | 'none' | 'count'
}

export type RangeSource = {
  readonly sql: Statements
  /** The latest revision. It can increase between slices. */
  readonly revision: Revision
  /** Cached counts of paginated lists. */
  readonly counts: PageCounts
  /** Maximum number of rows in a slice. Tests use a smaller number. */
  readonly sliceRows: number
}

/** Yields the rows of each slice. Returns the number of keys in the whole range. */
export function* readRange(
  source: RangeSource,
  asked: RowRangeQuery,
  at: Revision,
): Generator<readonly StoredVersion[], number, void> {
  const { to, limit, values } = asked
  let next: Key | undefined = asked.from
  let found = 0
  let bytes = 0
  while (values !== 'count' && next !== undefined && (limit === 0 || found < limit)) {
    const slice = readSlice(source, {
      from: next,
      to,
      at,
      most: limit === 0 ? source.sliceRows : limit - found,
      values,
    })
    found += slice.rows.length
    next = slice.next
    for (const { key, value } of slice.rows) bytes += key.length + value.length
    if (bytes > ANSWER_BYTES_MAX) {
      throw new StorageError(
        'too-large',
        `the response exceeds the limit of ${ANSWER_BYTES_MAX} bytes`,
      )
    }
    yield slice.rows
  }
  if (next === undefined) return found
  const known = source.counts.find(at, asked.from, to)
  let left = known === undefined ? 0 : known - found
  for (let from: Key | undefined = known === undefined ? next : undefined; from !== undefined; ) {
    const counted = countSlice(source, { from, to, at })
    left += counted.count
    from = counted.next
    if (from !== undefined) yield []
  }
  if (values !== 'count') source.counts.keep(at, next, to, left)
  return found + left
}

type Slice = { readonly rows: readonly StoredVersion[]; readonly next: Key | undefined }
type SliceQuery = { readonly from: Key; readonly to: Key; readonly at: Revision }
type RowsQuery = SliceQuery & { readonly most: number; readonly values: 'all' | 'none' }

function readSlice(source: RangeSource, asked: RowsQuery): Slice {
  const most = Math.min(asked.most, source.sliceRows)
  if (asked.at !== source.revision) return pastSlice(source, { ...asked, most })
  const { from, to, values } = asked
  const [start, end] = [toBytes(from), toBytes(to)]
  const { listKeys, read } = source.sql
  if (values === 'none') return ended(listKeys.all(start, end, most).map(versionOf), most)
  if (to === keyAfter(from)) return { rows: read.all(start).map(versionOf), next: undefined }
  return listed(source, start, end, most)
}

/** Reads the rows of one slice, with their values. */
function listed({ sql }: RangeSource, start: Uint8Array, end: Uint8Array, most: number): Slice {
  const rows: StoredVersion[] = []
  let bytes = 0
  for (const row of sql.list.iterate(start, end)) {
    const version = versionOf(row)
    rows.push(version)
    bytes += version.value.length
    if (rows.length >= most || bytes > SLICE_BYTES) return { rows, next: keyAfter(version.key) }
  }
  return { rows, next: undefined }
}

function ended(rows: readonly StoredVersion[], most: number): Slice {
  const last = rows.at(-1)
  return { rows, next: rows.length < most || last === undefined ? undefined : keyAfter(last.key) }
}

/**
 * A part of the range: the keys that exist now, and the keys that were deleted after the revision.
 */
type Part = { readonly present: readonly StoredVersion[]; readonly deleted: readonly SqlRow[] }

/**
 * Reads a part of the range, as a list of existing keys and a list of deleted keys. The part ends
 * where one of these lists was truncated. If both were truncated, it ends at the smaller key.
 */
function readPart(
  source: RangeSource,
  { from, to, at, values }: RowsQuery,
  most: number,
): Part & { readonly next: Key | undefined } {
  const [start, end] = [toBytes(from), toBytes(to)]
  const { sql } = source
  const { rows: present, next: presentEnd } =
    values === 'none'
      ? ended(sql.listKeys.all(start, end, most).map(versionOf), most)
      : listed(source, start, end, most)
  const deleted = sql.deletedSince.all(at + 1, start, end, most)
  const last = deleted.length < most ? undefined : deleted.at(-1)
  const cut = [presentEnd, last && keyAfter(keyOf(last))].filter((key) => key !== undefined)
  if (cut.length === 0) return { present, deleted, next: undefined }
  const next = cut.reduce((a, b) => (a < b ? a : b))
  return {
    present: present.filter(({ key }) => key < next),
    deleted: deleted.filter((row) => keyOf(row) < next),
    next,
  }
}

/**
 * Yields the versions at the revision, in key order. If the latest version of a key is not newer
 * than the revision, it is taken from the part.
 */
function* versionsAt(
  { sql }: RangeSource,
  { present, deleted }: Part,
  at: Revision,
): Generator<StoredVersion> {
  const back = (revision: number, number: number): StoredVersion | undefined => {
    const row = sql.versionAt.get(revision, number, at + 1)
    return row === undefined || row['value'] === null ? undefined : versionOf(row)
  }
  let next = 0
  const gone = deleted.map((row) => ({
    key: keyOf(row),
    revision: Number(row['revision']),
    number: Number(row['number']),
  }))
  const goneBefore = function* (key: Key | undefined): Generator<StoredVersion> {
    for (
      let one = gone[next];
      one !== undefined && (key === undefined || one.key < key);
      one = gone[++next]
    ) {
      const version = back(one.revision, one.number)
      if (version !== undefined) yield version
    }
  }
  for (const row of present) {
    yield* goneBefore(row.key)
    const one = gone[next]
    // If the key was deleted and created again, its older versions precede the row of the deletion.
    const isAnother = one?.key === row.key
    if (isAnother) next++
    if (row.revision <= at) yield row
    else {
      const version = isAnother ? back(one.revision, one.number) : back(row.revision, 0)
      if (version !== undefined) yield version
    }
  }
  yield* goneBefore(undefined)
}

function pastSlice(source: RangeSource, asked: RowsQuery): Slice {
  const part = readPart(
    source,
    asked,
    Math.min(source.sliceRows, Math.max(asked.most, PAST_ROWS_MIN)),
  )
  const rows: StoredVersion[] = []
  let bytes = 0
  for (const version of versionsAt(source, part, asked.at)) {
    rows.push(asked.values === 'none' ? { ...version, value: nothing } : version)
    bytes += version.value.length
    if (rows.length >= asked.most || bytes > SLICE_BYTES)
      return { rows, next: keyAfter(version.key) }
  }
  return { rows, next: part.next }
}

function countSlice(
  source: RangeSource,
  asked: SliceQuery,
): { readonly count: number; readonly next: Key | undefined } {
  const { sql } = source
  const isPast = asked.at !== source.revision
  const most = source.sliceRows * (isPast ? COUNTED_PER_ROW_PAST : COUNTED_PER_ROW)
  const [start, end] = [toBytes(asked.from), toBytes(asked.to)]
  const after = sql.skip.get(start, end, most)
  const next = after && keyOf(after)
  if (!isPast)
    return { count: next === undefined ? Number(sql.count.get(start, end)?.['n']) : most, next }
  const stop = next === undefined ? end : toBytes(next)
  const present = sql.changedSince.all(asked.at + 1, start, stop).map(versionOf)
  const deleted = sql.deletedSince.all(asked.at + 1, start, stop, NO_LIMIT)
  const unchanged = Number(sql.count.get(start, stop)?.['n']) - present.length
  return { count: unchanged + [...versionsAt(source, { present, deleted }, asked.at)].length, next }
}

/**
 * etcd's rules for versioned keys in a SQLite file. Calls are synchronous and belong on a thread of their own (`sqlite-worker.ts`).
 *
 * `versions` has every version since the last compaction in the order of revisions; each knows the one before it, so that neither old
 * reads nor compaction need an index by key. `current` has for each key that exists its latest version.
 */
import { randomBytes } from 'node:crypto'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Key, Revision } from '../engine.ts'
import { StorageError } from '../errors.ts'
import { checkRequestSize, compacted, leaseNotFound, tooNew } from '../etcd-rules.ts'
import { fromBytes, toBytes } from '../keys.ts'
import type { ChangeCall, CommitsCall, RangeCall } from './messages.ts'

/** Raised when the tables change in a way that older code cannot read. */
const FORMAT = 1
/** An object of 1 or 2 KB fits with others on a page. */
const PAGE_BYTES = 8192
/** Pages kept in memory: 16 MB for each connection. */
const CACHE_KIB = 16_384
/** An identifier is the revision and, below it, the number of the key in that revision: a lease may delete a million keys at once. */
const KEY_BITS = 20
export const KEYS_OF_REVISION_MAX = 2 ** KEY_BITS
/** How many revisions one slice of a compaction takes: some milliseconds. */
const SWEPT_AT_ONCE = 500
/** How many bytes of events are read at once for a feed that catches up. */
const COMMITS_BYTES_MAX = 4 * 1024 * 1024
/** Counts of lists that are being paged through. */
const COUNTS_MAX = 64

const first = `(?1 << ${KEY_BITS})`
const revisionOf = (id: string): string => `(${id} >> ${KEY_BITS})`

const tables = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
  CREATE TABLE versions (id INTEGER PRIMARY KEY, key BLOB NOT NULL, created INTEGER NOT NULL, previous INTEGER, value BLOB);
  CREATE TABLE current (key BLOB PRIMARY KEY, id INTEGER NOT NULL, created INTEGER NOT NULL, lease INTEGER) WITHOUT ROWID;
  CREATE INDEX current_lease ON current (lease) WHERE lease IS NOT NULL;
  CREATE TABLE leases (id INTEGER PRIMARY KEY AUTOINCREMENT, seconds INTEGER NOT NULL);
`

export type StoredVersion = {
  readonly key: Key
  readonly revision: Revision
  readonly created: Revision
  readonly value: Uint8Array
}

/** `value` undefined: a deletion. */
export type StoredEvent = {
  readonly key: Key
  readonly revision: Revision
  readonly created: Revision
  readonly value: Uint8Array | undefined
  readonly previous?: StoredVersion | undefined
}

export type Changed =
  | { readonly won: true; readonly revision: Revision; readonly created: Revision }
  | { readonly won: false; readonly revision: Revision; readonly current: StoredVersion | undefined }

export type Ranged = { readonly revision: Revision; readonly rows: readonly StoredVersion[]; readonly count: number }

export type DatabaseOptions = {
  readonly file: string
  /** False: what was acknowledged may be lost when the machine fails, not when the process does. */
  readonly isDurable: boolean
}

const nothing = new Uint8Array(0)

export class SqliteDatabase implements Disposable {
  readonly #db: DatabaseSync
  readonly #sql: ReturnType<typeof prepare>
  readonly databaseId: string
  #revision: Revision
  #compacted: Revision
  #swept: Revision
  /** How many keys are left behind the page that was read last, by revision and end of the list. */
  readonly #left = new Map<string, { readonly next: Key; readonly count: number }>()

  constructor({ file, isDurable }: DatabaseOptions) {
    this.#db = new DatabaseSync(file)
    try {
      this.databaseId = setUp(this.#db, isDurable)
      this.#sql = prepare(this.#db)
      this.#compacted = this.#meta('compacted')
      this.#swept = this.#meta('swept')
      const newest = this.#sql.newest.get()?.['revision']
      this.#revision = Math.max(1, this.#compacted, typeof newest === 'number' ? newest : 0)
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  get revision(): Revision {
    return this.#revision
  }

  get compacted(): Revision {
    return this.#compacted
  }

  leases(): { readonly id: bigint; readonly ttlSeconds: number }[] {
    return this.#sql.leases.all().map(({ id, seconds }) => ({ id: BigInt(Number(id)), ttlSeconds: Number(seconds) }))
  }

  /** All that `act` writes is durable when this returns, or none of it. */
  commit<T>(act: () => T): T {
    const before = this.#revision
    this.#sql.begin.run()
    try {
      const result = act()
      this.#sql.commit.run()
      return result
    } catch (error) {
      this.#revision = before
      if (this.#db.isTransaction) this.#sql.rollback.run()
      throw error
    }
  }

  /** Within `commit`. */
  change({
    key,
    expected,
    put,
    lease,
  }: Omit<ChangeCall, 'op' | 'id' | 'put'> & { readonly put?: Uint8Array }): Changed {
    checkRequestSize(key, put?.length ?? 0)
    const bytes = toBytes(key)
    const found = this.#sql.find.get(bytes)
    const [current, created] = found === undefined ? [0, 0] : [Number(found['revision']), Number(found['created'])]
    if (current !== expected) {
      const value = found === undefined ? undefined : this.#sql.read.get(bytes)?.['value']
      const lost = found && { key, revision: current, created, value: bytesOf(value) }
      return { won: false, revision: this.#revision, current: lost }
    }
    if (put === undefined) {
      if (found !== undefined) this.#delete([bytes])
      return { won: true, revision: this.#revision, created: 0 }
    }
    const leaseId = lease === undefined || lease === 0n ? null : lease
    if (leaseId !== null && this.#sql.lease.get(leaseId) === undefined) throw leaseNotFound()
    const revision = ++this.#revision
    const since = found === undefined ? revision : created
    this.#sql.add.run(revision, 0, bytes, since, put)
    this.#sql.point.run(revision, bytes, since, leaseId)
    return { won: true, revision, created: since }
  }

  /** Within `commit`. */
  grant(ttlSeconds: number): bigint {
    return BigInt(this.#sql.grant.run(ttlSeconds).lastInsertRowid)
  }

  /** Within `commit`. Returns the keys that went with the lease, all in one revision. */
  revoke(lease: bigint): Key[] {
    if (this.#sql.revoke.run(lease).changes === 0) throw leaseNotFound()
    const keys = this.#sql.leased.all(lease).map(({ key }) => bytesOf(key))
    if (keys.length > 0) this.#delete(keys)
    return keys.map(toKey)
  }

  range({ from, to, revision, limit, values }: Omit<RangeCall, 'op' | 'id'>): Ranged {
    const at = this.#readable(revision)
    const [start, end] = [toBytes(from), toBytes(to)]
    if (values === 'count') return { revision: at, rows: [], count: this.#count({ from, to, at }) }
    const most = limit === 0 ? -1 : limit
    const rows =
      at === this.#revision ? this.#latest(start, end, most, values) : this.#past(start, end, { at, most, values })
    const isWhole = limit === 0 || rows.length < limit
    return { revision: at, rows, count: isWhole ? rows.length : this.#countPage(rows, { from, to, at }) }
  }

  /** Whole revisions after `after`, at least one if there is one; undefined if that revision is compacted. */
  commitsAfter({
    after,
    most,
    previous,
  }: Omit<CommitsCall, 'op' | 'id'>): { rows: StoredEvent[]; upTo: Revision } | undefined {
    if (after < this.#compacted) return undefined
    const rows: StoredEvent[] = []
    let bytes = 0
    let last = after
    for (const row of this.#sql.after.iterate(after + 1)) {
      const revision = Number(row['revision'])
      if (revision !== last) {
        if (rows.length > 0 && (revision - after > most || bytes > COMMITS_BYTES_MAX)) return { rows, upTo: last }
        last = revision
      }
      const value = row['value'] === null ? undefined : bytesOf(row['value'])
      const [key, created] = [bytesOf(row['key']), Number(row['created'])]
      const before = previous ? this.#previousOf(row) : undefined
      rows.push({ key: toKey(key), revision, created: value === undefined ? 0 : created, value, previous: before })
      bytes += (value?.length ?? 0) + (before?.value.length ?? 0) + key.length
    }
    return { rows, upTo: Math.max(after, this.#revision) }
  }

  /** From now on nothing older than this revision can be read; `sweep` frees the space. */
  compact(revision: Revision): void {
    if (revision <= this.#compacted) throw compacted()
    if (revision > this.#revision) throw tooNew()
    this.commit(() => this.#sql.setMeta.run('compacted', revision))
    this.#compacted = revision
  }

  get isSweepDue(): boolean {
    return this.#swept < this.#compacted
  }

  /** One slice of what is left to free. */
  sweep(): void {
    const upTo = Math.min(this.#compacted, this.#swept + SWEPT_AT_ONCE)
    this.commit(() => {
      this.#sql.sweepReplaced.run(this.#swept + 1, upTo + 1)
      this.#sql.sweepDeletions.run(this.#swept + 1, upTo + 1)
      this.#sql.setMeta.run('swept', upTo)
    })
    this.#swept = upTo
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }

  #delete(keys: readonly Uint8Array[]): void {
    const revision = ++this.#revision
    for (const [n, key] of keys.entries()) {
      this.#sql.add.run(revision, n, key, 0, null)
      this.#sql.remove.run(key)
    }
  }

  #latest(start: Uint8Array, end: Uint8Array, most: number, values: 'all' | 'none'): StoredVersion[] {
    const { list, listKeys } = this.#sql
    return (values === 'all' ? list : listKeys).all(start, end, most).map(versionOf)
  }

  /** What was changed since is taken as it was before the first of these changes; everything else is as it is now. */
  #past(
    start: Uint8Array,
    end: Uint8Array,
    { at, most, values }: { readonly at: Revision; readonly most: number; readonly values: 'all' | 'none' },
  ): StoredVersion[] {
    const changed = this.#sql.before.all(at + 1, start, end).map(versionOf)
    const { pastKeys, read } = this.#sql
    const rows: StoredVersion[] = []
    let next = 0
    const isFull = (): boolean => most >= 0 && rows.length >= most
    for (const row of pastKeys.iterate(at + 1, start, end)) {
      const version = versionOf(row)
      for (let one = changed[next]; one !== undefined && one.key < version.key && !isFull(); one = changed[++next])
        rows.push(one)
      if (isFull()) break
      const value = values === 'all' ? bytesOf(read.get(toBytes(version.key))?.['value']) : nothing
      rows.push({ ...version, value })
    }
    for (let one = changed[next]; one !== undefined && !isFull(); one = changed[++next]) rows.push(one)
    return values === 'all' ? rows : rows.map((row) => ({ ...row, value: nothing }))
  }

  /** The pages of one list are counted once. */
  #countPage(
    rows: readonly StoredVersion[],
    range: { readonly from: Key; readonly to: Key; readonly at: Revision },
  ): number {
    const last = rows.at(-1)
    const count = this.#count(range)
    if (last !== undefined) {
      if (this.#left.size >= COUNTS_MAX) this.#left.clear()
      this.#left.set(`${range.at} ${range.to}`, { next: `${last.key}\0`, count: count - rows.length })
    }
    return count
  }

  #count({ from, to, at }: { readonly from: Key; readonly to: Key; readonly at: Revision }): number {
    const known = this.#left.get(`${at} ${to}`)
    if (known?.next === from) return known.count
    const [start, end] = [toBytes(from), toBytes(to)]
    const { count, countSince, countBefore } = this.#sql
    if (at === this.#revision) return Number(count.get(start, end)?.['n'])
    return Number(countSince.get(at + 1, start, end)?.['n']) + Number(countBefore.get(at + 1, start, end)?.['n'])
  }

  #previousOf(row: Record<string, unknown>): StoredVersion | undefined {
    if (row['replaces'] === 0) return undefined
    const found = this.#sql.version.get(Number(row['revision']), Number(row['number']))
    return found === undefined || found['value'] === null ? undefined : versionOf(found)
  }

  #readable(revision: Revision): Revision {
    if (revision <= 0) return this.#revision
    if (revision > this.#revision) throw tooNew()
    if (revision < this.#compacted) throw compacted()
    return revision
  }

  #meta(name: string): number {
    return Number(this.#sql.meta.get(name)?.['value'] ?? 0)
  }
}

function setUp(db: DatabaseSync, isDurable: boolean): string {
  db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA cache_size = -${CACHE_KIB}`)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${isDurable ? 'FULL' : 'OFF'}; PRAGMA trusted_schema = OFF`)
  const format = Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
  if (format > FORMAT)
    throw new Error(`it was written by a newer Keelson (format ${format}): use that one, or export it there`)
  if (format < FORMAT) {
    db.exec(`BEGIN IMMEDIATE; ${tables}; PRAGMA user_version = ${FORMAT}`)
    db.prepare('INSERT INTO meta VALUES (?, ?)').run('database', randomBytes(8).toString('hex'))
    db.exec('COMMIT')
  }
  return String(db.prepare("SELECT value FROM meta WHERE name = 'database'").get()?.['value'])
}

function prepare(db: DatabaseSync) {
  const sql = (text: string): StatementSync => db.prepare(text)
  const columns = `key, ${revisionOf('id')} AS revision, created`
  const joined = `c.key AS key, ${revisionOf('c.id')} AS revision, c.created AS created, v.value AS value`
  // What the first change after a revision replaced.
  const replaced = `FROM versions f JOIN versions p ON p.id = f.previous
    WHERE f.id >= ${first} AND f.key >= ?2 AND f.key < ?3 AND p.id < ${first} AND p.value IS NOT NULL`
  return {
    begin: sql('BEGIN IMMEDIATE'),
    commit: sql('COMMIT'),
    rollback: sql('ROLLBACK'),
    meta: sql('SELECT value FROM meta WHERE name = ?'),
    setMeta: sql('INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value'),
    newest: sql(`SELECT ${revisionOf('max(id)')} AS revision FROM versions`),
    find: sql(`SELECT ${revisionOf('id')} AS revision, created FROM current WHERE key = ?`),
    read: sql('SELECT v.value AS value FROM current c JOIN versions v ON v.id = c.id WHERE c.key = ?'),
    add: sql(`INSERT INTO versions (id, key, created, previous, value)
      VALUES (${first} | ?2, ?3, ?4, (SELECT id FROM current WHERE key = ?3), ?5)`),
    point: sql(`INSERT INTO current (key, id, created, lease) VALUES (?2, ${first}, ?3, ?4)
      ON CONFLICT (key) DO UPDATE SET id = excluded.id, created = excluded.created, lease = excluded.lease`),
    remove: sql('DELETE FROM current WHERE key = ?'),
    list: sql(`SELECT ${joined} FROM current c JOIN versions v ON v.id = c.id
      WHERE c.key >= ? AND c.key < ? ORDER BY c.key LIMIT ?`),
    listKeys: sql(`SELECT ${columns} FROM current WHERE key >= ? AND key < ? ORDER BY key LIMIT ?`),
    count: sql('SELECT count(*) AS n FROM current WHERE key >= ? AND key < ?'),
    pastKeys: sql(`SELECT ${columns} FROM current WHERE id < ${first} AND key >= ?2 AND key < ?3 ORDER BY key`),
    before: sql(
      `SELECT p.key AS key, ${revisionOf('p.id')} AS revision, p.created AS created, p.value AS value ${replaced} ORDER BY p.key`,
    ),
    countSince: sql(`SELECT count(*) AS n FROM current WHERE id < ${first} AND key >= ?2 AND key < ?3`),
    countBefore: sql(`SELECT count(*) AS n ${replaced}`),
    after: sql(`SELECT ${columns}, id & ${KEYS_OF_REVISION_MAX - 1} AS number, previous IS NOT NULL AS replaces, value
      FROM versions WHERE id >= ${first} ORDER BY id`),
    version: sql(`SELECT p.key AS key, ${revisionOf('p.id')} AS revision, p.created AS created, p.value AS value
      FROM versions f JOIN versions p ON p.id = f.previous WHERE f.id = ${first} | ?2`),
    sweepReplaced: sql(`DELETE FROM versions WHERE id IN
      (SELECT previous FROM versions WHERE id >= ${first} AND id < (?2 << ${KEY_BITS}) AND previous IS NOT NULL)`),
    sweepDeletions: sql(`DELETE FROM versions WHERE id >= ${first} AND id < (?2 << ${KEY_BITS}) AND value IS NULL`),
    leases: sql('SELECT id, seconds FROM leases'),
    lease: sql('SELECT 1 FROM leases WHERE id = ?'),
    grant: sql('INSERT INTO leases (seconds) VALUES (?)'),
    revoke: sql('DELETE FROM leases WHERE id = ?'),
    leased: sql('SELECT key FROM current WHERE lease = ? ORDER BY key'),
  }
}

function versionOf(row: Record<string, unknown>): StoredVersion {
  const { key, revision, created, value } = row
  return {
    key: toKey(bytesOf(key)),
    revision: Number(revision),
    created: Number(created),
    value: value === undefined ? nothing : bytesOf(value),
  }
}

const toKey = (bytes: Uint8Array): Key => fromBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))

function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw new StorageError('corrupt', 'the database has something else where bytes are expected')
}

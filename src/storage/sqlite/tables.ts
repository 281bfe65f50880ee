/**
 * The tables of the SQLite file and the statements on them.
 *
 * `versions` contains every version since the last compaction, in revision order. Each version
 * refers to the previous version of its key, so that neither old reads nor compaction need an index
 * by key and revision. Only deletions have an index, because a deleted key is not in `current` and
 * its older versions are found through the deletion. `current` contains the latest version of each
 * key that exists.
 */
import { randomBytes } from 'node:crypto'
import type { DatabaseSync, StatementSync } from 'node:sqlite'

/**
 * Version of the tables, which is incremented when they change. Older code refuses to open a newer
 * format.
 */
export const FORMAT = 2
/** The size of a page of the database file. A page has room for several objects of 1 or 2 KB. */
const PAGE_BYTES = 8192
/** Maximum memory for cached pages of each database connection, in KiB (16 MB). */
const CACHE_KIB = 16_384
/**
 * Size to which SQLite truncates the log when the log is restarted. The log is checkpointed every
 * 1000 pages (8 MB). While another program reads the file, this is not possible, and the log grows
 * with every write.
 */
const LOG_BYTES_KEPT = 32 * 1024 * 1024
/**
 * Number of bits in an identifier for the index of a key within its revision. The higher bits
 * contain the revision. A revision may contain many keys, because a lease deletes all its keys at
 * once.
 */
const KEY_BITS = 20
export const KEYS_OF_REVISION_MAX = 2 ** KEY_BITS
/**
 * The largest revision that an import can have. Identifiers have 63 bits, and the last bit is
 * reserved for later writes.
 */
export const REVISION_MAX = 2 ** (62 - KEY_BITS)

const tables = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
  CREATE TABLE versions (id INTEGER PRIMARY KEY, key BLOB NOT NULL, created INTEGER NOT NULL, previous INTEGER, value BLOB);
  CREATE TABLE current (key BLOB PRIMARY KEY, id INTEGER NOT NULL, created INTEGER NOT NULL, lease INTEGER) WITHOUT ROWID;
  CREATE INDEX current_lease ON current (lease) WHERE lease IS NOT NULL;
  CREATE TABLE leases (id INTEGER PRIMARY KEY AUTOINCREMENT, seconds INTEGER NOT NULL);
`

/** The statements that upgrade each format to the next one. */
const steps: readonly string[] = [
  tables,
  // An expires_ms of 0 means that the time is unknown. The time to live then starts again.
  `CREATE INDEX deletions ON versions (key) WHERE value IS NULL;
   ALTER TABLE leases ADD COLUMN expires_ms INTEGER NOT NULL DEFAULT 0;`,
]

/**
 * Sets up the tables and the options of the database. Returns the ID of the database, which is
 * created together with the tables.
 */
export function setUp(db: DatabaseSync, isDurable: boolean): string {
  db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA cache_size = -${CACHE_KIB}`)
  const mode = db.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode']
  // The guarantees for failed commits (`database.ts`) require a write-ahead log.
  if (mode !== 'wal')
    throw new Error(
      `its file system does not support SQLite's write-ahead log (the journal mode is ${String(mode)}): use a local disk`,
    )
  db.exec(`PRAGMA journal_size_limit = ${LOG_BYTES_KEPT}; PRAGMA trusted_schema = OFF`)
  // On macOS, `fsync` alone leaves the bytes in the cache of the drive.
  if (isDurable)
    db.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON')
  else db.exec('PRAGMA synchronous = OFF')
  const format = Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
  if (format > FORMAT)
    throw new Error(
      `it was written by a newer Keelson (format ${format}): use that version, or export the store with it`,
    )
  if (format < FORMAT) {
    db.exec(`BEGIN IMMEDIATE; ${steps.slice(format).join('\n')}; PRAGMA user_version = ${FORMAT}`)
    if (format === 0)
      db.prepare('INSERT INTO meta VALUES (?, ?)').run('database', randomBytes(8).toString('hex'))
    db.exec('COMMIT')
  }
  return String(db.prepare("SELECT value FROM meta WHERE name = 'database'").get()?.['value'])
}

const idOf = (revision: string): string => `(${revision} << ${KEY_BITS})`
const revisionOf = (id: string): string => `(${id} >> ${KEY_BITS})`

export type Statements = ReturnType<typeof prepare>

export function prepare(db: DatabaseSync) {
  const sql = (text: string): StatementSync => db.prepare(text)
  const columns = `key, ${revisionOf('id')} AS revision, created`
  const joined = `c.key AS key, ${revisionOf('c.id')} AS revision, c.created AS created, v.value AS value`
  const swept = `id >= ${idOf('?1')} AND id < ${idOf('?2')}`
  return {
    begin: sql('BEGIN IMMEDIATE'),
    commit: sql('COMMIT'),
    rollback: sql('ROLLBACK'),
    meta: sql('SELECT value FROM meta WHERE name = ?'),
    setMeta: sql(
      'INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    ),
    newest: sql(`SELECT ${revisionOf('max(id)')} AS revision FROM versions`),
    find: sql(`SELECT ${revisionOf('id')} AS revision, created FROM current WHERE key = ?`),
    read: sql(`SELECT ${joined} FROM current c JOIN versions v ON v.id = c.id WHERE c.key = ?`),
    add: sql(`INSERT INTO versions (id, key, created, previous, value)
      VALUES (${idOf('?1')} | ?2, ?3, ?4, (SELECT id FROM current WHERE key = ?3), ?5)`),
    point: sql(`INSERT INTO current (key, id, created, lease) VALUES (?2, ${idOf('?1')}, ?3, ?4)
      ON CONFLICT (key) DO UPDATE SET id = excluded.id, created = excluded.created, lease = excluded.lease`),
    remove: sql('DELETE FROM current WHERE key = ?'),
    list: sql(`SELECT ${joined} FROM current c JOIN versions v ON v.id = c.id
      WHERE c.key >= ? AND c.key < ? ORDER BY c.key`),
    listKeys: sql(`SELECT ${columns} FROM current WHERE key >= ? AND key < ? ORDER BY key LIMIT ?`),
    changedSince: sql(
      `SELECT ${columns} FROM current WHERE id >= ${idOf('?1')} AND key >= ?2 AND key < ?3 ORDER BY key`,
    ),
    /** Finds the key at an offset within a range. */
    skip: sql('SELECT key FROM current WHERE key >= ? AND key < ? ORDER BY key LIMIT 1 OFFSET ?'),
    count: sql('SELECT count(*) AS n FROM current WHERE key >= ? AND key < ?'),
    /** Finds the first deletion of each key after a revision. */
    deletedSince:
      sql(`SELECT key, ${revisionOf('min(id)')} AS revision, min(id) & ${KEYS_OF_REVISION_MAX - 1} AS number
      FROM versions INDEXED BY deletions WHERE value IS NULL AND key >= ?2 AND key < ?3 AND id >= ${idOf('?1')}
      GROUP BY key ORDER BY key LIMIT ?4`),
    /**
     * Follows the chain of previous versions back to the version that was current at a revision.
     */
    versionAt: sql(`WITH RECURSIVE back (id, previous) AS (
        SELECT id, previous FROM versions WHERE id = ${idOf('?1')} | ?2
        UNION ALL SELECT v.id, v.previous FROM back JOIN versions v ON v.id = back.previous WHERE back.id >= ${idOf('?3')})
      SELECT v.key AS key, ${revisionOf('v.id')} AS revision, v.created AS created, v.value AS value
      FROM back JOIN versions v ON v.id = back.id WHERE back.id < ${idOf('?3')}`),
    after:
      sql(`SELECT ${columns}, id & ${KEYS_OF_REVISION_MAX - 1} AS number, previous IS NOT NULL AS replaces,
      key >= ?2 AND key < ?3 AS is_inside, CASE WHEN key >= ?2 AND key < ?3 THEN value END AS value
      FROM versions WHERE id >= ${idOf('?1')} ORDER BY id`),
    version:
      sql(`SELECT p.key AS key, ${revisionOf('p.id')} AS revision, p.created AS created, p.value AS value
      FROM versions f JOIN versions p ON p.id = f.previous WHERE f.id = ${idOf('?1')} | ?2`),
    sweepReplaced: sql(`DELETE FROM versions WHERE id IN
      (SELECT previous FROM versions WHERE ${swept} AND previous IS NOT NULL)`),
    sweepDeletions: sql(`DELETE FROM versions WHERE ${swept} AND value IS NULL`),
    leases: sql('SELECT id, seconds, expires_ms FROM leases'),
    lease: sql('SELECT 1 FROM leases WHERE id = ?'),
    grant: sql('INSERT INTO leases (seconds, expires_ms) VALUES (?, ?)'),
    revoke: sql('DELETE FROM leases WHERE id = ?'),
    leased: sql('SELECT key FROM current WHERE lease = ? ORDER BY key LIMIT ?'),
  }
}

/** Transfers a cluster from or to a data folder. */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { messageOf } from '../../lib/errors.ts'
import { platform } from '../../lib/platform/current-platform.ts'
import type { Key, Revision } from '../engine.ts'
import { type KeyRange, rangeOf, toBytes } from '../keys.ts'
import { SqliteDatabase } from '../sqlite/database.ts'
import { fileIn, lockFolder, makeFolder } from '../sqlite/folder-lock.ts'
import { bytesOf, keyOf } from '../sqlite/stored.ts'
import { FORMAT, KEYS_OF_REVISION_MAX, REVISION_MAX } from '../sqlite/tables.ts'
import { type DumpFile, tryLink } from './dump-file.ts'
import { compareSummaries, type Entry, type LeaseLeft, type Source, summarize } from './entry.ts'
import { type ImportOptions, notEmpty, type Target } from './target.ts'

const PAGE_BYTES = 1024 * 1024
/**
 * Memory for cached pages during an import, in KiB. It is large because keys are not imported in
 * the order of their revisions.
 */
const IMPORT_CACHE_KIB = 65_536

/**
 * Reads a store, even while a server uses it. SQLite returns the state from when the read began.
 */
export class SqliteSource implements Source {
  readonly revision: Revision
  readonly #db: DatabaseSync
  readonly #range: KeyRange
  readonly #nowMs: number

  constructor(file: string, { prefix, nowMs }: { readonly prefix: Key; readonly nowMs: number }) {
    this.#db = new DatabaseSync(file, { readOnly: true })
    this.#range = rangeOf(prefix)
    this.#nowMs = nowMs
    const format = Number(this.#db.prepare('PRAGMA user_version').get()?.['user_version'])
    if (format !== FORMAT) throw new Error(`its format is ${format}: start this Keelson on it once`)
    this.#db.exec('BEGIN')
    const compacted = this.#db.prepare("SELECT value FROM meta WHERE name = 'compacted'").get()?.[
      'value'
    ]
    const newest = this.#db
      .prepare(`SELECT max(id) / ${KEYS_OF_REVISION_MAX} AS revision FROM versions`)
      .get()?.['revision']
    this.revision = Math.max(1, Number(compacted ?? 0), Number(newest ?? 0))
  }

  async *pages(): AsyncGenerator<readonly Entry[], void, void> {
    const rows =
      this.#db.prepare(`SELECT c.key AS key, c.id / ${KEYS_OF_REVISION_MAX} AS revision, c.created AS created,
      c.lease AS lease, v.value AS value FROM current c JOIN versions v ON v.id = c.id WHERE c.key >= ? AND c.key < ? ORDER BY c.key`)
    let page: Entry[] = []
    let bytes = 0
    for (const row of rows.iterate(toBytes(this.#range.from), toBytes(this.#range.to))) {
      const value = bytesOf(row['value'])
      const lease = BigInt(Number(row['lease'] ?? 0))
      const entry = {
        key: keyOf(row),
        value,
        revision: Number(row['revision']),
        created: Number(row['created']),
        lease,
      }
      page.push(entry)
      bytes += entry.key.length + value.length
      if (bytes < PAGE_BYTES) continue
      yield page
      page = []
      bytes = 0
    }
    if (page.length > 0) yield page
  }

  async readLease(id: bigint): Promise<LeaseLeft> {
    const found = this.#db.prepare('SELECT seconds, expires_ms FROM leases WHERE id = ?').get(id)
    const ttlSeconds = Number(found?.['seconds'] ?? 0)
    const expiresMs = Number(found?.['expires_ms'] ?? 0)
    const leftSeconds = expiresMs === 0 ? ttlSeconds : Math.ceil((expiresMs - this.#nowMs) / 1000)
    return { id, ttlSeconds, leftSeconds: Math.max(0, Math.min(leftSeconds, ttlSeconds)) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#db.close()
  }
}

/** Opens the store in a folder. Throws if there is no store. */
export function existingSource(
  folder: string,
  options: { readonly prefix: Key; readonly nowMs: number },
): SqliteSource {
  const file = fileIn(folder)
  if (!existsSync(file)) throw new Error(`there is no store in ${folder}${hintOf(folder)}`)
  try {
    return new SqliteSource(file, options)
  } catch (cause) {
    // A common cause of the error is a read-only folder. If there is a write-ahead log, SQLite has
    // to write an index for it, even to read the store.
    const why = messageOf(cause)
    throw new Error(
      `${file} cannot be read (${why}): it must be a store in a folder that you can write to`,
      { cause },
    )
  }
}

/**
 * Returns a hint for users who specify the folder of `keelson dev`, because its store is in a
 * subfolder.
 */
function hintOf(folder: string): string {
  const store = join(folder, 'store')
  return existsSync(fileIn(store)) ? `, but in ${store}` : ''
}

/**
 * Imports into a data folder. Objects keep their revisions. A new file is written next to the
 * existing store, and replaces it after its hash has been verified. An import that is interrupted
 * changes nothing.
 */
export class SqliteTarget implements Target {
  readonly #folder: string
  readonly #nowMs: number

  constructor(folder: string, nowMs: number) {
    this.#folder = folder
    this.#nowMs = nowMs
  }

  async take(dump: DumpFile, options: ImportOptions): Promise<void> {
    makeFolder(this.#folder)
    using stack = new DisposableStack()
    stack.use(lockFolder(this.#folder))
    const file = fileIn(this.#folder)
    const old = existsSync(file) ? settle(file) : 0
    if (old > 1 && !options.replaces) throw notEmpty(this.#folder)
    // History begins after the last revision that clients of the replaced store have seen, so that
    // none of their watches can resume.
    const revision = Math.max(dump.revision, old + 1) + options.revisionsAhead
    if (revision > REVISION_MAX)
      throw new Error(`revision ${revision} is too large for a data folder`)
    const made = `${file}.import`
    removeFiles(made, ['', ...besides])
    createTables(made)
    await fill(made, dump, { ...options, revision, nowMs: this.#nowMs })
    await check(made, dump, this.#nowMs)
    removeFiles(made, besides)
    if (old > 0) keepOld(file, `${file}.replaced-${this.#nowMs}`)
    removeFiles(file, besides)
    renameSync(made, file)
    platform.flushFolder(this.#folder)
  }
}

/**
 * Suffixes of SQLite's log and its index. These files must not remain next to a different database.
 */
const besides = ['-wal', '-shm']

function removeFiles(file: string, endings: readonly string[]): void {
  for (const ending of endings) rmSync(file + ending, { force: true })
}

/**
 * Keeps the old file under another name. The original name still refers to it until the new file
 * replaces it.
 */
function keepOld(file: string, kept: string): void {
  if (tryLink(file, kept)) return
  copyFileSync(file, kept, constants.COPYFILE_EXCL)
  flush(kept)
}

function flush(file: string): void {
  const written = openSync(file, 'r+')
  try {
    fsyncSync(written)
  } finally {
    closeSync(written)
  }
}

/**
 * Writes the log into the database file, so that this file contains the whole store. Returns the
 * revision.
 */
function settle(file: string): Revision {
  const revision = revisionIn(file)
  const db = new DatabaseSync(file)
  try {
    const done = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()
    if (Number(done?.['busy']) !== 0)
      throw new Error(`${file} is being read by another program: stop that program first`)
  } finally {
    db.close()
  }
  return revision
}

function revisionIn(file: string): Revision {
  using database = new SqliteDatabase({ file, isDurable: true })
  return database.revision
}

function createTables(file: string): void {
  closeSync(openSync(file, 'wx', 0o600))
  new SqliteDatabase({ file, isDurable: false })[Symbol.dispose]()
}

/**
 * Fills the file. `fsync` is called only at the end, because no other process uses the file before
 * that.
 */
async function fill(
  file: string,
  dump: DumpFile,
  {
    revision,
    onProgress,
    nowMs,
  }: ImportOptions & { readonly revision: Revision; readonly nowMs: number },
): Promise<void> {
  const db = new DatabaseSync(file)
  try {
    db.exec(`PRAGMA synchronous = OFF; PRAGMA cache_size = -${IMPORT_CACHE_KIB}`)
    const add = new VersionWriter(db, nowMs)
    let keys = 0
    for await (const page of dump.pages()) {
      db.exec('BEGIN')
      for (const entry of page) {
        if (entry.lease !== 0n && !add.hasLease(entry.lease))
          add.lease(await dump.readLease(entry.lease))
        add.entry(entry)
      }
      db.exec('COMMIT')
      keys += page.length
      onProgress('keys', keys)
    }
    // Makes all older revisions unreadable. A client that has seen a revision of the source since
    // the export has to list again.
    const meta = db.prepare('INSERT INTO meta VALUES (?, ?)')
    for (const name of ['compacted', 'swept']) meta.run(name, revision)
    db.exec('PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
  flush(file)
}

class VersionWriter {
  readonly #version: StatementSync
  readonly #current: StatementSync
  readonly #grant: StatementSync
  readonly #nowMs: number
  /** IDs of leases in the new file, by their IDs in the export. */
  readonly #leases = new Map<bigint, number | bigint>()

  constructor(db: DatabaseSync, nowMs: number) {
    // Several keys can have the same revision, so the identifier is the next free one of the
    // revision.
    this.#version = db.prepare(`INSERT INTO versions (id, key, created, previous, value) SELECT
      coalesce(max(id) + 1, ?1 * ${KEYS_OF_REVISION_MAX}), ?2, ?3, NULL, ?4
      FROM versions WHERE id >= ?1 * ${KEYS_OF_REVISION_MAX} AND id < (?1 + 1) * ${KEYS_OF_REVISION_MAX}`)
    // Read identifiers as BigInts, because they have more bits than a JavaScript number can
    // represent exactly.
    this.#version.setReadBigInts(true)
    this.#current = db.prepare('INSERT INTO current (key, id, created, lease) VALUES (?, ?, ?, ?)')
    this.#grant = db.prepare('INSERT INTO leases (seconds, expires_ms) VALUES (?, ?)')
    this.#nowMs = nowMs
  }

  hasLease(id: bigint): boolean {
    return this.#leases.has(id)
  }

  lease({ id, ttlSeconds, leftSeconds }: LeaseLeft): void {
    const expiresMs = this.#nowMs + leftSeconds * 1000
    this.#leases.set(id, this.#grant.run(ttlSeconds, expiresMs).lastInsertRowid)
  }

  entry({ key, value, revision, created, lease }: Entry): void {
    const bytes = toBytes(key)
    const { lastInsertRowid } = this.#version.run(BigInt(revision), bytes, created, value)
    this.#current.run(bytes, lastInsertRowid, created, this.#leases.get(lease) ?? null)
  }
}

async function check(file: string, dump: DumpFile, nowMs: number): Promise<void> {
  await using source = new SqliteSource(file, { prefix: dump.head.prefix, nowMs })
  compareSummaries(await summarize(source), dump.summary)
}

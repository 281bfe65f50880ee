/**
 * Implements etcd's rules for versioned keys in a SQLite file (`tables.ts`). Calls are synchronous
 * and must run on a separate thread (`sqlite-worker.ts`).
 */
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../lib/errors.ts'
import type { Key, KeyRevision, Revision } from '../engine.ts'
import { checkRequestSize, compacted, leaseNotFound, tooNew } from '../etcd-rules.ts'
import type { CompactionNote } from '../interval-compactor.ts'
import { toBytes } from '../keys.ts'
import { PageCounts } from '../page-counts.ts'
import type { ChangeCall, CommitsCall } from './messages.ts'
import { type RowRangeQuery, type RangeSource, readRange, SLICE_ROWS } from './range-reading.ts'
import {
  bytesOf,
  keyOf,
  type SqlRow,
  type StoredEvent,
  type StoredVersion,
  versionOf,
} from './stored.ts'
import { KEYS_OF_REVISION_MAX, prepare, setUp, type Statements } from './tables.ts'

/**
 * Number of revisions whose compacted versions are freed in the first slice. The size of later
 * slices is adjusted so that a slice takes about SWEEP_MS.
 */
const SWEPT_FIRST = 200
/**
 * Limits for the size of a slice. In smaller slices, the flushes would take longer than freeing the
 * versions.
 */
const SWEPT_MIN = 100
const SWEPT_MAX = 10_000
/** Target duration of a slice, excluding the flush, which can take longer. */
const SWEEP_MS = 3
/**
 * Maximum size of events and maximum number of rows that are read at once for an event feed that
 * catches up.
 */
const COMMITS_BYTES_MAX = 1024 * 1024
const COMMITS_ROWS_MAX = 5_000
/** Time for which SQLite waits for locks of other programs when it opens the file. */
const OPENING_LOCKED_MS_MAX = 5_000
/**
 * Time for which a commit waits for locks of other programs before it fails. Reads wait for the
 * same time.
 */
const LOCKED_MS_MAX = 250

export type ChangeResult =
  | { readonly won: true; readonly revision: Revision; readonly created: Revision }
  | {
      readonly won: false
      readonly revision: Revision
      readonly current: StoredVersion | undefined
    }

export type StoredLease = {
  readonly id: bigint
  readonly ttlSeconds: number
  readonly expiresMs: number
}

export type DatabaseOptions = {
  readonly file: string
  /**
   * Whether acknowledged writes survive a crash of the machine. They always survive a crash of the
   * process.
   */
  readonly isDurable: boolean
  /** Maximum number of rows that are read at once. Tests use a smaller number. */
  readonly sliceRows?: number
}

/**
 * Thrown if the commit itself failed. Until a later commit succeeds, it is unknown whether the
 * failed commit is in SQLite's log.
 */
export class CommitError extends Error {}

export class SqliteDatabase implements Disposable {
  readonly #file: string
  readonly #db: DatabaseSync
  readonly #sql: Statements
  readonly databaseId: string
  #revision: Revision
  #compacted: Revision
  #swept: Revision
  #sweptAtOnce = SWEPT_FIRST
  readonly #source: RangeSource
  /** Revisions at which lists are being read. The versions that these lists need are not freed. */
  readonly #reading: Revision[] = []

  constructor({ file, isDurable, sliceRows = SLICE_ROWS }: DatabaseOptions) {
    this.#file = file
    this.#db = new DatabaseSync(file, { timeout: OPENING_LOCKED_MS_MAX })
    try {
      this.databaseId = setUp(this.#db, isDurable)
      this.#db.exec(`PRAGMA busy_timeout = ${LOCKED_MS_MAX}`)
      const sql = prepare(this.#db)
      this.#sql = sql
      this.#compacted = this.#meta('compacted')
      this.#swept = this.#meta('swept')
      const newest = sql.newest.get()?.['revision']
      this.#revision = Math.max(1, this.#compacted, typeof newest === 'number' ? newest : 0)
      const revision = (): Revision => this.#revision
      this.#source = {
        sql,
        sliceRows,
        counts: new PageCounts(),
        get revision() {
          return revision()
        },
      }
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

  /**
   * Size of SQLite's log on disk. Returns 0 if the file was renamed or deleted. SQLite can still
   * use such a file.
   */
  get logBytes(): number {
    try {
      return statSync(`${this.#file}-wal`).size
    } catch {
      return 0
    }
  }

  leases(): StoredLease[] {
    return this.#sql.leases.all().map(({ id, seconds, expires_ms }) => {
      return { id: BigInt(Number(id)), ttlSeconds: Number(seconds), expiresMs: Number(expires_ms) }
    })
  }

  /**
   * Runs `act` in a transaction. When this method returns, all writes are durable. If it throws a
   * CommitError, the outcome is unknown. If it throws another error, nothing was written.
   */
  commit<T>(act: () => T): T {
    const before = this.#revision
    this.#sql.begin.run()
    try {
      const result = act()
      this.#commit()
      return result
    } catch (error) {
      this.#revision = before
      this.#rollBack()
      throw error
    }
  }

  /**
   * Makes an additional commit after a failed one. SQLite writes it over the failed commit in its
   * log, so that the failed commit cannot reappear when the file is opened again.
   */
  overwriteFailedCommit(): void {
    this.commit(() => this.#sql.setMeta.run('failures', this.#meta('failures') + 1))
  }

  /** Changes one key. Must be called within `commit`. */
  change({
    key,
    expected,
    unchanged = [],
    put,
    lease,
  }: Omit<ChangeCall, 'op' | 'id' | 'put'> & { readonly put?: Uint8Array }): ChangeResult {
    checkRequestSize(key, put?.length ?? 0)
    const bytes = toBytes(key)
    const found = this.#sql.find.get(bytes)
    const [current, created] =
      found === undefined ? [0, 0] : [Number(found['revision']), Number(found['created'])]
    const hasRevision = (other: KeyRevision): boolean =>
      Number(this.#sql.find.get(toBytes(other.key))?.['revision'] ?? 0) === other.revision
    if (current !== expected || !unchanged.every(hasRevision)) {
      const lost = found && this.#sql.read.get(bytes)
      return { won: false, revision: this.#revision, current: lost && versionOf(lost) }
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

  /** Grants a lease. Must be called within `commit`. */
  grant(ttlSeconds: number, expiresMs: number): bigint {
    return BigInt(this.#sql.grant.run(ttlSeconds, expiresMs).lastInsertRowid)
  }

  /**
   * Ends a lease. Must be called within `commit`. Returns the deleted keys by revision. There is
   * only one revision, unless there are more keys than a revision can contain.
   */
  revoke(lease: bigint): { readonly revision: Revision; readonly keys: readonly Key[] }[] {
    if (this.#sql.revoke.run(lease).changes === 0) throw leaseNotFound()
    const deletions: { readonly revision: Revision; readonly keys: readonly Key[] }[] = []
    for (;;) {
      const rows = this.#sql.leased.all(lease, KEYS_OF_REVISION_MAX)
      if (rows.length === 0) return deletions
      this.#delete(rows.map(({ key }) => bytesOf(key)))
      deletions.push({ revision: this.#revision, keys: rows.map(keyOf) })
    }
  }

  /** Yields rows in slices, all at one revision, even if there are writes between two slices. */
  *range(
    asked: RowRangeQuery,
    revision: Revision,
  ): Generator<readonly StoredVersion[], { revision: Revision; count: number }, void> {
    const at = this.#readable(revision)
    this.#reading.push(at)
    try {
      return { revision: at, count: yield* readRange(this.#source, asked, at) }
    } finally {
      this.#reading.splice(this.#reading.indexOf(at), 1)
    }
  }

  /**
   * Returns complete revisions after `after`, with their events in the range. Returns at least one
   * revision if there is one. Returns undefined if the next revision has been compacted.
   */
  commitsAfter({
    after,
    most,
    previous,
    from,
    to,
  }: Omit<CommitsCall, 'op' | 'id'>): { rows: StoredEvent[]; upTo: Revision } | undefined {
    if (after < this.#compacted) return undefined
    const rows: StoredEvent[] = []
    let [bytes, looked, last] = [0, 0, after]
    for (const row of this.#sql.after.iterate(after + 1, toBytes(from), toBytes(to))) {
      const revision = Number(row['revision'])
      if (revision !== last) {
        const isEnough =
          rows.length >= most || looked >= COMMITS_ROWS_MAX || bytes > COMMITS_BYTES_MAX
        if (last > after && isEnough) return { rows, upTo: last }
        last = revision
      }
      looked++
      if (row['is_inside'] !== 1) continue
      const event = this.#eventOf(row, previous)
      rows.push(event)
      bytes += (event.value?.length ?? 0) + (event.previous?.value.length ?? 0) + event.key.length
    }
    return { rows, upTo: Math.max(after, this.#revision) }
  }

  /** Makes all older revisions unreadable. `sweep` frees their space. */
  compact(revision: Revision): void {
    if (revision <= this.#compacted) throw compacted()
    if (revision > this.#revision) throw tooNew()
    this.commit(() => this.#sql.setMeta.run('compacted', revision))
    this.#compacted = revision
  }

  /**
   * The compaction note (the revision to which history is compacted next) that was saved last,
   * possibly by another process.
   */
  get compactionNote(): CompactionNote | undefined {
    const revision = this.#meta('noted')
    return revision === 0 ? undefined : { revision, wallMs: this.#meta('noted_ms') }
  }

  keepCompactionNote({ revision, wallMs }: CompactionNote): void {
    this.commit(() => {
      this.#sql.setMeta.run('noted', revision)
      this.#sql.setMeta.run('noted_ms', wallMs)
    })
  }

  /** Whether there are versions to free that are not needed for a list. */
  get isSweepDue(): boolean {
    return this.#swept < this.#sweepEnd()
  }

  /** Frees one slice of the versions that are no longer needed. */
  sweep(): void {
    const upTo = Math.min(this.#sweepEnd(), this.#swept + this.#sweptAtOnce)
    const tookMs = this.commit(() => {
      const startMs = performance.now()
      this.#sql.sweepReplaced.run(this.#swept + 1, upTo + 1)
      this.#sql.sweepDeletions.run(this.#swept + 1, upTo + 1)
      this.#sql.setMeta.run('swept', upTo)
      return performance.now() - startMs
    })
    this.#swept = upTo
    this.#sweptAtOnce =
      tookMs > SWEEP_MS
        ? Math.max(this.#sweptAtOnce >> 1, SWEPT_MIN)
        : Math.min(this.#sweptAtOnce * 2, SWEPT_MAX)
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }

  #commit(): void {
    try {
      this.#sql.commit.run()
    } catch (cause) {
      throw new CommitError(messageOf(cause), { cause })
    }
  }

  /** Rolls the transaction back. SQLite ends the transaction even if this fails. */
  #rollBack(): void {
    try {
      if (this.#db.isTransaction) this.#sql.rollback.run()
    } catch {
      // Ignore this error. The error that caused the rollback is thrown, and both have the same
      // cause.
    }
  }

  #delete(keys: readonly Uint8Array[]): void {
    const revision = ++this.#revision
    for (const [n, key] of keys.entries()) {
      this.#sql.add.run(revision, n, key, 0, null)
      this.#sql.remove.run(key)
    }
  }

  #sweepEnd(): Revision {
    // Bounded: only a few lists are read at the same time, so `#reading` is short
    return Math.min(this.#compacted, ...this.#reading)
  }

  #eventOf(row: SqlRow, previous: boolean): StoredEvent {
    const value = row['value'] === null ? undefined : bytesOf(row['value'])
    const created = value === undefined ? 0 : Number(row['created'])
    const event = { key: keyOf(row), revision: Number(row['revision']), created, value }
    return previous ? { ...event, previous: this.#previousOf(row) } : event
  }

  #previousOf(row: SqlRow): StoredVersion | undefined {
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

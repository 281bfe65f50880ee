/**
 * The engine on a SQLite file in this process: etcd's rules without etcd, for development, tests and small installations. The file
 * belongs to a thread (`sqlite-worker.ts`); here calls are collected for it, and feeds are told what it has committed.
 */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { systemTime, type Time, type Timer } from '../../lib/timers.ts'
import type {
  CallOptions,
  ConditionalWrite,
  Engine,
  FeedEvent,
  FeedOptions,
  FeedRange,
  FeedSink,
  FeedStream,
  Found,
  Outcome,
  RangeQuery,
  Revision,
  Versioned,
} from '../engine.ts'
import { StorageError } from '../errors.ts'
import { CALL_TIMEOUT_MS, grantedSeconds, keyMissing, LEASES_EVERY_MS } from '../etcd-rules.ts'
import { type Commit, type CommitsQuery, type FeedSource, LocalFeed } from '../local-feed.ts'
import type { Answer, Answers, Call, Calls, End, EventRow, FromThread, Opened, Place, Row } from './messages.ts'

export type SqliteOptions = {
  /** Made if it is not there. */
  readonly folder: string
  /** False: a failure of the machine, not of the process, may take the last writes. */
  readonly isDurable?: boolean
  readonly time?: Time
}

/** Without the number, which is given when the call is sent. */
type NewCall = Call extends infer C ? (C extends Call ? Omit<C, 'id'> : never) : never

type Waiting = {
  readonly call: NewCall
  /** What is to be stored, if anything. */
  readonly put: Buffer | undefined
  readonly settle: (answer: Answer, bytes: Buffer) => void
  readonly fail: (error: StorageError) => void
}

export class SqliteEngine implements Engine, AsyncDisposable {
  readonly databaseId: string
  readonly #worker: Worker
  readonly #file: string
  readonly #time: Time
  readonly #ended: Promise<void>
  readonly #feeds = new Set<LocalFeed>()
  readonly #deadlines = new Map<bigint, number>()
  #leaseTicker: Timer | undefined
  /** Calls that are sent together at the end of this turn. */
  #outgoing: Waiting[] = []
  readonly #waiting = new Map<number, Waiting>()
  #calls = 0
  #revision: Revision
  #compacted: Revision
  #closed: StorageError | undefined
  /** What feeds read; the same for all. */
  readonly #source: FeedSource

  /** Fails with what to do if the folder cannot be used. */
  static async open({ folder, isDurable = true, time = systemTime }: SqliteOptions): Promise<SqliteEngine> {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // Secrets are in it; SQLite gives its other files the same mode.
    closeSync(openSync(fileIn(folder), 'a', 0o600))
    const file = new URL(`./sqlite-worker${extname(import.meta.filename)}`, import.meta.url)
    const workerData = { folder, file: fileIn(folder), isDurable }
    const worker = new Worker(file, { workerData })
    const { promise, resolve, reject } = Promise.withResolvers<Opened>()
    worker.once('error', reject)
    worker.once('message', (message: FromThread) => {
      if (message.kind === 'opened') resolve(message)
      else
        reject(new Error(message.kind === 'refused' ? message.message : 'the thread of the store said something else'))
    })
    return new SqliteEngine(worker, await promise, { folder, time })
  }

  private constructor(
    worker: Worker,
    { databaseId, revision, compacted, leases }: Opened,
    { folder, time }: { readonly folder: string; readonly time: Time },
  ) {
    this.#file = fileIn(folder)
    this.databaseId = databaseId
    this.#worker = worker
    this.#revision = revision
    this.#compacted = compacted
    this.#time = time
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#ended = promise
    worker.removeAllListeners('error')
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'answers') this.#take(message)
    })
    worker.on('error', (cause) =>
      this.#close(new StorageError('unavailable', `the store failed: ${cause.message}`, { cause })),
    )
    worker.once('exit', () => {
      this.#close(new StorageError('unavailable', 'the store has ended'))
      resolve()
    })
    const [readRevision, readCompacted] = [() => this.#revision, () => this.#compacted]
    this.#source = {
      get revision() {
        return readRevision()
      },
      get compacted() {
        return readCompacted()
      },
      commitsAfter: (query) => this.#commitsAfter(query),
    }
    for (const { id, ttlSeconds } of leases) this.#startLease(id, ttlSeconds)
  }

  async range(query: RangeQuery, options: CallOptions = {}): Promise<Found> {
    if (query.from === '') throw keyMissing()
    const { from, to, revision = 0, limit = 0, countOnly, keysOnly } = query
    const values = countOnly === true ? 'count' : keysOnly === true ? 'none' : 'all'
    return await this.#call<Found>({ op: 'range', from, to, revision, limit, values }, options, (answer, bytes) => {
      if (answer.op !== 'range') return undefined
      const more = limit > 0 && countOnly !== true && answer.count > limit
      const rows = answer.rows.map((row) => versionedOf(row, bytes))
      return { revision: query.revision ?? answer.revision, values: rows, more, count: answer.count }
    })
  }

  change({ key, expected, write }: ConditionalWrite, options: CallOptions = {}): Promise<Outcome> {
    const isPut = write !== 'delete'
    const lease = isPut ? write.lease : undefined
    // The caller may reuse its buffer; feeds are told this one.
    const put = isPut ? Buffer.from(write.put) : undefined
    const call = { op: 'change', key, expected, ...(lease !== undefined && { lease }) } as const
    return this.#call(call, options, outcomeOf, put)
  }

  /** What was acknowledged to anybody was acknowledged here. */
  async latest({ signal }: CallOptions = {}): Promise<Revision> {
    if (signal?.aborted === true) throw cancelled(signal, false)
    if (this.#closed !== undefined) throw this.#closed
    return this.#revision
  }

  openFeed(ranges: readonly FeedRange[], sink: FeedSink, options: FeedOptions = {}): FeedStream {
    const feed = new LocalFeed({
      ...options,
      ranges,
      sink,
      source: this.#source,
      timers: this.#time,
      isPaused: () => false,
      onClosed: (closed) => this.#feeds.delete(closed),
    })
    this.#feeds.add(feed)
    const closed = this.#closed
    if (closed !== undefined) this.#time.soon(() => feed.end(closed))
    return feed
  }

  async grantLease(ttlSeconds: number, options: CallOptions = {}): Promise<bigint> {
    const seconds = grantedSeconds(ttlSeconds)
    const lease = await this.#call({ op: 'grant', ttlSeconds: seconds }, options, (answer) =>
      answer.op === 'granted' ? answer.lease : undefined,
    )
    this.#startLease(lease, seconds)
    return lease
  }

  /** Ends a lease now and deletes its keys. */
  async revokeLease(lease: bigint): Promise<void> {
    this.#deadlines.delete(lease)
    await this.#call({ op: 'revoke', lease }, {}, (answer) => (answer.op === 'revoked' ? answer : undefined))
  }

  /** Fails like etcd when the revision is compacted already or has not happened yet. */
  async compact(revision: Revision, options: CallOptions = {}): Promise<void> {
    await this.#call({ op: 'compact', revision }, options, (answer) => (answer.op === 'compacted' ? answer : undefined))
  }

  /** Bytes on the disk, without what the last commits wait in. */
  async size(): Promise<number> {
    return (await stat(this.#file)).size
  }

  /** Resolves when everything acknowledged stands in a closed file. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed === undefined) {
      this.#send()
      const end: End = { end: true }
      this.#worker.postMessage(end, [])
      this.#close(new StorageError('unavailable', 'the store is closed'))
    }
    await this.#ended
  }

  #close(error: StorageError): void {
    this.#closed ??= error
    this.#leaseTicker?.close()
    for (const feed of this.#feeds) feed.end(error)
    const waiting = [...this.#waiting.values(), ...this.#outgoing]
    this.#waiting.clear()
    this.#outgoing = []
    for (const { call, fail } of waiting) {
      fail(new StorageError('unavailable', error.message, { cause: error, ambiguous: isWrite(call) }))
    }
  }

  #call<T>(
    call: NewCall,
    { signal, timeoutMs = CALL_TIMEOUT_MS }: CallOptions,
    read: (answer: Answer, bytes: Buffer) => T | undefined,
    put?: Buffer,
  ): Promise<T> {
    if (signal?.aborted === true) return Promise.reject(cancelled(signal, false))
    if (this.#closed !== undefined) return Promise.reject(this.#closed)
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const onAbort = (): void => fail(cancelled(signal, isWrite(call)))
    const timer = this.#time.after(timeoutMs, () => {
      const message = `the store has not answered within ${timeoutMs} ms: is its disk slow or gone?`
      fail(new StorageError('unavailable', message, { ambiguous: isWrite(call) }))
    })
    const leave = (): void => {
      timer.close()
      signal?.removeEventListener('abort', onAbort)
    }
    const fail = (error: StorageError): void => {
      leave()
      reject(error)
    }
    const settle = (answer: Answer, bytes: Buffer): void => {
      if (answer.op === 'failed') {
        const { code, message, ambiguous } = answer
        fail(new StorageError(code, message, { ambiguous }))
        return
      }
      leave()
      const result = read(answer, bytes)
      if (result === undefined) reject(new StorageError('unavailable', `the store answered ${answer.op} to ${call.op}`))
      else resolve(result)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    if (this.#outgoing.length === 0) this.#time.soon(() => this.#send())
    this.#outgoing.push({ call, put, settle, fail })
    return promise
  }

  /** One message for all calls of a turn. */
  #send(): void {
    const outgoing = this.#outgoing
    if (outgoing.length === 0 || this.#closed !== undefined) return
    this.#outgoing = []
    const puts = outgoing.flatMap(({ put }) => (put === undefined ? [] : [put]))
    const bytes = Buffer.allocUnsafeSlow(puts.reduce((length, put) => length + put.length, 0))
    let at = 0
    const calls = outgoing.map((waiting): Call => {
      const id = ++this.#calls
      this.#waiting.set(id, waiting)
      const { call, put } = waiting
      if (call.op !== 'change' || put === undefined) return { ...call, id }
      const start = at
      at += put.copy(bytes, at)
      return { ...call, id, put: { start, end: at } }
    })
    this.#worker.postMessage({ calls, bytes } satisfies Calls, [bytes.buffer])
  }

  #take({ answers, bytes: array }: Answers): void {
    const bytes = Buffer.from(array.buffer, array.byteOffset, array.length)
    for (const answer of answers) {
      const waiting = this.#waiting.get(answer.id)
      this.#waiting.delete(answer.id)
      if (waiting === undefined) continue
      this.#note(answer, waiting)
      waiting.settle(answer, bytes)
    }
  }

  /** Feeds are told before the writer, whose next read may wait for them. */
  #note(answer: Answer, { call, put }: Waiting): void {
    if (answer.op === 'compacted') this.#compacted = answer.compacted
    if (answer.op === 'revoked' && answer.keys.length > 0) {
      this.#commit(
        answer.revision,
        answer.keys.map((key) => deletionOf(key, answer.revision)),
      )
    }
    // A deletion of nothing is won without a new revision.
    if (answer.op !== 'won' || call.op !== 'change' || answer.revision <= this.#revision) return
    const { revision, created: createRevision } = answer
    const { key } = call
    const event: FeedEvent =
      put === undefined ? deletionOf(key, revision) : { key, type: 'put', revision, createRevision, value: put }
    this.#commit(revision, [event])
  }

  #commit(revision: Revision, events: readonly FeedEvent[]): void {
    this.#revision = revision
    for (const feed of this.#feeds) feed.commit({ revision, events })
  }

  #commitsAfter({ after, most, previous }: CommitsQuery): Promise<readonly Commit[] | undefined> {
    return this.#call({ op: 'commits', after, most, previous }, {}, commitsOf).then(({ commits }) => commits)
  }

  #startLease(id: bigint, ttlSeconds: number): void {
    this.#deadlines.set(id, this.#time.monotonicMs() + ttlSeconds * 1000)
    this.#leaseTicker ??= this.#time.every(LEASES_EVERY_MS, () => this.#endLeases())
  }

  #endLeases(): void {
    const now = this.#time.monotonicMs()
    for (const [id, deadline] of this.#deadlines) {
      if (deadline > now) continue
      // Tried again with the next look, if it fails.
      this.revokeLease(id).catch(() => this.#closed === undefined && this.#deadlines.set(id, now))
    }
  }
}

function outcomeOf(answer: Answer, bytes: Buffer): Outcome | undefined {
  if (answer.op === 'won') return { won: true, revision: answer.revision }
  if (answer.op !== 'lost') return undefined
  return { won: false, revision: answer.revision, current: answer.current && versionedOf(answer.current, bytes) }
}

/** Undefined commits: they are compacted. */
function commitsOf(answer: Answer, bytes: Buffer): { readonly commits: readonly Commit[] | undefined } | undefined {
  if (answer.op !== 'commits') return undefined
  return { commits: answer.rows && commitsIn(answer.rows, answer.upTo, bytes) }
}

const fileIn = (folder: string): string => join(folder, 'keelson.sqlite')

const isWrite = ({ op }: NewCall): boolean => op === 'change' || op === 'grant' || op === 'revoke'

const nothing = Buffer.alloc(0)

const deletionOf = (key: string, revision: Revision): FeedEvent => ({
  key,
  type: 'delete',
  revision,
  createRevision: 0,
  value: nothing,
})

const viewOf = ({ start, end }: Place, bytes: Buffer): Buffer => bytes.subarray(start, end)

const versionedOf = ({ key, revision, created, value }: Row, bytes: Buffer): Versioned => ({
  key,
  revision,
  createRevision: created,
  value: viewOf(value, bytes),
})

/** An empty commit at the end says how far the answer goes, if its last revisions have no events left. */
function commitsIn(rows: readonly EventRow[], upTo: Revision, bytes: Buffer): readonly Commit[] {
  const commits: { readonly revision: Revision; readonly events: FeedEvent[] }[] = []
  for (const row of rows) {
    if (commits.at(-1)?.revision !== row.revision) commits.push({ revision: row.revision, events: [] })
    commits.at(-1)?.events.push(eventOf(row, bytes))
  }
  if ((commits.at(-1)?.revision ?? 0) < upTo) commits.push({ revision: upTo, events: [] })
  return commits
}

function eventOf({ key, revision, created, value, previous }: EventRow, bytes: Buffer): FeedEvent {
  const before = previous && { previous: versionedOf(previous, bytes) }
  if (value === undefined) return { ...deletionOf(key, revision), ...before }
  return { key, type: 'put', revision, createRevision: created, value: viewOf(value, bytes), ...before }
}

const cancelled = (signal: AbortSignal | undefined, ambiguous: boolean): StorageError =>
  new StorageError('cancelled', 'the caller has gone', { cause: signal?.reason, ambiguous })

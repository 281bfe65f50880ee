/**
 * The engine for a SQLite file. It implements etcd's rules in this process, for development, tests
 * and small installations. A thread owns the file (`database-thread.ts`). The engine sends calls to
 * the thread in batches, and notifies event feeds of what the thread has committed.
 */
import { stat } from 'node:fs/promises'
import type { Worker } from 'node:worker_threads'
import type { Log } from '../../lib/telemetry/log.ts'
import { systemTime, type Time, type Timer } from '../../lib/time/timers.ts'
import type {
  CallOptions,
  ConditionalWrite,
  Engine,
  FeedEvent,
  FeedStreamOptions,
  FeedRange,
  FeedListener,
  FeedStream,
  RangeResult,
  Outcome,
  RangeQuery,
  Revision,
  VersionedValue,
} from '../engine.ts'
import { isCode, StorageError } from '../errors.ts'
import { CALL_TIMEOUT_MS, grantedSeconds, keyMissing, LEASES_EVERY_MS } from '../etcd-rules.ts'
import type { CompactionNote } from '../interval-compactor.ts'
import {
  type Commit,
  type CommitsQuery,
  type FeedSource,
  LocalFeedStream,
} from '../local-feed-stream.ts'
import { commitsOf, deletionOf, outcomeOf, takeRows } from './answers.ts'
import { fileIn, lockFolder, logIn, makeFile, makeFolder } from './folder-lock.ts'
import type {
  Answer,
  Answers,
  Call,
  Calls,
  End,
  FromThread,
  LogLength,
  OpenedMessage,
} from './messages.ts'
import type { RowBuffers } from './packed-rows.ts'
import { type StartedThread, startThread } from './start-thread.ts'

/**
 * Approximate size of a message to the thread. Copying this many bytes takes about a millisecond.
 */
const MESSAGE_BYTES = 4 * 1024 * 1024
/**
 * Maximum total size of writes that the thread has not acknowledged yet, so that memory use stays
 * bounded if the disk hangs.
 */
const WAITING_BYTES_MAX = 256 * 1024 * 1024
const WAITING_CALLS_MAX = 50_000
/** Delay before a new thread is started after the thread has exited. */
const REOPEN_MS = 1_000

export type SqliteOptions = {
  /** Folder of the store. It is created if it does not exist. */
  readonly folder: string
  /**
   * Whether acknowledged writes survive a crash of the machine. They always survive a crash of the
   * process.
   */
  readonly isDurable?: boolean
  readonly time?: Time
  readonly log?: Log
  /** The SQLite thread, if it is already running. */
  readonly thread?: Worker | undefined
  /** Called with the reason when the file becomes unwritable. */
  readonly onUnwritable?: ((fault: string) => void) | undefined
}

/** A call without its ID, which is assigned when the call is sent. */
type NewCall = Call extends infer C ? (C extends Call ? Omit<C, 'id'> : never) : never

type PendingCall = {
  readonly call: NewCall
  /** The value to store, if any. */
  readonly put: Buffer | undefined
  /** The rows of a range that have arrived so far. */
  readonly rows: VersionedValue[]
  readonly settle: (answer: Answer, buffers: RowBuffers) => void
  readonly fail: (error: StorageError) => void
  /** ID of the call, which is assigned when the call is sent. */
  id: number | undefined
}

type SqliteEngineOptions = {
  readonly folder: string
  readonly isDurable: boolean
  readonly time: Time
  readonly log: Log
  readonly lock: Disposable
  readonly onUnwritable: ((fault: string) => void) | undefined
}

export class SqliteEngine implements Engine, AsyncDisposable {
  readonly databaseId: string
  /**
   * The compaction note (the revision to which history is compacted next) that was in the folder
   * when it was opened.
   */
  readonly compactionNote: CompactionNote | undefined
  readonly #options: SqliteEngineOptions
  readonly #time: Time
  readonly #feeds = new Set<LocalFeedStream>()
  readonly #deadlines = new Map<bigint, number>()
  #leaseTicker: Timer | undefined
  #isEndingLeases = false
  #worker: Worker | undefined
  #exited: Promise<void> = Promise.resolve()
  #reopening: Timer | undefined
  /** Calls that are sent together at the end of this tick. */
  #outgoing: PendingCall[] = []
  /** IDs of ranges whose callers no longer wait. */
  #cancelled: number[] = []
  #isSendDue = false
  readonly #waiting = new Map<number, PendingCall>()
  #waitingBytes = 0
  #calls = 0
  #revision: Revision
  #compacted: Revision
  /** The error with which calls fail. Undefined while the store is usable. */
  #closed: StorageError | undefined
  #isDisposed = false
  /** The source of commits, which all event feeds share. */
  readonly #source: FeedSource

  /**
   * Opens the store in a folder. If the folder cannot be used, the error message says how to fix
   * this.
   */
  static async open(options: SqliteOptions): Promise<SqliteEngine> {
    const { folder, isDurable = true, time = systemTime, log = () => undefined } = options
    const { thread, onUnwritable } = options
    makeFolder(folder)
    using stack = new DisposableStack()
    const lock = stack.use(lockFolder(folder))
    makeFile(fileIn(folder))
    const started = await startThread({ file: fileIn(folder), isDurable }, thread)
    stack.move()
    return new SqliteEngine(started, { folder, isDurable, time, log, lock, onUnwritable })
  }

  private constructor(started: StartedThread, options: SqliteEngineOptions) {
    this.databaseId = started.opened.databaseId
    this.compactionNote = started.opened.compactionNote
    this.#options = options
    this.#time = options.time
    this.#revision = started.opened.revision
    this.#compacted = started.opened.compacted
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
    this.#use(started)
  }

  async range(query: RangeQuery, options: CallOptions = {}): Promise<RangeResult> {
    if (query.from === '') throw keyMissing()
    const { from, to, revision = 0, limit = 0, countOnly, keysOnly } = query
    const values = countOnly === true ? 'count' : keysOnly === true ? 'none' : 'all'
    const rows: VersionedValue[] = []
    const call = { op: 'range', from, to, revision, limit, values } as const
    return await this.#call<RangeResult>(call, options, { rows }, (answer) => {
      if (answer.op !== 'range') return undefined
      const more = limit > 0 && countOnly !== true && answer.count > limit
      return {
        revision: query.revision ?? answer.revision,
        values: rows,
        more,
        count: answer.count,
      }
    })
  }

  change(
    { key, expected, unchanged, write }: ConditionalWrite,
    options: CallOptions = {},
  ): Promise<Outcome> {
    const isPut = write !== 'delete'
    const lease = isPut ? write.lease : undefined
    // Copy the value, because the caller may reuse its buffer. Event feeds receive the copy.
    const put = isPut ? Buffer.from(write.put) : undefined
    const call = {
      op: 'change',
      key,
      expected,
      ...(unchanged !== undefined && { unchanged }),
      ...(lease !== undefined && { lease }),
    } as const
    return this.#call(call, options, { put }, outcomeOf)
  }

  /**
   * Returns the latest revision. Because no other process writes, this needs no request to the
   * thread.
   */
  async latest({ signal }: CallOptions = {}): Promise<Revision> {
    if (signal?.aborted === true) throw cancelled(signal, false)
    if (this.#closed !== undefined) throw this.#closed
    return this.#revision
  }

  openFeed(
    ranges: readonly FeedRange[],
    sink: FeedListener,
    options: FeedStreamOptions = {},
  ): FeedStream {
    const feed = new LocalFeedStream({
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
    if (closed !== undefined) this.#time.defer(() => feed.end(closed))
    return feed
  }

  async grantLease(ttlSeconds: number, options: CallOptions = {}): Promise<bigint> {
    const seconds = grantedSeconds(ttlSeconds)
    const expiresMs = this.#time.wallMs() + seconds * 1000
    return await this.#call(
      { op: 'grant', ttlSeconds: seconds, expiresMs },
      options,
      {},
      (answer) => (answer.op === 'granted' ? answer.lease : undefined),
    )
  }

  /** Ends a lease immediately and deletes its keys. */
  async revokeLease(lease: bigint): Promise<void> {
    await this.#call({ op: 'revoke', lease }, {}, {}, (answer) =>
      answer.op === 'revoked' ? answer : undefined,
    )
  }

  /**
   * Compacts history. Rejects with etcd's error if the revision has already been compacted or does
   * not exist yet.
   */
  async compact(revision: Revision, options: CallOptions = {}): Promise<void> {
    const call = { op: 'compact', revision } as const
    await this.#call(call, options, {}, (answer) =>
      answer.op === 'compacted' ? answer : undefined,
    )
  }

  /** Saves the compaction note for the next process that opens the folder. */
  async keepCompactionNote(note: CompactionNote, options: CallOptions = {}): Promise<void> {
    await this.#call({ op: 'note', note }, options, {}, (answer) =>
      answer.op === 'noted' ? answer : undefined,
    )
  }

  /** Returns the size on disk in bytes, including SQLite's log. */
  async size(): Promise<number> {
    const { folder } = this.#options
    const log = await stat(logIn(folder)).catch(() => undefined)
    return (await stat(fileIn(folder))).size + (log?.size ?? 0)
  }

  /**
   * Closes the store. Resolves when all acknowledged writes are in the file and the file is closed.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isDisposed) {
      this.#isDisposed = true
      this.#reopening?.close()
      this.#leaseTicker?.close()
      while (this.#outgoing.length > 0 && this.#worker !== undefined) this.#send()
      const end: End = { end: true }
      this.#worker?.postMessage(end, [])
      this.#lose(new StorageError('unavailable', 'the store is closed'))
    }
    await this.#exited
    this.#options.lock[Symbol.dispose]()
  }

  #use({ worker, opened }: StartedThread): void {
    this.#worker = worker
    this.#closed = undefined
    this.#revision = opened.revision
    this.#compacted = opened.compacted
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#exited = promise
    let cause: unknown
    worker.on('message', (message: FromThread) => this.#onMessage(message))
    worker.on('error', (error) => {
      cause = error
    })
    worker.once('exit', () => {
      resolve()
      this.#onExit(cause)
    })
    this.#deadlines.clear()
    this.#startLeases(opened.leases)
  }

  /**
   * Handles the exit of the thread, for example after an unexpected error or because of a lack of
   * memory. A new thread reads the actual state from the file.
   */
  #onExit(cause: unknown): void {
    this.#worker = undefined
    if (this.#isDisposed) return
    const why = cause instanceof Error ? cause.message : 'no reason given'
    this.#options.log('error', 'the SQLite thread ended; restarting it', { error: why })
    this.#lose(new StorageError('unavailable', `the SQLite thread ended (${why})`, { cause }))
    this.#reopening = this.#time.after(REOPEN_MS, () => void this.#reopen())
  }

  async #reopen(): Promise<void> {
    const { folder, isDurable, log } = this.#options
    try {
      const started = await startThread({ file: fileIn(folder), isDurable })
      if (this.#isDisposed) {
        const end: End = { end: true }
        started.worker.postMessage(end, [])
      } else this.#use(started)
    } catch (error) {
      log('error', 'the store cannot be reopened; retrying', { error: String(error) })
      if (!this.#isDisposed)
        this.#reopening = this.#time.after(REOPEN_MS, () => void this.#reopen())
    }
  }

  /**
   * Fails all calls. A write that was sent may have taken effect. A write that was not sent has
   * certainly not taken effect.
   */
  #lose(error: StorageError): void {
    this.#closed ??= error
    for (const feed of this.#feeds) feed.end(error)
    const waiting = [...this.#waiting.values(), ...this.#outgoing]
    this.#waiting.clear()
    this.#waitingBytes = 0
    this.#outgoing = []
    this.#cancelled = []
    for (const { call, id, fail } of waiting) {
      const ambiguous = isWrite(call) && id !== undefined
      fail(new StorageError('unavailable', error.message, { cause: error, ambiguous }))
    }
  }

  #call<T>(
    call: NewCall,
    { signal, timeoutMs = CALL_TIMEOUT_MS }: CallOptions,
    { put, rows = [] }: { readonly put?: Buffer | undefined; readonly rows?: VersionedValue[] },
    read: (answer: Answer, buffers: RowBuffers) => T | undefined,
  ): Promise<T> {
    if (signal?.aborted === true) return Promise.reject(cancelled(signal, false))
    if (this.#closed !== undefined) return Promise.reject(this.#closed)
    const bytes = put?.length ?? 0
    if (this.#waitingBytes + bytes > WAITING_BYTES_MAX || this.#waiting.size > WAITING_CALLS_MAX) {
      return Promise.reject(new StorageError('busy', 'the disk of the store does not keep up'))
    }
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const isAmbiguous = (): boolean => isWrite(call) && waiting.id !== undefined
    const onAbort = (): void => give(cancelled(signal, isAmbiguous()))
    const timer = this.#time.after(timeoutMs, () => {
      const message = `the store did not respond within ${timeoutMs} ms: is its disk slow or gone?`
      give(new StorageError('unavailable', message, { ambiguous: isAmbiguous() }))
    })
    const leave = (): void => {
      timer.close()
      signal?.removeEventListener('abort', onAbort)
    }
    const fail = (error: StorageError): void => {
      leave()
      reject(error)
    }
    /** Fails a call whose caller no longer waits. */
    const give = (error: StorageError): void => {
      fail(error)
      this.#giveUp(waiting)
    }
    const settle = (answer: Answer, buffers: RowBuffers): void => {
      if (answer.op === 'failed') return fail(failureIn(answer))
      leave()
      const result = read(answer, buffers)
      if (result === undefined)
        reject(new StorageError('unavailable', `the store sent ${answer.op} for ${call.op}`))
      else resolve(result)
    }
    const waiting: PendingCall = { call, put, rows, settle, fail, id: undefined }
    signal?.addEventListener('abort', onAbort, { once: true })
    this.#waitingBytes += bytes
    this.#outgoing.push(waiting)
    this.#sendSoon()
    return promise
  }

  /**
   * Drops a call that was not sent, or stops a range that is being read. A write that was sent is
   * still tracked, because event feeds must receive its event.
   */
  #giveUp(waiting: PendingCall): void {
    const { id, call, put } = waiting
    if (id === undefined) {
      this.#outgoing = this.#outgoing.filter((one) => one !== waiting)
      this.#waitingBytes -= put?.length ?? 0
    } else if (call.op === 'range' && this.#waiting.delete(id)) {
      this.#cancelled.push(id)
      this.#sendSoon()
    }
  }

  #sendSoon(): void {
    if (this.#isSendDue) return
    this.#isSendDue = true
    this.#time.defer(() => {
      this.#isSendDue = false
      this.#send()
      if (this.#outgoing.length > 0) this.#sendSoon()
    })
  }

  /**
   * Sends the calls of a tick in one message. Calls for which the message has no room are sent
   * later.
   */
  #send(): void {
    if (this.#worker === undefined || (this.#outgoing.length === 0 && this.#cancelled.length === 0))
      return
    let length = 0
    const fits = this.#outgoing.findIndex(({ put }) => (length += put?.length ?? 0) > MESSAGE_BYTES)
    const outgoing = this.#outgoing.splice(0, fits === -1 ? this.#outgoing.length : fits + 1)
    const bytes = Buffer.allocUnsafeSlow(
      outgoing.reduce((sum, { put }) => sum + (put?.length ?? 0), 0),
    )
    let at = 0
    const calls = outgoing.map((waiting): Call => {
      const id = ++this.#calls
      waiting.id = id
      this.#waiting.set(id, waiting)
      const { call, put } = waiting
      if (call.op !== 'change' || put === undefined) return { ...call, id }
      const start = at
      at += put.copy(bytes, at)
      return { ...call, id, put: { start, end: at } }
    })
    const message: Calls = { calls, bytes, cancelled: this.#cancelled }
    this.#cancelled = []
    this.#worker.postMessage(message, [bytes.buffer])
  }

  #onMessage(message: FromThread): void {
    if (message.kind === 'answers') this.#take(message)
    if (message.kind === 'log') this.#reportLog(message)
    if (message.kind !== 'health') return
    const { fault } = message
    const { log, folder, onUnwritable } = this.#options
    if (fault === undefined) return log('info', 'the store is writable again')
    log('error', 'the store is not writable; reads continue', { error: fault, folder })
    onUnwritable?.(fault)
  }

  #reportLog({ bytes }: LogLength): void {
    const { log, folder } = this.#options
    if (bytes === 0) return log('info', "SQLite's write-ahead log is short again")
    const message =
      "SQLite's write-ahead log keeps growing and cannot be checkpointed: does another program keep reading the file?"
    log('warn', message, { bytes, file: logIn(folder) })
  }

  #take({ answers, bytes, numbers }: Answers): void {
    const buffers = { bytes, numbers }
    for (const answer of answers) {
      const waiting = this.#waiting.get(answer.id)
      if (waiting === undefined) continue
      if (answer.op === 'rows' || answer.op === 'range') {
        takeRows(waiting.rows, answer.rows, buffers)
        if (answer.op === 'rows') continue
      }
      this.#waiting.delete(answer.id)
      this.#waitingBytes -= waiting.put?.length ?? 0
      this.#note(answer, waiting)
      waiting.settle(answer, buffers)
    }
  }

  /**
   * Applies a response to the engine. Event feeds are notified before the writer, because the
   * writer's next read may wait for them.
   */
  #note(answer: Answer, { call, put }: PendingCall): void {
    if (answer.op === 'compacted') this.#compacted = answer.compacted
    if (answer.op === 'granted' && call.op === 'grant')
      this.#startLeases([{ ...call, id: answer.lease }])
    if (answer.op === 'revoked') {
      if (call.op === 'revoke') this.#deadlines.delete(call.lease)
      for (const { revision, keys } of answer.deletions) {
        this.#commit(
          revision,
          keys.map((key) => deletionOf(key, revision)),
        )
      }
    }
    // Deleting an absent key succeeds without a new revision.
    if (answer.op !== 'won' || call.op !== 'change' || answer.revision <= this.#revision) return
    const { revision, created: createRevision } = answer
    const { key } = call
    const event: FeedEvent =
      put === undefined
        ? deletionOf(key, revision)
        : { key, type: 'put', revision, createRevision, value: put }
    this.#commit(revision, [event])
  }

  #commit(revision: Revision, events: readonly FeedEvent[]): void {
    this.#revision = revision
    for (const feed of this.#feeds) feed.commit({ revision, events })
  }

  #commitsAfter({
    after,
    most,
    previous,
    from,
    to,
  }: CommitsQuery): Promise<readonly Commit[] | undefined> {
    const call = { op: 'commits', after, most, previous, from, to } as const
    return this.#call(call, {}, {}, (answer, buffers) => commitsOf(answer, buffers, previous)).then(
      ({ commits }) => commits,
    )
  }

  /**
   * Starts leases. If the wall clock was set back, a lease still does not last longer than the time
   * to live for which it was granted.
   */
  #startLeases(leases: OpenedMessage['leases']): void {
    const [wallMs, nowMs] = [this.#time.wallMs(), this.#time.monotonicMs()]
    for (const { id, ttlSeconds, expiresMs } of leases) {
      const leftMs =
        expiresMs === 0 ? ttlSeconds * 1000 : Math.min(expiresMs - wallMs, ttlSeconds * 1000)
      this.#deadlines.set(id, nowMs + Math.max(0, leftMs))
    }
    if (this.#deadlines.size > 0)
      this.#leaseTicker ??= this.#time.every(LEASES_EVERY_MS, () => void this.#endLeases())
  }

  /**
   * Ends leases one at a time. If the store has been stopped for a long time, thousands of keys may
   * have expired, and other writers must not wait for all of them.
   */
  async #endLeases(): Promise<void> {
    if (this.#isEndingLeases) return
    this.#isEndingLeases = true
    const now = this.#time.monotonicMs()
    for (const [id, deadline] of this.#deadlines) {
      if (deadline > now) continue
      try {
        await this.revokeLease(id)
      } catch (error) {
        // If the lease is missing, it has already ended. After any other error, the next check
        // tries again.
        if (!isCode(error, 'missing')) break
        this.#deadlines.delete(id)
      }
    }
    this.#isEndingLeases = false
  }
}

const isWrite = ({ op }: NewCall): boolean => op === 'change' || op === 'grant' || op === 'revoke'

const failureIn = ({
  code,
  message,
  ambiguous,
}: Answer & { readonly op: 'failed' }): StorageError =>
  new StorageError(code, message, { ambiguous })

const cancelled = (signal: AbortSignal | undefined, ambiguous: boolean): StorageError =>
  new StorageError('cancelled', 'the caller has gone', { cause: signal?.reason, ambiguous })

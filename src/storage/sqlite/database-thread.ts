/**
 * Runs calls on the thread of the SQLite file, and decides their order. All writes that arrive
 * while a commit is written to disk form the next commit. A commit with a thousand changes takes as
 * long as a commit with one. Long reads and compactions run in slices, so that writers do not wait
 * until they end.
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { StorageError } from '../errors.ts'
import { CommitError, type SqliteDatabase } from './database.ts'
import { LogGrowth } from './log-growth.ts'
import type {
  Answer,
  Call,
  Calls,
  ChangeCall,
  End,
  FromThread,
  GrantCall,
  RangeCall,
  RevokeCall,
} from './messages.ts'
import { PackedRows, type RowsOffset } from './packed-rows.ts'
import { failureOf, isFull } from './sqlite-errors.ts'
import type { StoredEvent, StoredVersion } from './stored.ts'

/**
 * Time for which writes are rejected without an attempt after a write has failed. Otherwise
 * thousands of writes per second would be attempted on a full disk.
 */
const REFUSED_MS = 200

/**
 * Time for which a range is read before the thread checks for messages. A step can take some
 * milliseconds longer.
 */
const SLICE_MS = 2

/**
 * Maximum size of the values in one commit. After a disk has hung, hundreds of megabytes may be
 * queued, and reads would have to wait until all of them are written.
 */
const COMMIT_BYTES = 16 * 1024 * 1024

type WriteCall = ChangeCall | GrantCall | RevokeCall
type SentCall = { readonly call: Call; readonly bytes: Uint8Array }
/** A range that has not been read completely. */
type OpenRange = { readonly id: number; readonly steps: ReturnType<SqliteDatabase['range']> }

const isWrite = (call: Call): call is WriteCall =>
  call.op === 'change' || call.op === 'grant' || call.op === 'revoke'

export class DatabaseThread {
  readonly #database: SqliteDatabase
  readonly #port: MessagePort
  /** Ranges that are being read, in the order in which they take turns. */
  #readings: OpenRange[] = []
  #isTurnDue = false
  #isEnding = false
  #isSweepBroken = false
  readonly #logGrowth: LogGrowth
  /** The error with which writes fail, and the time of the next attempt. */
  #fault: { readonly error: unknown; readonly retryMs: number } | undefined

  constructor(database: SqliteDatabase, port: MessagePort) {
    this.#database = database
    this.#port = port
    this.#logGrowth = new LogGrowth(() => database.logBytes)
  }

  /**
   * Handles this message and all messages that have arrived, up to the maximum size of a commit.
   */
  take(message: Calls | End): void {
    const messages = [message]
    for (let length = lengthOf(message); length < COMMIT_BYTES; ) {
      const more: { readonly message: Calls | End } | undefined = receiveMessageOnPort(this.#port)
      if (more === undefined) break
      messages.push(more.message)
      length += lengthOf(more.message)
    }
    const calls = messages.filter((one) => 'calls' in one)
    this.#cancel(new Set(calls.flatMap(({ cancelled }) => cancelled)))
    const sent = calls.flatMap(({ calls: all, bytes }) =>
      all.map((call): SentCall => ({ call, bytes })),
    )
    const packed = new PackedRows()
    this.#post([...this.#write(sent, packed), ...this.#read(sent, packed)], packed)
    if (messages.some((one) => 'end' in one)) this.#end()
    else this.#goOn()
    this.#checkLog()
  }

  #post(answers: readonly Answer[], packed: PackedRows): void {
    if (answers.length === 0) return
    const { bytes, numbers } = packed.buffers()
    const message: FromThread = { kind: 'answers', answers, bytes, numbers }
    this.#port.postMessage(message, [bytes.buffer, numbers.buffer])
  }

  #write(sent: readonly SentCall[], packed: PackedRows): Answer[] {
    const writes = sent.flatMap(({ call, bytes }) => (isWrite(call) ? [{ call, bytes }] : []))
    if (writes.length === 0) return []
    if (this.#fault !== undefined && performance.now() < this.#fault.retryMs) {
      const { error } = this.#fault
      return writes.map(({ call: { id } }) => failed(id, error, false))
    }
    try {
      const answers = this.#database.commit(() =>
        writes.map(({ call, bytes }) => this.#writeOne(call, bytes, packed)),
      )
      this.#heal()
      return answers
    } catch (error) {
      const isAmbiguous = error instanceof CommitError && !isFull(error) && !this.#overwrites()
      this.#fail(error)
      return writes.map(({ call: { id } }) => failed(id, error, isAmbiguous))
    }
  }

  #writeOne(call: WriteCall, bytes: Uint8Array, packed: PackedRows): Answer {
    const { id } = call
    try {
      if (call.op === 'grant') {
        return { op: 'granted', id, lease: this.#database.grant(call.ttlSeconds, call.expiresMs) }
      }
      if (call.op === 'revoke')
        return { op: 'revoked', id, deletions: this.#database.revoke(call.lease) }
      const put = call.put && bytes.subarray(call.put.start, call.put.end)
      const { key, expected, unchanged, lease } = call
      const changed = this.#database.change({
        key,
        expected,
        unchanged,
        ...(put && { put }),
        ...(lease !== undefined && { lease }),
      })
      if (changed.won)
        return { op: 'won', id, revision: changed.revision, created: changed.created }
      const { revision, current } = changed
      return { op: 'lost', id, revision, current: current && packedRows(packed, [current]) }
    } catch (error) {
      // A StorageError makes only the call that caused it fail. Any other error, such as one of
      // SQLite, makes the whole commit fail.
      if (error instanceof StorageError) return failed(id, error, false)
      throw error
    }
  }

  /**
   * Makes another commit after a failed one. Returns true if the failed commit certainly did not
   * take effect.
   */
  #overwrites(): boolean {
    try {
      this.#database.overwriteFailedCommit()
      return true
    } catch {
      return false
    }
  }

  #fail(error: unknown): void {
    if (this.#fault === undefined) {
      const { message } = failureOf(error)
      this.#port.postMessage({ kind: 'health', fault: message } satisfies FromThread, [])
    }
    this.#fault = { error, retryMs: performance.now() + REFUSED_MS }
  }

  #heal(): void {
    if (this.#fault === undefined) return
    this.#fault = undefined
    this.#isSweepBroken = false
    this.#port.postMessage({ kind: 'health', fault: undefined } satisfies FromThread, [])
  }

  #checkLog(): void {
    if (this.#isEnding) return
    const bytes = this.#logGrowth.check(performance.now())
    if (bytes !== undefined) this.#port.postMessage({ kind: 'log', bytes } satisfies FromThread, [])
  }

  #read(sent: readonly SentCall[], packed: PackedRows): Answer[] {
    return sent.flatMap(({ call }) => (isWrite(call) ? [] : [this.#readOne(call, packed)]))
  }

  #readOne(call: Exclude<Call, WriteCall>, packed: PackedRows): Answer {
    const { id } = call
    try {
      if (call.op === 'range') return this.#begin(call, packed)
      if (call.op === 'compact') {
        this.#database.compact(call.revision)
        this.#isSweepBroken = false
        return { op: 'compacted', id, compacted: this.#database.compacted }
      }
      if (call.op === 'note') {
        this.#database.keepCompactionNote(call.note)
        return { op: 'noted', id }
      }
      const found = this.#database.commitsAfter(call)
      const { compacted } = this.#database
      const rows = found && packedEvents(packed, found.rows, call.previous)
      return { op: 'commits', id, rows, upTo: found?.upTo ?? call.after, compacted }
    } catch (error) {
      return failed(id, error, false)
    }
  }

  #begin({ id, from, to, limit, values: wanted, revision }: RangeCall, packed: PackedRows): Answer {
    const steps = this.#database.range({ from, to, limit, values: wanted }, revision)
    return this.#slice({ id, steps }, packed)
  }

  /** Reads until the time slice is used up, so that most ranges need only one response. */
  #slice(reading: OpenRange, packed: PackedRows): Answer {
    const { id, steps } = reading
    const endMs = performance.now() + SLICE_MS
    const here = packed.here()
    let count = 0
    do {
      const step = steps.next()
      if (step.done === true) return { op: 'range', id, ...step.value, rows: { ...here, count } }
      for (const row of step.value) packed.add(row)
      count += step.value.length
    } while (performance.now() < endMs)
    this.#readings.push(reading)
    return { op: 'rows', id, rows: { ...here, count } }
  }

  #cancel(ids: ReadonlySet<number>): void {
    if (ids.size === 0) return
    for (const { id, steps } of this.#readings)
      if (ids.has(id)) steps.return({ revision: 0, count: 0 })
    this.#readings = this.#readings.filter(({ id }) => !ids.has(id))
  }

  /** Schedules the next slice. Messages that arrive before it are handled first. */
  #goOn(): void {
    if (this.#isTurnDue || this.#isEnding) return
    if (this.#readings.length === 0 && !this.#isSweepable) return
    this.#isTurnDue = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isTurnDue = false
    if (this.#isEnding) return
    const reading = this.#readings.shift()
    if (reading !== undefined) {
      const packed = new PackedRows()
      this.#post([this.#sliceOrFail(reading, packed)], packed)
    }
    if (this.#isSweepable) this.#sweep()
    this.#goOn()
    this.#checkLog()
  }

  #sliceOrFail(reading: OpenRange, packed: PackedRows): Answer {
    try {
      return this.#slice(reading, packed)
    } catch (error) {
      return failed(reading.id, error, false)
    }
  }

  get #isSweepable(): boolean {
    return !this.#isSweepBroken && this.#database.isSweepDue
  }

  #sweep(): void {
    try {
      this.#database.sweep()
    } catch {
      // The deletion of compacted versions failed, possibly because the disk is full. The deletion
      // is retried after a successful write and after the next compaction.
      this.#isSweepBroken = true
    }
  }

  #end(): void {
    this.#isEnding = true
    for (const { steps } of this.#readings) steps.return({ revision: 0, count: 0 })
    this.#database[Symbol.dispose]()
    this.#port.close()
  }
}

const lengthOf = (message: Calls | End): number => ('calls' in message ? message.bytes.length : 0)

function failed(id: number, error: unknown, isAmbiguous: boolean): Answer {
  const ambiguous = isAmbiguous || (error instanceof StorageError && error.ambiguous)
  return { op: 'failed', id, ...failureOf(error), ambiguous }
}

function packedRows(packed: PackedRows, rows: readonly StoredVersion[]): RowsOffset {
  const here = packed.here()
  for (const row of rows) packed.add(row)
  return { ...here, count: rows.length }
}

function packedEvents(
  packed: PackedRows,
  events: readonly StoredEvent[],
  previous: boolean,
): RowsOffset {
  const here = packed.here()
  for (const event of events) {
    packed.add(event)
    if (previous) packed.addPrevious(event.previous)
  }
  return { ...here, count: events.length }
}

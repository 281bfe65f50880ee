/**
 * The thread that has the SQLite file. What came while the last commit was written to the disk becomes the next one: a commit costs
 * the same whether it holds one change or a thousand.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { StorageError } from '../errors.ts'
import { type DatabaseOptions, SqliteDatabase, type StoredEvent, type StoredVersion } from './database.ts'
import { lockFolder } from './folder-lock.ts'
import type {
  Answer,
  Call,
  Calls,
  ChangeCall,
  End,
  EventRow,
  FromThread,
  GrantCall,
  Place,
  RevokeCall,
  Row,
} from './messages.ts'

type WriteCall = ChangeCall | GrantCall | RevokeCall

const isWrite = (call: Call): call is WriteCall => call.op === 'change' || call.op === 'grant' || call.op === 'revoke'

/** Values of a message, one behind the other. */
class Values {
  readonly #parts: Uint8Array[] = []
  #length = 0

  add(value: Uint8Array): Place {
    const start = this.#length
    this.#parts.push(value)
    this.#length += value.length
    return { start, end: this.#length }
  }

  bytes(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#length)
    let at = 0
    for (const part of this.#parts) {
      bytes.set(part, at)
      at += part.length
    }
    return bytes
  }
}

class Thread {
  readonly #database: SqliteDatabase
  readonly #port: MessagePort
  #isEnding = false

  constructor(database: SqliteDatabase, port: MessagePort) {
    this.#database = database
    this.#port = port
  }

  /** Takes all that has come, and what comes while a compaction is swept. */
  take(message: Calls | End): void {
    const messages = [message]
    for (let more = receiveMessageOnPort(this.#port); more !== undefined; more = receiveMessageOnPort(this.#port)) {
      messages.push(more.message)
    }
    this.#answer(messages.filter((one): one is Calls => 'calls' in one))
    if (messages.some((one) => 'end' in one)) this.#end()
    else if (this.#database.isSweepDue) setImmediate(() => this.#sweep())
  }

  #answer(messages: readonly Calls[]): void {
    if (messages.length === 0) return
    const values = new Values()
    const calls = messages.flatMap(({ calls: all, bytes }) => all.map((call) => ({ call, bytes })))
    const answers = [...this.#write(calls, values), ...this.#read(calls, values)]
    const bytes = values.bytes()
    this.#port.postMessage({ kind: 'answers', answers, bytes } satisfies FromThread, [bytes.buffer])
  }

  #write(calls: readonly { readonly call: Call; readonly bytes: Uint8Array }[], values: Values): Answer[] {
    const writes = calls.flatMap(({ call, bytes }) => (isWrite(call) ? [{ call, bytes }] : []))
    if (writes.length === 0) return []
    try {
      return this.#database.commit(() => writes.map(({ call, bytes }) => this.#writeOne(call, bytes, values)))
    } catch (error) {
      // Whether the commit reached the disk is not known of every error; the next start shows it.
      return writes.map(({ call: { id } }) => failed(id, error, true))
    }
  }

  #writeOne(call: WriteCall, bytes: Uint8Array, values: Values): Answer {
    const { id } = call
    try {
      if (call.op === 'grant') return { op: 'granted', id, lease: this.#database.grant(call.ttlSeconds) }
      if (call.op === 'revoke') {
        const keys = this.#database.revoke(call.lease)
        return { op: 'revoked', id, keys, revision: this.#database.revision }
      }
      const put = call.put && bytes.subarray(call.put.start, call.put.end)
      const { key, expected, lease } = call
      const changed = this.#database.change({
        key,
        expected,
        ...(put && { put }),
        ...(lease !== undefined && { lease }),
      })
      if (changed.won) return { op: 'won', id, revision: changed.revision, created: changed.created }
      const { revision, current } = changed
      return { op: 'lost', id, revision, current: current && rowOf(current, values) }
    } catch (error) {
      // A refusal is the answer to one call; an error of SQLite is one to all of the commit.
      if (error instanceof StorageError) return failed(id, error, false)
      throw error
    }
  }

  #read(calls: readonly { readonly call: Call }[], values: Values): Answer[] {
    return calls.flatMap(({ call }) => (isWrite(call) ? [] : [this.#readOne(call, values)]))
  }

  #readOne(call: Exclude<Call, WriteCall>, values: Values): Answer {
    const { id } = call
    try {
      if (call.op === 'compact') {
        this.#database.compact(call.revision)
        return { op: 'compacted', id, compacted: this.#database.compacted }
      }
      if (call.op === 'commits') {
        const found = this.#database.commitsAfter(call)
        const { compacted } = this.#database
        const rows = found?.rows.map((row) => eventRowOf(row, values))
        return { op: 'commits', id, rows, upTo: found?.upTo ?? call.after, compacted }
      }
      const { revision, rows, count } = this.#database.range(call)
      return { op: 'range', id, revision, count, rows: rows.map((row) => rowOf(row, values)) }
    } catch (error) {
      return failed(id, error, false)
    }
  }

  #sweep(): void {
    if (this.#isEnding) return
    try {
      this.#database.sweep()
    } catch {
      // A full disk, for example: the next compaction tries again.
      return
    }
    if (this.#database.isSweepDue) setImmediate(() => this.#sweep())
  }

  #end(): void {
    this.#isEnding = true
    this.#database[Symbol.dispose]()
    this.#port.close()
  }
}

function rowOf({ key, revision, created, value }: StoredVersion, values: Values): Row {
  return { key, revision, created, value: values.add(value) }
}

function eventRowOf({ key, revision, created, value, previous }: StoredEvent, values: Values): EventRow {
  const place = value && values.add(value)
  return { key, revision, created, value: place, previous: previous && rowOf(previous, values) }
}

const SQLITE_FULL = 13

function failed(id: number, error: unknown, isAmbiguous: boolean): Answer {
  if (error instanceof StorageError) {
    return { op: 'failed', id, code: error.code, message: error.message, ambiguous: error.ambiguous || isAmbiguous }
  }
  const message = error instanceof Error ? error.message : String(error)
  const isFull = error instanceof Error && 'errcode' in error && Number(error.errcode) % 256 === SQLITE_FULL
  return { op: 'failed', id, code: isFull ? 'no-space' : 'unavailable', message, ambiguous: isAmbiguous }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Locked first: another process may be writing the file. */
function open(options: DatabaseOptions & { readonly folder: string }, port: MessagePort): void {
  try {
    const lock = lockFolder(options.folder)
    const database = new SqliteDatabase(options)
    const thread = new Thread(database, port)
    port.on('message', (message: Calls | End) => thread.take(message))
    port.on('close', () => lock[Symbol.dispose]())
    const { databaseId, revision, compacted } = database
    port.postMessage({
      kind: 'opened',
      databaseId,
      revision,
      compacted,
      leases: database.leases(),
    } satisfies FromThread)
  } catch (error) {
    port.postMessage({ kind: 'refused', message: messageOf(error) } satisfies FromThread)
    port.close()
  }
}

if (parentPort !== null) open(workerData, parentPort)

/**
 * Compares the contents of the store with the writes that killed processes have acknowledged. Each
 * revision is exactly one write, so lost, repeated and unknown writes are detected. The check
 * begins with the state at the last check, applies all later revisions, and expects the current
 * state.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync, writeSync } from 'node:fs'

/** The range of the keys that the processes write. */
export const crashRange = { from: '/crash/', to: '/crash0' }
/**
 * Maximum number of concurrent writes of a process. When the process is killed, at most this many
 * stored writes are not acknowledged.
 */
export const IN_FLIGHT_MAX = 8

/** A write. `what` is the tag of the value (see `valueOf`), or '-' if the key was deleted. */
export type Write = { readonly revision: number; readonly key: string; readonly what: string }

export type CheckedHistory = { readonly revision: number; readonly state: readonly Write[] }

export type Expected = {
  /** The result of the last check. */
  readonly checked: CheckedHistory
  /**
   * Acknowledged writes since the last check. Each process checks the store before it writes, so
   * all of these writes belong to the process that made the last check.
   */
  readonly acknowledged: readonly Write[]
  /**
   * Number of the process that receives this data. The process includes it in its values, so that
   * no value is written twice.
   */
  readonly life: number
}

export type StoreReading = {
  readonly revision: number
  readonly compacted: number
  readonly eventsAfter: (revision: number) => Promise<readonly Write[]> | readonly Write[]
  readonly stateAt: (revision: number) => Promise<readonly Write[]> | readonly Write[]
}

const KEYS_OF_WRITER = 5
const SMALL_BYTES = 3_000
/** Some values are long. They fill SQLite's log, which SQLite then copies to the main file. */
const LONG_EVERY = 41
const LONG_BYTES = 150_000

export const keyOf = (writer: number, n: number): string => `/crash/${writer}/${n % KEYS_OF_WRITER}`

export const tagOf = (life: number, writer: number, n: number): string => `${life}-${writer}-${n}`

/** Returns the value for a tag. The tag determines all bytes of the value. */
export function valueOf(tag: string): Buffer {
  const [life = 0, writer = 0, n = 0] = tag.split('-').map(Number)
  const salt = life * 31 + writer * 7 + n
  return Buffer.from(
    `${tag} ${'x'.repeat(salt % LONG_EVERY === 0 ? LONG_BYTES : (salt * 97) % SMALL_BYTES)}`,
  )
}

export function whatOf(value: Uint8Array): string {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length)
  const tag = bytes.subarray(0, Math.max(0, bytes.indexOf(' '))).toString('latin1')
  assert.ok(bytes.equals(valueOf(tag)), `the value of ${tag} is damaged`)
  return tag
}

export const readExpected = (file: string): Expected => JSON.parse(readFileSync(file, 'utf8'))

export const writeExpected = (file: string, expected: Expected): void =>
  writeFileSync(file, JSON.stringify(expected))

const STDOUT = 1
const FULL_MS = 1

/**
 * Writes the text to the parent process immediately, because a killed process does not flush its
 * output.
 */
export function tell(text: string): void {
  for (let rest = Buffer.from(text); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(STDOUT, rest))
    } catch (error) {
      // The pipe is full, because the parent process has not read the last lines yet.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_MS)
    }
  }
}

export async function checkHistory(
  store: StoreReading,
  expected: Expected,
): Promise<CheckedHistory> {
  const { checked, acknowledged } = expected
  const { revision } = store
  const newest = acknowledged.reduce(
    (last, write) => Math.max(last, write.revision),
    checked.revision,
  )
  assert.ok(revision >= newest, `the store is at ${revision}, and ${newest} was acknowledged`)
  const reported = new Map(acknowledged.map((write) => [write.revision, write]))
  assert.equal(reported.size, acknowledged.length, 'no revision was acknowledged twice')
  assert.ok(
    acknowledged.every((write) => write.revision > checked.revision),
    'no revision was used again',
  )
  const untold = revision - checked.revision - reported.size
  assert.ok(untold <= IN_FLIGHT_MAX, `${untold} writes were never reported`)

  const start = Math.max(checked.revision, store.compacted)
  const state = mapOf(start === checked.revision ? checked.state : await store.stateAt(start))
  if (start > checked.revision) checkCompacted(state, expected, start)
  const tags = new Set<string>([...state.values()].map(({ what }) => what))
  let last = start
  for (const event of await store.eventsAfter(start)) {
    assert.equal(event.revision, ++last, 'every revision is there exactly once')
    const write = reported.get(last)
    if (write !== undefined)
      assert.deepEqual(event, write, 'the stored write is the acknowledged one')
    if (event.what === '-') state.delete(event.key)
    else {
      assert.ok(!tags.has(event.what), `${event.what} was written twice`)
      tags.add(event.what)
      state.set(event.key, event)
    }
  }
  assert.equal(last, revision, 'history goes up to the latest revision')
  const found = await store.stateAt(revision)
  assert.deepEqual(found, sorted(state), 'history ends in the state')
  return { revision, state: found }
}

const mapOf = (writes: readonly Write[]): Map<string, Write> =>
  new Map(writes.map((write) => [write.key, write]))

const sorted = (state: ReadonlyMap<string, Write>): Write[] =>
  [...state.values()].sort((a, b) => (a.key < b.key ? -1 : 1))

/**
 * Checks the state at a compacted revision, which contains only the last write of each key. Each of
 * these writes must have been acknowledged, unless a kill may have prevented this.
 */
function checkCompacted(
  state: ReadonlyMap<string, Write>,
  { checked, acknowledged }: Expected,
  start: number,
): void {
  const before = acknowledged.filter(({ revision }) => revision <= start)
  const reported = new Set(before.map(({ revision }) => revision))
  const lastOf = mapOf([...checked.state, ...before.toSorted((a, b) => a.revision - b.revision)])
  const untold = start - checked.revision - reported.size
  let others = 0
  for (const [key, write] of lastOf) {
    const found = state.get(key)
    if (found?.revision === write.revision) assert.deepEqual(found, write)
    else if (found !== undefined || write.what !== '-') {
      assert.ok(
        found === undefined || (found.revision > write.revision && !reported.has(found.revision)),
        `${key} is lost`,
      )
      others++
    }
  }
  for (const [key, { revision }] of state) {
    if (lastOf.has(key)) continue
    assert.ok(
      revision > checked.revision && !reported.has(revision),
      `${key} was not written by any process`,
    )
    others++
  }
  assert.ok(
    others <= untold,
    `${others} keys have values that were not acknowledged, but only ${untold} acknowledgments were cut off`,
  )
}

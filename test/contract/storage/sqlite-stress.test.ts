/**
 * Stresses the transfer of rows from the store's thread in transferable buffers. Many ranges,
 * writes, deletions, compactions and canceled reads run at the same time. The hash of every row is
 * compared with the acknowledged write: when the row arrives, and again one round later, after
 * other messages have been transferred. `STRESS_SECONDS=600 node
 * test/contract/storage/sqlite-stress.test.ts` is the long run. The name of the test contains the
 * seed.
 */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type {
  FeedEvent,
  RangeResult,
  Key,
  RangeQuery,
  Revision,
  VersionedValue,
} from '../../../src/storage/engine.ts'
import { isCode } from '../../../src/storage/errors.ts'
import { SqliteEngine } from '../../../src/storage/sqlite/sqlite-engine.ts'
import { Random } from '../../chaos/simulation/random.ts'
import { until } from './subject.ts'

const SECONDS = Number(process.env['STRESS_SECONDS'] ?? 3)
const SEED = Number(process.env['STRESS_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const KEYS = 1_500
/** Number of writes per round. */
const WRITES = 120
const READS = 30
const LONG_BYTES = 300_000

const whole = { from: '/s/', to: '/s0' }
const keyOf = (n: number): Key => `/s/${String(n).padStart(5, '0')}`
const digest = (bytes: Uint8Array): string => hash('sha1', bytes, 'base64')

/** A version of a key. It is a deletion if `digest` is undefined. */
type Version = {
  readonly revision: Revision
  readonly created: Revision
  readonly digest: string | undefined
}
type Row = readonly [key: Key, revision: Revision, created: Revision, digest: string]
type Event = readonly [key: Key, revision: Revision, digest: string | undefined]

const rowOf = ({ key, revision, createRevision, value }: VersionedValue): Row => [
  key,
  revision,
  createRevision,
  digest(value),
]
const eventOf = ({ key, revision, type, value }: FeedEvent): Event => [
  key,
  revision,
  type === 'delete' ? undefined : digest(value),
]

/** A model of the store. It contains the acknowledged writes. */
class Model {
  readonly #versions = new Map<Key, Version[]>()
  readonly events: Event[] = []

  latest(key: Key): Revision {
    const last = this.#versions.get(key)?.at(-1)
    return last?.digest === undefined ? 0 : last.revision
  }

  add(key: Key, revision: Revision, digested: string | undefined): void {
    const before = this.#versions.get(key) ?? []
    const last = before.at(-1)
    const created = last?.digest === undefined ? revision : last.created
    this.#versions.set(key, [...before, { revision, created, digest: digested }])
    this.events.push([key, revision, digested])
  }

  rows({ from, to }: RangeQuery, at: Revision): Row[] {
    return [...this.#versions.keys()].toSorted().flatMap((key): Row[] => {
      const found = this.#versions.get(key)?.findLast(({ revision }) => revision <= at)
      if (key < from || key >= to || found?.digest === undefined) return []
      return [[key, found.revision, found.created, found.digest]]
    })
  }

  /** Removes versions that no read can request any longer. */
  forget(at: Revision): void {
    for (const [key, versions] of this.#versions) {
      const first = versions.findLastIndex(({ revision }) => revision <= at)
      if (first > 0) this.#versions.set(key, versions.slice(first))
    }
  }
}

type ReadRecord = {
  readonly query: RangeQuery
  readonly found: RangeResult
  readonly rows: readonly Row[]
}
type AcknowledgedWrite = {
  readonly key: Key
  readonly revision: Revision
  readonly digest: string | undefined
}

class Stress {
  readonly #random: Random
  readonly #engine: SqliteEngine
  readonly #model = new Model()
  readonly #told: Event[] = []
  #compacted: Revision = 0
  readonly counts = {
    rounds: 0,
    writes: 0,
    rows: 0,
    ranges: 0,
    cancelled: 0,
    compactions: 0,
    replayed: 0,
  }

  constructor(engine: SqliteEngine, random: Random) {
    this.#engine = engine
    this.#random = random
    engine.openFeed([{ ...whole, after: 1 }], {
      onEvents: (_, events) => this.#told.push(...events.map(eventOf)),
      onProgress: () => undefined,
      onCompacted: () => assert.fail('the feed is never behind a compaction'),
      onEnd: () => undefined,
    })
  }

  /** Runs one round. Returns the rows that it has read, for a second check after the next round. */
  async round(): Promise<readonly ReadRecord[]> {
    const random = this.#random
    const begun = await this.#engine.latest()
    const writes: Promise<AcknowledgedWrite | undefined>[] = []
    const reads: Promise<ReadRecord | undefined>[] = []
    const work: (() => void)[] = [
      ...this.#someKeys(WRITES).map((key) => () => void writes.push(this.#write(key))),
      ...Array.from({ length: READS }, () => () => void reads.push(this.#read(begun))),
    ]
    while (work.length > 0) {
      work.splice(random.between(0, work.length - 1), 1)[0]?.()
      // Pause only sometimes, so that some calls are sent together, and others while earlier calls
      // are in progress.
      if (random.chance(0.05)) await new Promise((resolve) => setImmediate(resolve))
    }
    const compacting = random.chance(0.3) ? this.#compact(begun) : undefined
    const acknowledged = (await Promise.all(writes)).filter((one) => one !== undefined)
    for (const { key, revision, digest: digested } of acknowledged.toSorted(
      (a, b) => a.revision - b.revision,
    ))
      this.#model.add(key, revision, digested)
    const found = (await Promise.all(reads)).filter((one) => one !== undefined)
    await compacting
    for (const one of found) this.check(one)
    await until(() => this.#told.length >= this.#model.events.length, 'the feed has all events')
    assert.deepEqual(this.#told.splice(0), this.#model.events.splice(0))
    this.#model.forget(this.#compacted)
    this.counts.rounds++
    this.counts.writes += acknowledged.length
    return found
  }

  check({ query, found, rows }: ReadRecord): void {
    const { limit = 0, countOnly = false, keysOnly = false } = query
    const expected = this.#model.rows(query, found.revision)
    assert.equal(found.count, expected.length)
    assert.equal(found.more, !countOnly && limit > 0 && expected.length > limit)
    const shown = countOnly ? [] : limit === 0 ? expected : expected.slice(0, limit)
    const empty = digest(Buffer.alloc(0))
    assert.deepEqual(
      rows,
      keysOnly ? shown.map(([key, revision, created]) => [key, revision, created, empty]) : shown,
    )
    this.counts.ranges++
    this.counts.rows += rows.length
  }

  /** Reads the whole remaining history with previous values, and compares it with the model. */
  async replay(): Promise<void> {
    const latest = await this.#engine.latest()
    const after = Math.max(1, this.#compacted)
    const reported: FeedEvent[] = []
    const reached = Promise.withResolvers<void>()
    const stream = this.#engine.openFeed(
      [{ ...whole, after }],
      {
        onEvents: (_, events) => {
          reported.push(...events)
          if ((events.at(-1)?.revision ?? 0) >= latest) reached.resolve()
        },
        onProgress: () => reached.resolve(),
        onCompacted: () =>
          reached.reject(new Error('history after the compacted revision is missing')),
        onEnd: (cause) => reached.reject(cause ?? new Error('the feed ended')),
      },
      { previous: true },
    )
    stream.requestProgress()
    const before = new Map(this.#model.rows(whole, after).map((row) => [row[0], row]))
    await reached.promise
    reached.promise.catch(() => undefined)
    stream.close()
    for (const event of reported) {
      const previous = before.get(event.key)
      assert.deepEqual(event.previous && rowOf(event.previous), previous)
      if (event.type === 'delete') before.delete(event.key)
      else before.set(event.key, rowOf({ ...event }))
    }
    assert.deepEqual([...before.values()].toSorted(byKey), this.#model.rows(whole, latest))
    this.counts.replayed += reported.length
  }

  /**
   * Returns distinct keys. A key is written only once per round, because the result of a write is
   * not known before the end of the round.
   */
  #someKeys(count: number): Key[] {
    const keys = new Set<Key>()
    while (keys.size < count) keys.add(keyOf(this.#random.between(0, KEYS - 1)))
    return [...keys]
  }

  async #write(key: Key): Promise<AcknowledgedWrite | undefined> {
    const random = this.#random
    const expected = this.#model.latest(key)
    const isDeletion = expected > 0 && random.chance(0.2)
    const put = bytesOf(random)
    const digested = isDeletion ? undefined : digest(put)
    const changing = this.#engine.change({ key, expected, write: isDeletion ? 'delete' : { put } })
    // Overwrite the buffer, as callers may do. The engine must already have copied it.
    put.fill(0)
    const { won, revision } = await changing
    assert.ok(won, `${key} is at ${expected}`)
    return { key, revision, digest: digested }
  }

  /**
   * Returns undefined if the read was canceled, or if its revision was compacted in the meantime.
   */
  async #read(begun: Revision): Promise<ReadRecord | undefined> {
    const random = this.#random
    const [from, to] = [random.between(0, KEYS), random.between(0, KEYS)].toSorted((a, b) => a - b)
    const revision = random.chance(0.4)
      ? random.between(Math.max(1, this.#compacted), begun)
      : undefined
    const query: RangeQuery = {
      ...(random.chance(0.3) ? whole : { from: keyOf(from ?? 0), to: keyOf(to ?? KEYS) }),
      ...(revision !== undefined && { revision }),
      limit: random.pick([0, 0, 1, 20, 250, 700]),
      countOnly: random.chance(0.1),
      keysOnly: random.chance(0.1),
    }
    const cancelling = new AbortController()
    if (random.chance(0.1)) setImmediate(() => cancelling.abort())
    try {
      const found = await this.#engine.range(query, { signal: cancelling.signal })
      return { query, found, rows: found.values.map(rowOf) }
    } catch (error) {
      if (isCode(error, 'cancelled')) this.counts.cancelled++
      else if (!isCode(error, 'compacted') || revision === undefined || revision >= this.#compacted)
        throw error
      return undefined
    }
  }

  async #compact(begun: Revision): Promise<void> {
    if (begun <= this.#compacted + 1) return
    const revision = this.#random.between(this.#compacted + 1, begun)
    this.#compacted = revision
    await this.#engine.compact(revision)
    this.counts.compactions++
  }
}

const byKey = ([a]: Row, [b]: Row): number => (a < b ? -1 : 1)

/** Returns random bytes. Most values are as small as usual objects; some need several slices. */
function bytesOf(random: Random): Buffer {
  const length = random.chance(0.01)
    ? LONG_BYTES
    : random.between(0, random.chance(0.1) ? 20_000 : 1_500)
  const bytes = Buffer.alloc(length)
  for (let at = 0; at + 4 <= length; at += 4)
    bytes.writeUInt32LE(Math.floor(random.next() * 2 ** 32), at)
  return bytes
}

test(`ranges and event feeds return exactly the acknowledged writes during concurrent compactions (seed ${SEED})`, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-stress-'))
  t.after(() => rmSync(folder, { recursive: true }))
  await using engine = await SqliteEngine.open({ folder, isDurable: false })
  const stress = new Stress(engine, new Random(SEED))
  const endMs = performance.now() + SECONDS * 1000
  let earlier: readonly ReadRecord[] = []
  do {
    const reads = await stress.round()
    for (const { found, rows } of earlier) assert.deepEqual(found.values.map(rowOf), rows)
    earlier = reads
    if (stress.counts.rounds % 10 === 0) await stress.replay()
  } while (performance.now() < endMs)
  const { rounds, writes, ranges, compactions } = stress.counts
  assert.ok(rounds > 0 && writes > 0 && ranges > 0)
  if (SECONDS > 60) assert.ok(compactions > 0)
  t.diagnostic(JSON.stringify(stress.counts))
})

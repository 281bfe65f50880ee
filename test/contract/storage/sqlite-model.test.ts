/**
 * Compares the SQLite database with the in-memory one after the same random operations. Every range
 * at every revision must be equal, even with writes between two slices of a read.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemTime } from '../../../src/lib/time/timers.ts'
import { MemoryDatabase } from '../../../src/storage/memory/database.ts'
import { SqliteDatabase } from '../../../src/storage/sqlite/database.ts'
import type { StoredVersion } from '../../../src/storage/sqlite/stored.ts'
import { Random } from '../../chaos/simulation/random.ts'

const STEPS = 1_500
const KEYS = 40
const CHECK_EVERY = 25

const keyOf = (n: number): string => `/m/${String(n).padStart(2, '0')}`

const below = (random: Random, end: number): number => random.between(0, end - 1)

type Row = readonly [key: string, revision: number, created: number, value: string]

const ofStored = ({ key, revision, created, value }: StoredVersion): Row => [
  key,
  revision,
  created,
  Buffer.from(value).toString(),
]

class Both implements Disposable {
  readonly random: Random
  readonly memory = new MemoryDatabase(systemTime, () => undefined)
  readonly #folder = mkdtempSync(join(tmpdir(), 'keelson-model-'))
  readonly sqlite = new SqliteDatabase({
    file: join(this.#folder, 'a'),
    isDurable: false,
    sliceRows: 3,
  })
  #leases = 0

  constructor(seed: number) {
    this.random = new Random(seed)
  }

  change(): void {
    const { random, memory, sqlite } = this
    const kind = below(random, 20)
    if (kind === 0) return this.#lease()
    if (kind === 1 && memory.revision > memory.compacted + 30) {
      const revision = memory.compacted + 1 + below(random, memory.revision - memory.compacted)
      memory.compact(revision)
      sqlite.compact(revision)
      return
    }
    const key = keyOf(below(random, KEYS))
    const expected = memory.get(key)?.revision ?? 0
    const lease = this.#leases > 0 && below(random, 8) === 0 ? BigInt(this.#leases) : undefined
    const isDeletion = below(random, 3) === 0
    const put = Buffer.from(`${memory.revision}`)
    const outcome = memory.change({
      key,
      expected,
      write: isDeletion ? 'delete' : { put, ...(lease !== undefined && { lease }) },
    })
    const changed = sqlite.commit(() =>
      sqlite.change({
        key,
        expected,
        ...(!isDeletion && { put, ...(lease !== undefined && { lease }) }),
      }),
    )
    assert.deepEqual([changed.won, changed.revision], [outcome.won, outcome.revision])
  }

  /** Grants a new lease, and revokes the previous one. */
  #lease(): void {
    const { memory, sqlite } = this
    if (this.#leases > 0) {
      memory.revoke(BigInt(this.#leases))
      sqlite.commit(() => sqlite.revoke(BigInt(this.#leases)))
    }
    memory.grant(BigInt(++this.#leases), 60)
    assert.equal(
      sqlite.commit(() => sqlite.grant(60, 0)),
      BigInt(this.#leases),
    )
    assert.equal(sqlite.revision, memory.revision)
  }

  /** Compares a range at a random revision, with writes between the slices of the read. */
  async compare(): Promise<void> {
    const { random, memory, sqlite } = this
    const oldest = Math.max(1, memory.compacted)
    const revision = oldest + below(random, memory.revision - oldest + 1)
    const [a, b] = [below(random, KEYS), below(random, KEYS)]
    const [from, to] = [keyOf(Math.min(a, b)), keyOf(Math.max(a, b) + 1)]
    const limit = below(random, 3) === 0 ? 1 + below(random, 10) : 0
    const expected = await memory.range({ from, to, revision, limit })
    const steps = sqlite.range({ from, to, limit, values: 'all' }, revision)
    const rows: Row[] = []
    for (;;) {
      const step = steps.next()
      if (step.done === true) {
        assert.deepEqual(step.value, { revision, count: expected.count })
        break
      }
      rows.push(...step.value.map(ofStored))
      for (let n = below(random, 4); n > 0; n--) this.change()
      if (sqlite.isSweepDue) sqlite.sweep()
    }
    const wanted = expected.values.map(
      (one): Row => [one.key, one.revision, one.createRevision, one.value.toString()],
    )
    assert.deepEqual(rows, wanted)
  }

  /**
   * Compares the pages of a list. In each page, `count` is the number of keys in this and all later
   * pages.
   */
  async comparePages(): Promise<void> {
    const { random, memory, sqlite } = this
    const revision = memory.revision
    const limit = random.between(2, 6)
    const [wanted, found]: [number[], number[]] = [[], []]
    const all = (await memory.range({ from: '/m/', to: '/m0', revision })).values.map(
      ({ key }) => key,
    )
    for (let from = '/m/', n = 0; n < all.length; n += limit) {
      const steps = sqlite.range({ from, to: '/m0', limit, values: 'none' }, revision)
      const rows: StoredVersion[] = []
      let step = steps.next()
      for (; step.done !== true; step = steps.next()) {
        rows.push(...step.value)
        this.change()
      }
      found.push(step.value.count)
      wanted.push(all.length - n)
      assert.deepEqual(
        rows.map(({ key }) => key),
        all.slice(n, n + limit),
      )
      from = `${rows.at(-1)?.key}\0`
      if (memory.compacted > revision) break
    }
    assert.deepEqual(found, wanted)
  }

  [Symbol.dispose](): void {
    this.sqlite[Symbol.dispose]()
    rmSync(this.#folder, { recursive: true })
  }
}

for (const seed of [1, 2, 3, Math.floor(Math.random() * 2 ** 31)]) {
  test(`the SQLite and in-memory databases return equal ranges at every revision (seed ${seed})`, async () => {
    using both = new Both(seed)
    for (let step = 0; step < STEPS; step++) {
      both.change()
      if (below(both.random, 5) === 0 && both.sqlite.isSweepDue) both.sqlite.sweep()
      if (step % CHECK_EVERY === 0) await both.compare()
      if (step % (4 * CHECK_EVERY) === 0) await both.comparePages()
    }
  })
}

/**
 * Tests compaction of a folder that several processes use one after the other. Each of them uses it
 * for less time than the compaction interval.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { silent } from '../../../src/lib/telemetry/log.ts'
import { rangeOf } from '../../../src/storage/keys.ts'
import { IntervalCompactor } from '../../../src/storage/interval-compactor.ts'
import { SqliteEngine } from '../../../src/storage/sqlite/sqlite-engine.ts'
import { SteppedTime } from '../../support/harness/stepped-time.ts'
import { bytes, failsWith } from './subject.ts'

const MINUTE_MS = 60_000
const INTERVAL_MS = 5 * MINUTE_MS

const root = mkdtempSync(join(tmpdir(), 'keelson-interval-'))
after(() => rmSync(root, { recursive: true, force: true }))

/**
 * A data folder that simulated processes open one after the other. The wall clock of these
 * processes is simulated.
 */
class Folder {
  readonly #folder = mkdtempSync(join(root, 'store-'))
  #wallMs = Date.UTC(2026, 0, 1)
  #written = 0

  /**
   * Simulates a process that opens the folder for `ms` milliseconds and writes once at the
   * beginning. Returns the revision of this write.
   */
  async live(ms: number): Promise<number> {
    await using engine = await SqliteEngine.open({ folder: this.#folder, isDurable: false })
    const stepped = new SteppedTime()
    const { after: timer, every, defer, monotonicMs } = stepped
    const startMs = this.#wallMs
    const time = { after: timer, every, defer, monotonicMs, wallMs: () => startMs + monotonicMs() }
    await using _ = new IntervalCompactor({ engine, time, log: silent, intervalMs: INTERVAL_MS })
    const write = { put: bytes(this.#written++) }
    const { values } = await engine.range(rangeOf('/x/'))
    const { revision } = await engine.change({
      key: '/x/a',
      expected: values[0]?.revision ?? 0,
      write,
    })
    stepped.advance(ms)
    this.#wallMs += ms
    return revision
  }

  /** Advances the wall clock while no process runs. A negative value sets the clock back. */
  pass(ms: number): void {
    this.#wallMs += ms
  }

  async read(revision: number): Promise<unknown> {
    await using engine = await SqliteEngine.open({ folder: this.#folder })
    return await engine.range({ ...rangeOf('/x/'), revision })
  }
}

test('processes that stop before one interval has passed still compact, and keep one interval of history', async () => {
  const folder = new Folder()
  const written: number[] = []
  for (let n = 0; n < 6; n++) written.push(await folder.live(3 * MINUTE_MS))
  for (const revision of written.slice(0, 3))
    await assert.rejects(folder.read(revision), failsWith('compacted'))
  for (const revision of written.slice(3)) await folder.read(revision)
})

test('history that is older than the interval when a process starts is compacted soon after the start', async () => {
  const folder = new Folder()
  const first = await folder.live(1_000)
  const second = await folder.live(1_000)
  folder.pass(60 * MINUTE_MS)
  const third = await folder.live(2_000)
  await folder.read(first)
  folder.pass(60 * MINUTE_MS)
  await folder.live(2_000)
  await assert.rejects(folder.read(second), failsWith('compacted'))
  await folder.read(third)
})

test('after the clock is set back, the next compaction waits for exactly one interval', async () => {
  const folder = new Folder()
  const first = await folder.live(6 * MINUTE_MS)
  folder.pass(-600 * MINUTE_MS)
  const second = await folder.live(4 * MINUTE_MS)
  await folder.read(first - 1)
  await folder.live(2 * MINUTE_MS)
  await assert.rejects(folder.read(first - 1), failsWith('compacted'))
  await folder.read(second)
})

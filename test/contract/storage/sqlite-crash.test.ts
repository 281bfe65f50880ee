/**
 * Kills processes with SIGKILL at random times. Afterwards, every acknowledged write must be
 * present exactly once and in order. The next process that opens the folder checks this
 * (`crash-history.ts`), so that kills also interrupt the recovery from SQLite's log. Each folder
 * survives many crashes. `CRASHES=10000 CRASH_SECONDS=3000` is the long run, in which each crash
 * requires a start of Node.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { build } from 'esbuild'
import { SqliteDatabase } from '../../../src/storage/sqlite/database.ts'
import {
  type CheckedHistory,
  checkHistory,
  type Expected,
  type Write,
  writeExpected,
} from './crash-history.ts'
import { readingOf } from './crash-reading.ts'
import { canPreload } from './preload.ts'

const CRASHES = Number(process.env['CRASHES'] ?? 24)
/**
 * Maximum duration of the run in seconds. After this time, the run ends even if there were fewer
 * crashes.
 */
const SECONDS_MAX = Number(process.env['CRASH_SECONDS'] ?? 600)
/**
 * Number of folders. About a dozen crashes happen in each. There are more folders than cores,
 * because commits wait for the disk.
 */
const FOLDERS = Math.max(1, Math.min(Math.ceil(CRASHES / 12), 5 * availableParallelism()))
/**
 * Maximum number of acknowledged writes before a process is killed. Processes are not killed after
 * a fixed time, because on a busy machine this could be before the first write.
 */
const LIVES_WRITES_MAX = 60
/**
 * Maximum delay in ms between the last acknowledged write and the kill. Because the delay is
 * random, a kill can interrupt any operation.
 */
const LIVES_MS_MAX = 3
const REPORTED_EVERY = 500
/**
 * One in this many processes runs the complete engine, which stores data in its own thread. The
 * other processes have no such thread, so they start faster.
 */
const ENGINES_EVERY = 4
type Kind = 'sqlite-writer' | 'sqlite-committer'

const folder = mkdtempSync(join(tmpdir(), 'keelson-crash-'))
const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})
const library = join(folder, 'kill-at-write.so')
const canKillAtWrite = canPreload('kill-at-write.c', library)
// All code is bundled into one file and compiled once, instead of for each process.
const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') }
await build({
  entryPoints: [
    'sqlite-writer.ts',
    'sqlite-committer.ts',
    '../../../src/storage/sqlite/sqlite-worker.ts',
  ].map((file) => join(import.meta.dirname, file)),
  bundle: true,
  platform: 'node',
  format: 'esm',
  outdir: folder,
  entryNames: '[name]',
  outExtension: { '.js': '.mjs' },
})

/**
 * The moment at which a process is killed: while it opens and checks the store, after a number of
 * writes, or during a file operation.
 */
type Moment =
  | { readonly when: 'opening'; readonly share: number }
  | { readonly when: 'writing'; readonly writes: number }
  | { readonly when: 'at-write'; readonly at: string }

const between = (low: number, high: number): number =>
  low + Math.floor(Math.random() * (high - low + 1))

/**
 * Kinds of file operations. `most` is the approximate number of operations of this kind in a
 * process. `parts` are the moments of an operation at which the process can be killed.
 */
const calls = [
  { what: 'wal', most: 300, parts: ['before', 'half', 'after'] },
  { what: 'file', most: 40, parts: ['before', 'half', 'after'] },
  { what: 'flush', most: 25, parts: ['before', 'after'] },
  { what: 'unlink', most: 1, parts: ['before', 'after'] },
] as const

function randomMoment(): Moment {
  const dice = Math.random()
  if (dice < 0.35) return { when: 'opening', share: Math.random() * 1.2 }
  const call = calls[between(0, calls.length - 1)]
  if (dice < 0.65 || !canKillAtWrite || call === undefined) {
    return { when: 'writing', writes: between(0, LIVES_WRITES_MAX) }
  }
  const { what, most, parts } = call
  return {
    when: 'at-write',
    at: `${what} ${between(1, most)} ${parts[between(0, parts.length - 1)]}`,
  }
}

/** Moving average of the time for opening and checking a store, for each kind of process. */
const openingMs = { 'sqlite-writer': 100, 'sqlite-committer': 30 }

/** Runs a process until it is killed. Returns its complete output lines. */
async function crash(path: string, kind: Kind, moment: Moment): Promise<string[]> {
  const killAt = moment.when === 'at-write' ? { LD_PRELOAD: library, KILL_AT: moment.at } : {}
  const child = spawn(process.execPath, [join(folder, `${kind}.mjs`), path, `${path}.expected`], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...env, ...killAt },
  })
  children.add(child)
  const lines: string[] = []
  let [rest, openedMs, isDue] = ['', 0, false]
  /**
   * Number of acknowledged writes after which the process is killed. Each write prints a line. Two
   * other lines precede these lines.
   */
  const writesMax = moment.when === 'writing' ? moment.writes : LIVES_WRITES_MAX
  const killIn = (ms: number): void => {
    if (isDue) return
    isDue = true
    setTimeout(() => child.kill('SIGKILL'), ms)
  }
  child.stdout.setEncoding('latin1')
  child.stdout.on('data', (text: string) => {
    const now = performance.now()
    const reported = (rest + text).split('\n')
    rest = reported.pop() ?? ''
    if (lines.length === 0) {
      openedMs = now
      if (moment.when === 'opening') killIn(moment.share * openingMs[kind])
    }
    if (lines.length <= 1 && lines.length + reported.length > 1) {
      openingMs[kind] += (now - openedMs - openingMs[kind]) / 10
    }
    lines.push(...reported)
    if (lines.length >= 2 + writesMax) killIn(Math.random() * LIVES_MS_MAX)
  })
  const [, [code, signal]] = await Promise.all([once(child.stdout, 'close'), once(child, 'exit')])
  children.delete(child)
  assert.equal(
    signal,
    'SIGKILL',
    `the process ended by itself (${code}): ${lines.slice(-3).join(', ')}`,
  )
  assert.equal(lines[0], 'opening')
  return lines
}

function writeOf(line: string): Write {
  const [revision = '', key = '', what = ''] = line.split(' ')
  assert.match(line, /^\d+ \/crash\/\d\/\d (-|\d+-\d-\d+)$/)
  return { revision: Number(revision), key, what }
}

class Folder {
  readonly #path: string
  #checked: CheckedHistory = { revision: 1, state: [] }
  #acknowledged: readonly Write[] = []
  #lives = 0

  constructor(path: string) {
    this.#path = path
    mkdirSync(path)
  }

  /**
   * Returns the number of acknowledged writes, or undefined if the process was killed before it had
   * checked the store.
   */
  async crash(moment: Moment): Promise<number | undefined> {
    const kind = this.#lives % ENGINES_EVERY === 0 ? 'sqlite-writer' : 'sqlite-committer'
    writeExpected(`${this.#path}.expected`, this.#expected)
    this.#lives++
    const [, checked, ...writes] = await crash(this.#path, kind, moment)
    if (checked === undefined) return undefined
    assert.match(checked, /^checked /)
    this.#checked = JSON.parse(checked.slice('checked '.length))
    this.#acknowledged = writes.map(writeOf)
    return writes.length
  }

  async check(): Promise<void> {
    using database = new SqliteDatabase({
      file: join(this.#path, 'keelson.sqlite'),
      isDurable: true,
    })
    await checkHistory(readingOf(database), this.#expected)
  }

  get #expected(): Expected {
    return { checked: this.#checked, acknowledged: this.#acknowledged, life: this.#lives }
  }
}

test(`after up to ${CRASHES} crashes, no acknowledged write is lost or repeated`, async () => {
  const counts = { crashes: 0, opening: 0, writes: 0 }
  const startMs = performance.now()
  const isOver = (): boolean =>
    counts.crashes >= CRASHES || performance.now() > startMs + SECONDS_MAX * 1000
  const report = (): void => {
    const { crashes, opening, writes } = counts
    const seconds = Math.round((performance.now() - startMs) / 1000)
    console.log(
      `${crashes} processes killed in ${seconds} s, ${opening} before the store was checked; ${writes} writes`,
    )
  }
  const live = async (store: Folder): Promise<void> => {
    while (!isOver()) {
      counts.crashes++
      const writes = await store.crash(randomMoment())
      if (writes === undefined) counts.opening++
      counts.writes += writes ?? 0
      if (counts.crashes % REPORTED_EVERY === 0) report()
    }
    await store.check()
  }
  await Promise.all(
    Array.from({ length: FOLDERS }, (_, n) => live(new Folder(join(folder, `${n}`)))),
  )
  assert.ok(counts.writes > 0, 'writes were acknowledged')
  report()
})

/**
 * Measures a server with a large data folder: `node bench/engine/million.ts [--objects N]
 * [--etcd]`. Reports how long the server takes to start, how much memory it uses, and how long
 * writes take while all objects are listed. With --etcd, also measures a server on etcd with the
 * same objects.
 */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { rangeOf } from '../../src/storage/keys.ts'
import { SqliteDatabase } from '../../src/storage/sqlite/database.ts'
import { SqliteEngine } from '../../src/storage/sqlite/sqlite-engine.ts'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { startKeelson } from '../../test/support/harness/keelson.ts'
import { residentMiB } from '../server/process-usage.ts'

const VALUE_BYTES = 1_024
const COMMIT_OBJECTS = 2_000
const QUOTA_BYTES = 8 * 2 ** 30
/** Wait after each start of the server, long enough for its startup work to finish. */
const SETTLED_MS = 5_000
const PAGE_ROWS = 500

const { values: flags } = parseArgs({
  options: { objects: { type: 'string' }, etcd: { type: 'boolean' } },
})
const OBJECTS = Number(flags.objects ?? 1_000_000)
const keelson = join(import.meta.dirname, '..', '..', 'bin', 'keelson')

const seconds = (sinceMs: number): string => ((performance.now() - sinceMs) / 1000).toFixed(1)

function objectOf(n: number): Buffer {
  const metadata = {
    name: `n${n}`,
    namespace: `ns${n % 100}`,
    uid: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    creationTimestamp: '2026-01-01T00:00:00Z',
  }
  const empty = JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata, data: { x: '' } })
  return Buffer.from(empty.replace('"x":""', `"x":"${'x'.repeat(VALUE_BYTES - empty.length)}"`))
}

function fill(file: string): void {
  const startMs = performance.now()
  closeSync(openSync(file, 'wx', 0o600))
  using database = new SqliteDatabase({ file, isDurable: false })
  for (let n = 0; n < OBJECTS; n += COMMIT_OBJECTS) {
    database.commit(() => {
      for (let i = n; i < Math.min(n + COMMIT_OBJECTS, OBJECTS); i++) {
        const key = `/registry/configmaps/ns${i % 100}/n${i}`
        database.change({ key, expected: 0, put: objectOf(i) })
      }
    })
  }
  console.log(`${OBJECTS} objects of ${VALUE_BYTES} bytes in ${seconds(startMs)} s`)
}

/**
 * Lists all objects in one call, then in pages. Meanwhile, one writer measures how long its writes
 * take.
 */
async function listWhileWriting(folder: string): Promise<void> {
  await using engine = await SqliteEngine.open({ folder })
  let [slowestMs, turnMs, writes, isOver] = [0, 0, 0, false]
  const writing = async (): Promise<void> => {
    for (; !isOver; writes++) {
      const beganMs = performance.now()
      await engine.change({
        key: `/bench/${writes}`,
        expected: 0,
        write: { put: Buffer.from('x') },
      })
      slowestMs = Math.max(slowestMs, performance.now() - beganMs)
    }
  }
  let before = performance.now()
  const ticker = setInterval(() => {
    turnMs = Math.max(turnMs, performance.now() - before - 1)
    before = performance.now()
  }, 1)
  const written = writing()
  const startMs = performance.now()
  const range = rangeOf('/registry/')
  let [from, revision, listed]: [string | undefined, number, number] = [range.from, 0, 0]
  while (from !== undefined) {
    const page = await engine.range({
      from,
      to: range.to,
      limit: PAGE_ROWS,
      ...(revision > 0 && { revision }),
    })
    listed += page.values.length
    revision = page.revision
    const last = page.values.at(-1)
    from = page.more && last !== undefined ? `${last.key}\0` : undefined
  }
  const pagesSeconds = seconds(startMs)
  const keysMs = performance.now()
  const { count } = await engine.range({ ...range, keysOnly: true }, { timeoutMs: 120_000 })
  isOver = true
  await written
  clearInterval(ticker)
  console.log(
    `listed ${listed} in pages of ${PAGE_ROWS} in ${pagesSeconds} s, the ${count} keys at once in ${seconds(keysMs)} s; ` +
      `${writes} writes at the same time, the slowest ${slowestMs.toFixed(0)} ms, longest turn ${turnMs.toFixed(0)} ms`,
  )
}

async function start(what: string, options: Parameters<typeof startKeelson>[0]): Promise<void> {
  const startMs = performance.now()
  await using server = await startKeelson(options)
  const took = seconds(startMs)
  await sleep(SETTLED_MS)
  console.log(`server on ${what}: ready after ${took} s, ${residentMiB(server.pid).toFixed(0)} MiB`)
}

const root = mkdtempSync(join(tmpdir(), 'keelson-million-'))
try {
  const folder = join(root, 'store')
  await (await SqliteEngine.open({ folder }))[Symbol.asyncDispose]()
  rmSync(join(folder, 'keelson.sqlite'))
  fill(join(folder, 'keelson.sqlite'))
  await start('a folder', { etcdUrl: '', omit: ['etcd-servers'], args: [`--data-dir=${folder}`] })
  await listWhileWriting(folder)
  if (flags.etcd === true) {
    const file = join(root, 'dump')
    const exportMs = performance.now()
    execFileSync(keelson, ['store', 'export', `--data-dir=${folder}`, `--file=${file}`])
    console.log(`exported in ${seconds(exportMs)} s`)
    await using etcd = await startEtcd({ args: ['--quota-backend-bytes', String(QUOTA_BYTES)] })
    const importMs = performance.now()
    execFileSync(keelson, [
      'store',
      'import',
      `--etcd-servers=${etcd.clientUrl}`,
      `--file=${file}`,
      '--revisions-ahead=0',
    ])
    console.log(`imported into etcd in ${seconds(importMs)} s`)
    await start('etcd', { etcdUrl: etcd.clientUrl })
  }
} finally {
  rmSync(root, { recursive: true })
}

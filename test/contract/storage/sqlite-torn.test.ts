/**
 * Simulates a crash of the machine while a commit or a checkpoint is being written. Afterwards,
 * each sector of the disk contains its old bytes, its new bytes, or garbage. Earlier commits must
 * be intact, and the last commit must be present completely or not at all.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { SqliteDatabase } from '../../../src/storage/sqlite/database.ts'
import { Random } from '../../chaos/simulation/random.ts'

const COMMITS = 60
const TEARS_OF_EACH = 2
const SECTOR_BYTES = 512
const KEYS = 30
/**
 * Maximum size of a value, large enough that SQLite copies its log back to the file a few times.
 */
const VALUE_BYTES_MAX = 300_000

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))

type Bytes = { readonly file: Buffer; readonly log: Buffer }

const nothing = Buffer.alloc(0)

const readBytes = (file: string): Bytes => ({
  file: readFileSync(file),
  log: existsSync(`${file}-wal`) ? readFileSync(`${file}-wal`) : nothing,
})

/**
 * Returns a file as it could be after a crash during a write. Each sector that the write changed
 * contains its old bytes, its new bytes, or garbage after some intact bytes. The length of the file
 * is the old or the new one.
 */
function tear(before: Buffer, now: Buffer, random: Random): Buffer {
  if (random.chance(0.2)) return now
  const torn = Buffer.alloc(random.pick([before, now]).length)
  for (let at = 0; at < torn.length; at += SECTOR_BYTES) {
    const [one, other] = [
      before.subarray(at, at + SECTOR_BYTES),
      now.subarray(at, at + SECTOR_BYTES),
    ]
    const kind = one.equals(other) ? 'new' : random.pick(['old', 'new', 'new', 'garbage'] as const)
    ;(kind === 'old' ? one : other).copy(torn, at)
    // In a sector with garbage, the bytes before the first changed byte remain intact, as on all
    // current disks.
    const first = kind === 'garbage' ? other.findIndex((byte, n) => byte !== one[n]) : -1
    if (first !== -1) torn.subarray(at + first, at + SECTOR_BYTES).fill(random.between(0, 255))
  }
  return torn
}

type State = { readonly revision: number; readonly keys: readonly string[] }

function stateOf(database: SqliteDatabase): State {
  const rows = [...database.range({ from: '/t/', to: '/t0', limit: 0, values: 'all' }, 0)].flat()
  const keys = rows.map(
    ({ key, revision, value }) => `${key} ${revision} ${value.length} ${value[0] ?? 0}`,
  )
  return { revision: database.revision, keys }
}

function write(database: SqliteDatabase, random: Random): void {
  database.commit(() => {
    for (let n = random.between(1, 4); n > 0; n--) {
      const key = `/t/${random.between(1, KEYS)}`
      const { revision = 0 } =
        [...database.range({ from: key, to: `${key}\0`, limit: 1, values: 'none' }, 0)].flat()[0] ??
        {}
      const put = Buffer.alloc(
        random.between(1, random.chance(0.7) ? VALUE_BYTES_MAX : 2_000),
        random.between(1, 255),
      )
      database.change({ key, expected: revision, ...(!random.chance(0.2) && { put }) })
    }
  })
}

/**
 * Opens a store whose file and log have these bytes, as after a crash. Returns the state of the
 * store.
 */
function reopen(file: string, { file: main, log }: Bytes): State {
  for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true })
  writeFileSync(file, main)
  writeFileSync(`${file}-wal`, log)
  using database = new SqliteDatabase({ file, isDurable: false })
  return stateOf(database)
}

test(`a commit that is interrupted by a crash is present completely or not at all (seed ${seed})`, () => {
  const random = new Random(seed)
  const folder = mkdtempSync(join(tmpdir(), 'keelson-torn-'))
  const [file, torn] = [join(folder, 'a'), join(folder, 'torn', 'a')]
  mkdirSync(join(folder, 'torn'))
  const counts = { before: 0, after: 0, checkpoints: 0 }
  {
    using database = new SqliteDatabase({ file, isDurable: true })
    for (let commit = 0; commit < COMMITS; commit++) {
      const [bytes, state] = [readBytes(file), stateOf(database)]
      write(database, random)
      const [now, next] = [readBytes(file), stateOf(database)]
      const isCheckpoint = !now.file.equals(bytes.file)
      if (isCheckpoint) counts.checkpoints++
      for (let n = 0; n < TEARS_OF_EACH; n++) {
        // Damage only one of the two files. During a checkpoint, the log is intact, because SQLite
        // flushes it before it copies any part of it to the main file.
        const found = isCheckpoint
          ? reopen(torn, { file: tear(bytes.file, now.file, random), log: now.log })
          : reopen(torn, { file: now.file, log: tear(bytes.log, now.log, random) })
        const isOld = found.revision === state.revision && !isCheckpoint
        assert.deepEqual(found, isOld ? state : next)
        counts[isOld ? 'before' : 'after']++
      }
    }
  }
  assert.ok(counts.before > 0 && counts.after > 0 && counts.checkpoints > 0, JSON.stringify(counts))
  rmSync(folder, { recursive: true })
})

/**
 * As `sqlite-writer.ts`, without the thread: it starts in half the time, so that thousands can be killed. It commits, compacts and sweeps
 * as the thread does.
 */
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { SqliteDatabase } from '../../../src/storage/sqlite/database.ts'

const [folder = ''] = process.argv.slice(2)
const COMPACTED_EVERY = 60
const STDOUT = 1
const database = new SqliteDatabase({ file: join(folder, 'keelson.sqlite'), isDurable: true })
writeSync(STDOUT, 'open\n')

for (let n = 0; ; n++) {
  // Commits of one to eight writes.
  const told = database.commit(() => Array.from({ length: 1 + (n % 8) }, (_, writer) => write(n, writer)))
  writeSync(STDOUT, told.join(''))
  if (n % COMPACTED_EVERY === COMPACTED_EVERY - 1) database.compact(database.revision - 1)
  if (database.isSweepDue) database.sweep()
}

function write(n: number, writer: number): string {
  const key = `/crash/${writer}/${n % 5}`
  const steps = database.range({ from: key, to: `${key}\0`, limit: 0, values: 'none' }, 0)
  const expected = [...steps].flat()[0]?.revision ?? 0
  const isDeletion = expected > 0 && n % 7 === 0
  const put = Buffer.from(`${process.pid}-${n} ${'x'.repeat((n * 97) % 3000)}`)
  const { won, revision } = database.change({ key, expected, ...(!isDeletion && { put }) })
  if (!won) throw new Error(`somebody else wrote ${key}`)
  return `${revision} ${key} ${isDeletion ? '-' : `${process.pid}-${n}`}\n`
}

/** A process that writes to a store on SQLite, and prints what was acknowledged, until it is killed. */
import { writeSync } from 'node:fs'
import { SqliteEngine } from '../../../src/storage/sqlite/sqlite-engine.ts'

const [folder = ''] = process.argv.slice(2)
const WRITERS = 8
/** History is forgotten every so many writes, so that kills hit compaction and sweeps too. */
const COMPACTED_EVERY = 60
const STDOUT = 1
const engine = await SqliteEngine.open({ folder })
writeSync(STDOUT, 'open\n')

/** Each has keys of its own, which it creates, changes and deletes in turn. */
async function write(writer: number): Promise<void> {
  for (let n = 0; ; n++) {
    const key = `/crash/${writer}/${n % 5}`
    const { values } = await engine.range({ from: key, to: `${key}\0` })
    const expected = values[0]?.revision ?? 0
    const isDeletion = expected > 0 && n % 7 === 0
    const put = Buffer.from(`${process.pid}-${n} ${'x'.repeat((n * 97) % 3000)}`)
    const outcome = await engine.change({ key, expected, write: isDeletion ? 'delete' : { put } })
    if (!outcome.won) throw new Error(`somebody else wrote ${key}`)
    writeSync(STDOUT, `${outcome.revision} ${key} ${isDeletion ? '-' : `${process.pid}-${n}`}\n`)
    if (outcome.revision % COMPACTED_EVERY === 0) await engine.compact(outcome.revision - 1)
  }
}

await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))

/** A process that writes to a store on SQLite, and prints what was acknowledged, until it is killed. */
import { SqliteEngine } from '../../../src/storage/sqlite/sqlite-engine.ts'

const [folder = '', round = ''] = process.argv.slice(2)
const WRITERS = 8
const engine = await SqliteEngine.open({ folder })
console.log('open')

/** Each has keys of its own, which it creates, changes and deletes in turn. */
async function write(writer: number): Promise<void> {
  for (let n = 0; ; n++) {
    const key = `/crash/${round}/${writer}/${n % 5}`
    const { values } = await engine.range({ from: key, to: `${key}\0` })
    const expected = values[0]?.revision ?? 0
    const isDeletion = expected > 0 && n % 7 === 0
    const put = Buffer.from(`${n} ${'x'.repeat(n % 3000)}`)
    const outcome = await engine.change({ key, expected, write: isDeletion ? 'delete' : { put } })
    if (!outcome.won) throw new Error(`somebody else wrote ${key}`)
    console.log(`${outcome.revision} ${key} ${isDeletion ? '-' : n}`)
  }
}

await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))

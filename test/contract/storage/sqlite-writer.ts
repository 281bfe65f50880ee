/**
 * A process that opens a SQLite store, checks it against the acknowledged writes, and writes to it
 * until it is killed.
 */
import type { FeedEvent } from '../../../src/storage/engine.ts'
import { SqliteEngine } from '../../../src/storage/sqlite/sqlite-engine.ts'
import {
  checkHistory,
  crashRange,
  IN_FLIGHT_MAX,
  keyOf,
  readExpected,
  tagOf,
  tell,
  valueOf,
  whatOf,
  type Write,
} from './crash-history.ts'

const [folder = '', file = ''] = process.argv.slice(2)
/**
 * Number of revisions between compactions. The number is small, so that the process is sometimes
 * killed during a compaction, or while the compacted revisions are deleted.
 */
const COMPACTED_EVERY = 40
const expected = readExpected(file)
tell('opening\n')
const engine = await SqliteEngine.open({ folder })
const revision = await engine.latest()
const followed = await follow(expected.checked.revision)
const store = { revision, compacted: followed.after, eventsAfter: () => followed.writes, stateAt }
const checked = await checkHistory(store, expected)
tell(`checked ${JSON.stringify(checked)}\n`)
await Promise.all(Array.from({ length: IN_FLIGHT_MAX }, (_, writer) => write(writer)))

type WatchedRange = { readonly after: number; readonly writes: readonly Write[] }

/**
 * Reads the events after a revision as a client would. If that revision is compacted, reads from
 * the oldest available revision.
 */
function follow(after: number): Promise<WatchedRange> {
  const writes: Write[] = []
  if (after === revision) return Promise.resolve({ after, writes })
  const { promise, resolve, reject } = Promise.withResolvers<WatchedRange>()
  const feed = engine.openFeed([{ ...crashRange, after }], {
    onEvents: (_, events) => {
      writes.push(...events.map(writeOf))
      if (writes.at(-1)?.revision === revision) resolve({ after, writes })
    },
    onProgress: () => undefined,
    onCompacted: (_, oldest) => resolve(follow(oldest)),
    onEnd: (cause) => cause && reject(cause),
  })
  return promise.finally(() => feed.close())
}

function writeOf({ key, revision: at, type, value }: FeedEvent): Write {
  return { revision: at, key, what: type === 'delete' ? '-' : whatOf(value) }
}

async function stateAt(at: number): Promise<Write[]> {
  const { values } = await engine.range({ ...crashRange, revision: at })
  return values.map(({ key, revision: last, value }) => ({
    revision: last,
    key,
    what: whatOf(value),
  }))
}

/** Creates, changes and deletes keys in turn. No other writer uses these keys. */
async function write(writer: number): Promise<void> {
  for (let n = 0; ; n++) {
    const key = keyOf(writer, n + expected.life)
    const { values } = await engine.range({ from: key, to: `${key}\0` })
    const current = values[0]?.revision ?? 0
    const isDeletion = current > 0 && n % 7 === 0
    const what = tagOf(expected.life, writer, n)
    const outcome = await engine.change({
      key,
      expected: current,
      write: isDeletion ? 'delete' : { put: valueOf(what) },
    })
    if (!outcome.won) throw new Error(`another writer wrote ${key}`)
    tell(`${outcome.revision} ${key} ${isDeletion ? '-' : what}\n`)
    if (outcome.revision % COMPACTED_EVERY === 0) await engine.compact(outcome.revision - 1)
  }
}

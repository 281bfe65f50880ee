/** kill -9 at random moments: what was acknowledged is there, once, in its order. CRASHES=10000 is the long run. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { rangeOf } from '../../../src/storage/keys.ts'
import { SqliteEngine } from '../../../src/storage/sqlite/sqlite-engine.ts'
import { Recorder } from './subject.ts'

const CRASHES = Number(process.env['CRASHES'] ?? 6)
const LIVES_MS_MAX = 120
const writer = join(import.meta.dirname, 'sqlite-writer.ts')

type Acknowledged = { readonly revision: number; readonly key: string; readonly what: string }

/** Kills it some time after it has opened the store. A line that was cut off was not acknowledged. */
async function crash(folder: string, round: number): Promise<Acknowledged[]> {
  const child: ChildProcess = spawn(process.execPath, [writer, folder, `${round}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  assert.ok(child.stdout !== null)
  const reader = createInterface({ input: child.stdout })
  reader.on('line', (line) => {
    if (lines.push(line) === 1) setTimeout(() => child.kill('SIGKILL'), Math.random() * LIVES_MS_MAX)
  })
  await Promise.all([once(child, 'exit'), once(reader, 'close')])
  assert.equal(lines[0], 'open', 'the store opens again after every crash')
  return lines.slice(1).flatMap((line) => {
    const [, revision = '', key = '', what = ''] = /^(\d+) (\S+) (-|\d+)$/.exec(line) ?? []
    return revision === '' ? [] : [{ revision: Number(revision), key, what }]
  })
}

const seen = (text: string): string => text.split(' ', 1)[0] ?? ''

test(`nothing acknowledged is lost or doubled by ${CRASHES} crashes`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-crash-'))
  let last = 1
  let writes = 0
  for (let round = 0; round < CRASHES; round++) {
    const acknowledged = (await crash(folder, round)).toSorted((a, b) => a.revision - b.revision)
    writes += acknowledged.length
    await using engine = await SqliteEngine.open({ folder })
    const latest = await engine.latest()
    assert.ok(latest >= (acknowledged.at(-1)?.revision ?? last))
    using feed = new Recorder(engine, [{ ...rangeOf(`/crash/${round}/`), after: last }])
    await feed.reach(latest)
    const told = new Map(feed.events.map((event) => [event.revision, event]))
    assert.equal(told.size, feed.events.length, 'each revision is one write')
    for (const { revision, key, what } of acknowledged) {
      const event = told.get(revision)
      assert.ok(event !== undefined, `revision ${revision} of ${key} is lost`)
      assert.deepEqual([event.key, event.type === 'delete' ? '-' : seen(event.value)], [key, what])
    }
    // The state is what the history says.
    const state = new Map<string, string>()
    for (const { key, type, value } of feed.events) {
      if (type === 'delete') state.delete(key)
      else state.set(key, seen(value))
    }
    const { values } = await engine.range(rangeOf(`/crash/${round}/`))
    const stored = new Map(values.map(({ key, value }) => [key, seen(value.toString())]))
    assert.deepEqual(stored, state)
    last = latest
  }
  assert.ok(writes > CRASHES, `${writes} writes were acknowledged`)
  rmSync(folder, { recursive: true })
})

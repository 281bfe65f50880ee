/**
 * Compares writes and reads of the storage engines: `node bench/engine/stores.ts`. The engines
 * alternate, so that a temporary slowdown of the machine affects all of them.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EtcdClient } from '../../src/storage/etcd/client.ts'
import type { Engine } from '../../src/storage/engine.ts'
import { EtcdEngine } from '../../src/storage/etcd-engine.ts'
import { keyAfter } from '../../src/storage/keys.ts'
import { MemoryEngine } from '../../src/storage/memory/memory-engine.ts'
import { SqliteEngine } from '../../src/storage/sqlite/sqlite-engine.ts'
import { startEtcd } from '../../test/support/harness/etcd.ts'

const ROUNDS = 3
const ROUND_MS = 2_000
const VALUE_BYTES = 1_024

/**
 * Returns the number of calls per second with the given number of concurrent callers, and the
 * longest tick of the event loop during the round.
 */
async function rate(
  writers: number,
  call: (n: number) => Promise<unknown>,
): Promise<{ perSecond: number; turnMs: number }> {
  const until = performance.now() + ROUND_MS
  let [n, turnMs, before] = [0, 0, performance.now()]
  const ticker = setInterval(() => {
    const now = performance.now()
    turnMs = Math.max(turnMs, now - before - 1)
    before = now
  }, 1)
  const one = async (): Promise<void> => {
    while (performance.now() < until) await call(n++)
  }
  await Promise.all(Array.from({ length: writers }, one))
  clearInterval(ticker)
  return { perSecond: (n * 1000) / ROUND_MS, turnMs }
}

await using stack = new AsyncDisposableStack()
const etcd = stack.use(await startEtcd())
const folder = mkdtempSync(join(tmpdir(), 'keelson-stores-'))
stack.defer(() => rmSync(folder, { recursive: true }))
const engines: Record<string, Engine> = {
  etcd: stack.use(new EtcdEngine(new EtcdClient({ endpoints: [etcd.clientUrl] }))),
  sqlite: stack.use(await SqliteEngine.open({ folder })),
  memory: stack.use(new MemoryEngine()),
}
const put = Buffer.alloc(VALUE_BYTES, 'x')
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

for (const writers of [1, 16, 100]) {
  const results = new Map<string, { creates: number[]; reads: number[]; turns: number[] }>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, engine] of Object.entries(engines)) {
      const keyOf = (n: number): string => `/bench/${writers}/${round}/${n}`
      const created = await rate(writers, (n) =>
        engine.change({ key: keyOf(n), expected: 0, write: { put } }),
      )
      const read = await rate(writers, (n) =>
        engine.range({ from: keyOf(n % 100), to: keyAfter(keyOf(n % 100)) }),
      )
      const known = results.get(name) ?? { creates: [], reads: [], turns: [] }
      results.set(name, known)
      known.creates.push(created.perSecond)
      known.reads.push(read.perSecond)
      known.turns.push(Math.max(created.turnMs, read.turnMs))
    }
  }
  for (const [name, { creates, reads, turns }] of results) {
    const [created, read, turn] = [median(creates), median(reads), Math.max(...turns)]
    console.log(
      `${writers} at once, ${name}: ${created.toFixed(0)} creates/s, ${read.toFixed(0)} reads/s, longest turn ${turn.toFixed(1)} ms`,
    )
  }
}

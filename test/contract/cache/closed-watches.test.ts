import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { SWEEPS_KEPT } from '../../../src/storage/cache/eviction-queue.ts'
import type { Watcher } from '../../../src/storage/cache/watch.ts'
import { ScriptedCache } from '../../support/harness/scripted-engine.ts'

const WATCHES = 100_000
/**
 * Maximum growth of the heap in bytes. Without a leak, the cache changes the size of the heap by
 * less than a megabyte.
 */
const GROWTH_BYTES_MAX = 2 << 20

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

async function collected(): Promise<NodeJS.MemoryUsage> {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
  return process.memoryUsage()
}

const heapBytes = async (): Promise<number> => (await collected()).heapUsed

/** Returns the bytes of all objects and buffers. */
async function memoryBytes(): Promise<number> {
  const { heapUsed, arrayBuffers } = await collected()
  return heapUsed + arrayBuffers
}

test('closed watches do not leak memory, even on a resource without events', async () => {
  await using scripted = new ScriptedCache()
  const { cache, reader, range } = scripted
  await cache.start()
  await reader.list(range, 'any')
  const some: WeakRef<Watcher>[] = []
  const one = async (i: number): Promise<void> => {
    const watcher = await reader.watch({
      range,
      start: { initial: 'any' },
      matches: (item) => item.object().metadata.name === String(i),
    })
    // Call the methods that a server calls for each watch of a client.
    for (let turn = 0; turn < 3; turn++) {
      watcher.take()
      watcher.onReady(() => undefined)
      watcher.requestBookmark()
    }
    watcher.take()
    watcher.onReady(() => undefined)
    watcher.close()
    if (i % 1_000 === 0) some.push(new WeakRef(watcher))
  }
  for (let i = 0; i < 100; i++) await one(i)
  const before = await heapBytes()
  for (let i = 0; i < WATCHES; i++) await one(i)
  const grownBytes = (await heapBytes()) - before
  assert.equal(cache.stats().watchers, 0)
  assert.equal(some.filter((reference) => reference.deref() !== undefined).length, 0)
  assert.ok(grownBytes < GROWTH_BYTES_MAX, `${grownBytes} bytes more than before`)
})

test('a watcher is closed if it reads none of its initial events, but not if it reads some of them', async () => {
  await using scripted = new ScriptedCache()
  const { cache, reader, range } = scripted
  for (let i = 0; i < 8; i++) scripted.put(`a${i}`, 'x'.repeat(200_000))
  await cache.start()
  const watch = (): Promise<Watcher> => reader.watch({ range, start: { initial: 'any' } })
  const [stuck, slow] = await Promise.all([watch(), watch()])
  for (let sweep = 0; sweep <= SWEEPS_KEPT; sweep++) {
    assert.equal(stuck.state, 'replaying')
    if (sweep % 4 === 1) slow.take()
    cache.sweep()
  }
  assert.equal(stuck.closedBecause, 'too-slow')
  assert.equal(slow.state, 'replaying')
  slow.close()
})

test('a watcher that reads its initial events slowly does not keep replaced objects in memory', async () => {
  const [bytes, rounds] = [20_000, 30]
  await using scripted = new ScriptedCache({ budgets: { pastBytes: 20 * bytes } })
  const { cache, engine, reader, range } = scripted
  const names = Array.from({ length: 100 }, (_, i) => `a${i}`)
  for (const name of names) scripted.put(name, 'x'.repeat(bytes))
  await cache.start()
  const before = await memoryBytes()
  const slow: Watcher[] = []
  for (let round = 0; round < rounds; round++) {
    slow.push(await reader.watch({ range, start: { initial: 'any' } }))
    slow.forEach((watcher, at) => (round - at) % SWEEPS_KEPT === 0 && watcher.take())
    engine.emit(...names.map((name) => scripted.put(name, 'y'.repeat(bytes))))
    await reader.list(range, { atLeast: engine.revision })
    cache.sweep()
  }
  const grownBytes = (await memoryBytes()) - before
  assert.ok(grownBytes < 5 * names.length * bytes, `${grownBytes} bytes more than before`)
  assert.deepEqual(new Set(slow.map(({ closedBecause }) => closedBecause)), new Set(['too-slow']))
})

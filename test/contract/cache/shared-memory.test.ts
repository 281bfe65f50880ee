/** Tests caches of two databases that share the memory of --cache-memory-max. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CacheMemory } from '../../../src/storage/cache/cache-memory.ts'
import { ScriptedCache } from '../../support/harness/scripted-engine.ts'

/** Total budget. At least half of it is available to objects. */
const BYTES_MAX = 8 << 20
/**
 * Number of objects per cache. The budget is sufficient for the objects of one cache, but not of
 * both.
 */
const OBJECTS = 30
const value = 'x'.repeat(100_000)

async function filledCache(memory: CacheMemory): Promise<ScriptedCache> {
  const scripted = new ScriptedCache({ memory })
  for (let n = 0; n < OBJECTS; n++) scripted.put(`o-${n}`, value)
  await scripted.cache.start()
  return scripted
}

const listed = async ({ reader, range }: ScriptedCache): Promise<number> =>
  (await reader.list(range, 'latest')).items.length

const objectBytes = (...all: readonly ScriptedCache[]): number =>
  all.reduce((sum, { cache }) => sum + cache.stats().liveBytes, 0)

test('objects of one cache without watchers are evicted when the other cache needs the memory', async () => {
  const memory = new CacheMemory(BYTES_MAX, 2)
  await using first = await filledCache(memory)
  await using second = await filledCache(memory)
  assert.equal(await listed(first), OBJECTS)
  assert.ok(objectBytes(first) > BYTES_MAX / 4)
  assert.equal(await listed(second), OBJECTS)
  assert.equal(second.cache.ceiling.leftOut, 0)
  assert.ok(
    objectBytes(first, second) <= (BYTES_MAX * 3) / 4,
    `${objectBytes(first, second)} bytes`,
  )
})

test('objects that are watched stay in memory, and the other resource is read from its database', async () => {
  const memory = new CacheMemory(BYTES_MAX, 2)
  await using first = await filledCache(memory)
  await using second = await filledCache(memory)
  const { revision } = await first.reader.list(first.range, 'any')
  const watcher = await first.reader.watch({ range: first.range, start: { after: revision } })
  assert.equal(await listed(second), OBJECTS)
  assert.equal(second.cache.ceiling.leftOut, 1)
  assert.notEqual(watcher.state, 'closed')
  assert.ok(
    objectBytes(first, second) <= (BYTES_MAX * 3) / 4,
    `${objectBytes(first, second)} bytes`,
  )
})

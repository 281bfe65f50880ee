import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ScriptedCache } from '../../support/harness/scripted-engine.ts'

const OBJECTS = 60
const nameOf = (i: number): string => `n${String(i).padStart(3, '0')}`

function workFor(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('a page that was selected before a resource was reloaded is not reused after the reload', async () => {
  await using scripted = new ScriptedCache()
  const { cache, engine, reader, range } = scripted
  for (let i = 0; i < OBJECTS; i++) scripted.put(nameOf(i), 'old')
  await cache.start()
  await reader.list(range, 'any')
  engine.emit(scripted.put(nameOf(0), 'old'))
  engine.emit(scripted.put(nameOf(1), 'old')) // The event ring now contains two events.
  let seen = 0
  const paged = reader.list(range, 'any', {
    limit: 1,
    matches: () => {
      workFor(1.2) // The selection takes so long that it is done in several parts.
      return ++seen === OBJECTS - 20
    },
  })
  await sleep(10)
  engine.sink.onCompacted(0, engine.revision + 1_000)
  assert.equal((await paged).more, true)
  while (engine.streams.length < 2) await sleep(1)
  for (let i = 0; i < OBJECTS; i++) engine.emit(scripted.put(nameOf(i), 'new'))
  assert.equal((await reader.list(range, 'latest')).items.length, OBJECTS)
  const { items } = await reader.list(range, { exactly: engine.revision - OBJECTS + 2 })
  assert.equal(items.filter((item) => item.peek()['value'] === 'new').length, 2)
})

test('a watch fails with an error while its resource cannot be reloaded, and succeeds afterwards', async () => {
  await using scripted = new ScriptedCache({ watchReadyMs: 200 })
  const { cache, engine, reader, range } = scripted
  await cache.start()
  const { revision } = await reader.list(range, 'any')
  engine.isHanging = true
  engine.sink.onCompacted(0, engine.revision + 1_000)
  engine.heal()
  engine.isHanging = true // The stream has reported its revision. From now on, it sends nothing.
  await sleep(20)
  for (const start of [{ initial: 'any' as const }, { after: revision }]) {
    await assert.rejects(reader.watch({ range, start }), { code: 'unavailable' })
  }
  assert.equal(cache.stats().watchers, 0)
  engine.heal()
  const watcher = await reader.watch({ range, start: { initial: 'any' } })
  watcher.close()
})

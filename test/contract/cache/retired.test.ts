import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Freshness } from '../../../src/storage/cache/fresh-state.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import { form } from '../../support/harness/plain-cache.ts'
import { ScriptedCache } from '../../support/harness/scripted-engine.ts'
import { turnsDuring } from '../../support/harness/turns.ts'

const decodeAs =
  (value: string): typeof form.decode =>
  (...stored) => ({ ...form.decode(...stored), value })

test('requests that began before a definition changed use the old definition', async () => {
  await using scripted = new ScriptedCache()
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'x')
  await cache.start()
  engine.isHanging = true
  const filling = reader.list(range, 'any')
  await sleep(5)
  cache.remove(range.from)
  engine.heal()
  assert.equal((await filling).items.length, 1)
  const { revision } = engine
  const ways: Freshness[] = ['any', 'latest', { atLeast: revision }, { exactly: revision }]
  for (const at of ways) {
    const listed = await reader.list(range, at)
    assert.deepEqual([listed.items.length, listed.revision], [1, revision], JSON.stringify(at))
    assert.equal((await reader.get(scripted.key('a'), at)).item?.object()['value'], 'x')
  }
  for (const start of [{ initial: 'any' as const }, { after: revision }]) {
    const watcher = await reader.watch({ range, start })
    assert.deepEqual([watcher.take(), watcher.state], [[], 'closed'], 'the client watches again')
  }
  assert.deepEqual(
    [cache.stats().resources, cache.stats().objects, cache.stats().liveBytes],
    [0, 0, 0],
  )
})

test('a reader with an old definition does not load the objects of this definition into memory again', async () => {
  await using scripted = new ScriptedCache()
  const { cache, range } = scripted
  scripted.put('a', 'x')
  await cache.start()
  const spec = { name: 'plain', prefix: range.from, print: form.print }
  const valueOf = async (reader: typeof scripted.reader): Promise<unknown> =>
    (await reader.list(range, 'latest')).items[0]?.object()['value']
  cache.remove(range.from)
  const late = cache.retired({ ...spec, decode: decodeAs('old') })
  assert.equal(await valueOf(late), 'old')
  const current = cache.resource({ ...spec, decode: decodeAs('new') })
  assert.equal(await valueOf(current), 'new')
  assert.equal(await valueOf(late), 'old')
})

test('a list at the latest revision that is read from the database is repeated if the revision is compacted meanwhile', async () => {
  await using scripted = new ScriptedCache()
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'x')
  await cache.start()
  cache.remove(range.from)
  const read = engine.range.bind(engine)
  let compactions = 2
  engine.range = (...query) =>
    compactions-- > 0
      ? Promise.reject(new StorageError('compacted', 'compacted on the way'))
      : read(...query)
  assert.equal((await reader.list(range, 'latest')).items.length, 1)
  compactions = 1
  await assert.rejects(reader.list(range, { exactly: engine.revision }), { code: 'compacted' })
})

const matchesSlowly = (): boolean => {
  const until = performance.now() + 2
  while (performance.now() < until);
  return true
}

test('a list that is read from the database and filtered by a slow selector yields to other work', async () => {
  await using scripted = new ScriptedCache()
  const { cache, engine, reader, range } = scripted
  for (let at = 0; at < 20; at++) scripted.put(`a${at}`, 'x')
  await cache.start()
  cache.remove(range.from)
  const turns = await turnsDuring(async () => {
    assert.equal(
      (await reader.list(range, { exactly: engine.revision }, { matches: matchesSlowly })).items
        .length,
      20,
    )
  })
  // The list yields after each object except the last one. The first and the last tick are not
  // counted, because other code of the test also runs in them.
  assert.ok(turns >= 18, `${turns} ticks`)
})

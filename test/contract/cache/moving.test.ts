import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Freshness } from '../../../src/storage/cache/fresh-state.ts'
import { ScriptedCache } from '../../support/harness/scripted-engine.ts'

test('a list returns the state at its revision, even if objects change while it runs', async () => {
  await using scripted = new ScriptedCache()
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'x')
  await cache.start()
  await reader.list(range, 'any')
  engine.emit(scripted.put('a', 'x'))
  const ways: (() => Freshness)[] = [
    () => 'any',
    () => 'latest',
    () => ({ exactly: engine.revision }),
  ]
  for (const way of ways) {
    const asked = way()
    const listing = reader.list(range, asked)
    for (let i = 0; i < 20; i++) {
      engine.emit(scripted.put('a', 'x'))
      await Promise.resolve()
    }
    const { revision, items } = await listing
    assert.deepEqual(
      items.map((item) => item.revision),
      [revision],
      `${JSON.stringify(asked)}: every revision changes the one object`,
    )
    if (typeof asked === 'object') assert.deepEqual(asked, { exactly: revision })
  }
  const getting = reader.get(scripted.key('a'), 'any')
  for (let i = 0; i < 20; i++) {
    engine.emit(scripted.put('a', 'x'))
    await Promise.resolve()
  }
  const { revision, item } = await getting
  assert.equal(item?.revision, revision)
})

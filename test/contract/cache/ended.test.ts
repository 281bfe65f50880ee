import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ScriptedCache } from '../../support/harness/scripted-engine.ts'

test('when the cache is disposed of, watches that wait for an unresponsive database end', {
  timeout: 120_000,
}, async () => {
  await using scripted = new ScriptedCache()
  const { cache, engine, reader, range } = scripted
  await cache.start()
  engine.isHanging = true
  const first = reader.watch({ range, start: { initial: 'any' } })
  const second = reader.watch({ range, start: { after: engine.revision } })
  await cache[Symbol.asyncDispose]()
  for (const watcher of await Promise.all([first, second]))
    assert.equal(watcher.closedBecause, 'shutdown')
  engine.heal()
})

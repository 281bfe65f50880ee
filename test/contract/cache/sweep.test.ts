import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ScriptedCache } from '../../support/harness/scripted-engine.ts'
import { until } from '../../support/harness/until.ts'

test('after an unexpected error in a comparison with the database is logged, the cache continues to work', async () => {
  const reported: string[] = []
  await using scripted = new ScriptedCache({
    checkEveryMs: 0,
    log: (level, message) => void reported.push(`${level} ${message}`),
  })
  const { cache, engine, reader, range } = scripted
  await cache.start()
  await reader.list(range, 'any')
  engine.range = () => Promise.reject(new TypeError('of the engine'))
  await until(() => {
    cache.sweep()
    return reported.includes('error a comparison with the database failed')
  }, 'it is logged')
  // Wait for a moment. If the error were an unhandled rejection, it would terminate this process.
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.ok(reported.length > 0)
})

/** Tests creates with the names of large objects that already exist. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startCluster } from '../../src/entry/testing/index.ts'
import { bestLongestTurnMs } from '../support/harness/turns.ts'

const path = '/api/v1/namespaces/default/configmaps'

test('creates of large objects whose names already exist do not block the event loop', async () => {
  await using cluster = await startCluster()
  const data = Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`key-${n}`, 'v']))
  const create = (name: string, more = {}): Promise<{ readonly status: number }> =>
    cluster.request({
      method: 'POST',
      path,
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more },
    })
  // Create several objects. The cache cannot keep all of them decoded, because of their size.
  const names = ['a', 'b', 'c']
  for (const name of names) assert.equal((await create(name, { data })).status, 201)
  const longestMs = await bestLongestTurnMs(async () => {
    const creating = Array.from({ length: 20 }, (_, n) => create(names[n % names.length] ?? 'a'))
    for (const { status } of await Promise.all(creating)) assert.equal(status, 409)
  })
  assert.ok(longestMs < 50, `${longestMs} ms`)
})

/**
 * Tests that a keelson/testing cluster which loads its first objects from a file equals a cluster
 * that creates them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFirstObjects, settled } from '../../scripts/first-objects.ts'
import { parseFirstObjects } from '../../src/storage/first-objects.ts'
import { type EngineState, MemoryEngine } from '../../src/storage/memory/memory-engine.ts'
import { startCluster } from '../../src/entry/testing/index.ts'

async function objectsIn(state: EngineState): Promise<Map<string, string>> {
  await using engine = MemoryEngine.from(state)
  const { values } = await engine.range({ from: '/', to: '0' })
  const shown = values.filter(({ key }) => !key.includes('/leases/'))
  return new Map(shown.map(({ key, value }) => [key, value.toString()]))
}

const isAggregated = (object: string): boolean => object.includes('"aggregationRule"')

test('a cluster has the same initial objects whether it loads them from a file or creates them', async () => {
  const text = await createFirstObjects()
  assert.doesNotMatch(text, /BEGIN CERTIFICATE/)
  const nowMs = Date.now()
  await using cluster = await startCluster()
  await settled(cluster)
  const authorityPem = 'another\nauthority'
  const made = await objectsIn(await parseFirstObjects(text, { nowMs, authorityPem }))
  const expected = await objectsIn(cluster.snapshot().state)
  assert.deepEqual([...made.keys()], [...expected.keys()])
  const day = new Date(nowMs).toISOString().slice(0, 10)
  const plain = (object: string): unknown =>
    JSON.parse(
      object
        .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"TIME"')
        .replaceAll(/"uid":"[0-9a-f-]{36}"/g, '"uid":"UID"')
        .replaceAll(JSON.stringify(authorityPem), '"AUTHORITY"')
        .replaceAll(JSON.stringify(cluster.certificateAuthority), '"AUTHORITY"'),
    )
  for (const [key, object] of made) {
    assert.doesNotMatch(object, /2000-01-01/, key)
    // Skip these objects, because controllers add rules to them in random order.
    if (!isAggregated(object)) assert.deepEqual(plain(object), plain(expected.get(key) ?? ''), key)
  }
  const uids = [...made.values()].flatMap((object) =>
    [...object.matchAll(/"uid":"([^"]+)"/g)].map(([, uid]) => uid),
  )
  assert.equal(new Set(uids).size, uids.length)
  assert.ok([...made.values()].some((object) => object.includes(`"since":"${day}"`)))
})

test('a damaged file of initial objects is reported', async () => {
  for (const text of ['{}', '[["a"]]', '[["a", 1]]'])
    await assert.rejects(
      parseFirstObjects(text, { nowMs: 0, authorityPem: '' }),
      /first-objects\.json is damaged/,
    )
})

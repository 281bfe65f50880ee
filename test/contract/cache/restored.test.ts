import assert from 'node:assert/strict'
import { cp, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEtcd } from '../../support/harness/etcd.ts'
import { encode, form, PlainCache, root } from '../../support/harness/plain-cache.ts'
import { ScriptedCache } from '../../support/harness/scripted-engine.ts'

const key = (name: string): string => `${root}plain/${name}`

test('after the database is restored from an older backup, the cache reads everything again, and clients must list again', async () => {
  await using scripted = new ScriptedCache()
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'old')
  await cache.start()
  const watcher = await reader.watch({ range, start: { initial: 'latest' } })
  engine.emit(scripted.put('b', 'old'), scripted.put('c', 'old'))
  const lost = engine.revision
  const life = cache.databaseLife
  engine.replace(5, [{ key: key('x'), revision: 4, createRevision: 4, value: encode('x', 'new') }])
  const listed = await reader.list(range, 'latest')
  assert.equal(listed.revision, 5)
  assert.deepEqual(
    listed.items.map((item) => item.key),
    [key('x')],
  )
  assert.equal(watcher.closedBecause, 'gap')
  assert.notEqual(cache.databaseLife, life)
  assert.equal(engine.streams.at(-1)?.after, 5, 'the feed continues from there')
  await assert.rejects(reader.watch({ range, start: { after: lost } }), { code: 'compacted' })
  const anew = await reader.watch({ range, start: { after: listed.revision } })
  engine.emit(scripted.put('y', 'new'))
  assert.deepEqual(
    anew.take().map((event) => [event.type, event.revision]),
    [['ADDED', 6]],
  )
  // A watch can start from a revision that the database has not reached yet. It waits for this
  // revision, as in kube-apiserver.
  const future = await reader.watch({ range, start: { after: 1_000 } })
  future.close()
  anew.close()
})

test('a late acknowledgment of a write from before a restore does not replace the restored object with the same revision', async () => {
  await using scripted = new ScriptedCache()
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'old')
  await cache.start()
  await reader.list(range, 'latest')
  engine.emit(scripted.put('b', 'old'), scripted.put('c', 'old'))
  engine.replace(5)
  await reader.list(range, 'latest')
  const watcher = await reader.watch({ range, start: { initial: 'latest' } })
  const object = {
    kind: 'Plain',
    apiVersion: 'v1',
    metadata: { name: 'y', resourceVersion: '6' },
    value: 'old',
  }
  reader.expect(key('y'), 6, object, {
    bytes: Buffer.from('{"old":true}\n'),
    headBytes: 1,
    versionAt: 1,
  })
  engine.emit(scripted.put('y', 'new'))
  const { item } = await reader.get(key('y'), { atLeast: 6 })
  assert.equal(item?.revision, 6)
  assert.equal(item?.object()['value'], 'new')
  watcher.close()
})

test('a different cluster is recognized as a different database, regardless of its revision', async () => {
  await using scripted = new ScriptedCache()
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'old')
  await cache.start()
  const watcher = await reader.watch({ range, start: { initial: 'latest' } })
  const lost = engine.revision
  engine.databaseId = 'second'
  engine.replace(lost + 5)
  assert.deepEqual((await reader.list(range, 'latest')).items, [])
  assert.equal(watcher.closedBecause, 'gap')
  await assert.rejects(reader.watch({ range, start: { after: lost } }), { code: 'compacted' })
  const anew = await reader.watch({ range, start: { after: engine.revision } })
  anew.close()
})

test('a list that is in progress when the database is restored is started again', async () => {
  await using scripted = new ScriptedCache()
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'old')
  await cache.start()
  engine.isHanging = true
  const listing = reader.list(range, 'any')
  const other = scripted.cache.resource({ name: 'other', prefix: `${root}other/`, ...form })
  engine.replace(5)
  engine.isHanging = false
  await other.list({ from: `${root}other/`, to: `${root}other0` }, 'latest')
  await other.list({ from: `${root}other/`, to: `${root}other0` }, 'latest')
  engine.heal()
  assert.deepEqual((await listing).items, [])
  assert.equal((await listing).revision, 5)
})

test('neither a lagging member nor a read that is older than the received events counts as a different database', async () => {
  await using scripted = new ScriptedCache()
  const { cache, engine, reader, range } = scripted
  scripted.put('a', '1')
  await cache.start()
  const watcher = await reader.watch({ range, start: { initial: 'latest' } })
  engine.sink.onProgress(engine.revision - 5)
  engine.sink.onProgress(engine.revision)
  engine.isHanging = true
  const { latest } = engine
  engine.latest = async () => {
    const asked = engine.revision
    await latest()
    return asked
  }
  const listing = reader.list(range, 'latest')
  await sleep(5)
  engine.emit(scripted.put('b', '1'))
  engine.heal()
  assert.equal((await listing).items.length, 2)
  assert.equal(watcher.state, 'replaying')
  assert.equal(engine.streams.length, 1)
  watcher.close()
})

test('a restart of etcd with an older copy of its data is detected even if no client reads', async () => {
  await using etcd = await startEtcd()
  await using plain = new PlainCache([etcd.clientUrl])
  await plain.store.create(key('a'), encode('a', '1'))
  await etcd.stop('SIGTERM')
  const data = join(etcd.dir, 'data')
  await cp(data, join(etcd.dir, 'backup'), { recursive: true })
  await etcd.start()
  await plain.cache.start()
  const reader = plain.reader('plain')
  const range = plain.range('plain')
  await plain.store.create(key('b'), encode('b', '1'))
  const lost = await plain.store.create(key('c'), encode('c', '1'))
  const watcher = await reader.watch({ range, start: { initial: 'latest' } })
  await etcd.stop('SIGTERM')
  await rename(data, join(etcd.dir, 'gone'))
  await rename(join(etcd.dir, 'backup'), data)
  await etcd.start()
  const until = performance.now() + 20_000
  while (watcher.closedBecause === undefined && performance.now() < until) await sleep(20)
  assert.equal(watcher.closedBecause, 'gap')
  await assert.rejects(reader.watch({ range, start: { after: lost } }), { code: 'compacted' })
  const listed = await reader.list(range, 'latest')
  assert.deepEqual(
    listed.items.map((item) => item.key),
    [key('a')],
  )
  const created = await plain.store.create(key('d'), encode('d', '1'))
  assert.ok(created <= lost)
  assert.equal((await reader.list(range, 'latest')).items.length, 2)
})

test('a database that lacks an acknowledged write is recognized as different, even if its ID is unchanged', async () => {
  await using scripted = new ScriptedCache()
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'old')
  await cache.start()
  await reader.list(range, 'latest')
  const object = {
    kind: 'Plain',
    apiVersion: 'v1',
    metadata: { name: 'y', resourceVersion: '900' },
    value: 'old',
  }
  reader.expect(key('y'), 900, object, {
    bytes: Buffer.from('{"old":true}\n'),
    headBytes: 1,
    versionAt: 1,
  })
  engine.replace(500)
  await reader.list(range, 'latest')
  assert.equal(cache.databaseLife, 1)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cache } from '../../../src/storage/cache/cache.ts'
import { systemClock } from '../../../src/lib/time/clock.ts'
import { silent } from '../../../src/lib/telemetry/log.ts'
import type { Engine } from '../../../src/storage/engine.ts'
import { identity } from '../../../src/storage/transform.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { encode, form, PlainCache, root } from '../../support/harness/plain-cache.ts'
import { startProxy } from '../../support/harness/proxy.ts'

const key = (name: string): string => `${root}gap/${name}`

test('after the cache has missed events, watchers are closed, reads are correct, and watches resume correctly or fail', async () => {
  await using etcd = await startEtcd()
  await using proxy = await startProxy(etcd.clientUrl)
  await using behind = new PlainCache([proxy.url])
  await using other = new PlainCache([etcd.clientUrl])
  await behind.cache.start()
  const range = behind.range('gap')
  const reader = behind.reader('gap')
  await other.store.create(key('a'), encode('a', '1'))
  const before = await other.store.create(key('b'), encode('b', '1'))
  const watcher = await reader.watch({ range, start: { initial: 'latest' } })

  proxy.refuse()
  proxy.cut()
  await other.store.delete(key('a'), { decode: (stored) => stored })
  const compacted = await other.store.create(key('c'), encode('c', '1'))
  await other.client.kv.compact({ revision: compacted })
  const last = await other.store.create(key('d'), encode('d', '1'))
  proxy.heal()

  const until = performance.now() + 20_000
  while (watcher.closedBecause === undefined && performance.now() < until) await sleep(20)
  assert.equal(watcher.closedBecause, 'gap')
  const listed = await reader.list(range, 'latest')
  assert.deepEqual(
    listed.items.map((item) => item.key),
    [key('b'), key('c'), key('d')],
  )
  await assert.rejects(reader.watch({ range, start: { after: before } }), { code: 'compacted' })
  const resumed = await reader.watch({ range, start: { after: compacted } })
  assert.deepEqual(
    resumed.take().map((event) => [event.type, event.revision]),
    [['ADDED', last]],
  )
  resumed.close()
})

test('if the cache differs from the database, the cache detects this and reloads the resource', async () => {
  await using etcd = await startEtcd()
  await using plain = new PlainCache([etcd.clientUrl])
  await plain.store.create(key('a'), encode('a', '1'))
  const faulty = new FaultyEngine(plain.engine)
  await using cache = new Cache({
    engine: faulty,
    store: plain.store,
    transformer: identity,
    root,
    clock: systemClock,
    log: silent,
  })
  await cache.start()
  const reader = cache.resource({ name: 'gap', prefix: `${root}gap/`, ...form })
  await reader.list(plain.range('gap'), 'latest')
  assert.deepEqual(await cache.check(), [])
  const watcher = await reader.watch({ range: plain.range('gap'), start: { initial: 'any' } })
  faulty.isLosing = true
  await plain.store.create(key('b'), encode('b', '1'))
  while (faulty.lost === 0) await sleep(5)
  faulty.isLosing = false
  await plain.store.create(key('c'), encode('c', '1'))
  assert.equal((await reader.list(plain.range('gap'), 'latest')).items.length, 2)
  assert.deepEqual(await cache.check(), [`${root}gap/`])
  assert.equal(watcher.closedBecause, 'gap')
  const anew = await reader.watch({ range: plain.range('gap'), start: { initial: 'any' } })
  anew.close()
  assert.equal((await reader.list(plain.range('gap'), 'latest')).items.length, 3)
})

/** A database engine whose event feed loses events while `isLosing` is set. */
class FaultyEngine implements Engine {
  isLosing = false
  lost = 0
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  range: Engine['range'] = (query, options) => this.#engine.range(query, options)
  change: Engine['change'] = (change, options) => this.#engine.change(change, options)
  latest: Engine['latest'] = (options) => this.#engine.latest(options)
  grantLease: Engine['grantLease'] = (ttlSeconds, options) =>
    this.#engine.grantLease(ttlSeconds, options)
  openFeed: Engine['openFeed'] = (ranges, sink, options) =>
    this.#engine.openFeed(
      ranges,
      {
        ...sink,
        onEvents: (range, events) => {
          if (this.isLosing) this.lost += events.length
          else sink.onEvents(range, events)
        },
      },
      options,
    );

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }
}

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeObject } from '../../../src/api/object.ts'
import type { WatchEvent } from '../../../src/storage/cache/event.ts'
import type { Item } from '../../../src/storage/cache/item.ts'
import type { Watcher } from '../../../src/storage/cache/watch.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import { type EtcdProcess, startEtcd } from '../../support/harness/etcd.ts'
import { encode, form, PlainCache, root } from '../../support/harness/plain-cache.ts'
import { until } from '../../support/harness/until.ts'

const key = (resource: string, name: string): string => `${root}${resource}/${name}`

const matches = (item: Item): boolean => item.object()['value'] === 'yes'

/** Collects events until there are at least `count`. Waits for at most a minute. */
async function collect(watcher: Watcher, count: number): Promise<WatchEvent[]> {
  const events: WatchEvent[] = []
  const endMs = performance.now() + 60_000
  while (events.length < count) {
    assert.ok(performance.now() < endMs, `got ${events.length} of ${count} events`)
    events.push(...watcher.take())
    await sleep(1)
  }
  return events
}

const brief = (events: readonly WatchEvent[]): string[] =>
  events.map((event) =>
    event.type === 'BOOKMARK'
      ? event.type
      : `${event.type} ${event.item.key.split('/').at(-1)}@${event.revision}`,
  )

function decodeOrFail(...stored: Parameters<typeof form.decode>): KubeObject {
  try {
    return form.decode(...stored)
  } catch (cause) {
    throw new StorageError('corrupt', 'not JSON', { cause })
  }
}

describe('the cache works on a real etcd', () => {
  let etcd: EtcdProcess
  let plain: PlainCache
  let other: PlainCache

  before(async () => {
    etcd = await startEtcd()
    plain = new PlainCache([etcd.clientUrl])
    other = new PlainCache([etcd.clientUrl])
    await plain.cache.start()
    await other.cache.start()
  })
  after(async () => {
    await plain[Symbol.asyncDispose]()
    await other[Symbol.asyncDispose]()
    await etcd[Symbol.asyncDispose]()
  })

  test('the decoded object of an earlier version is released from memory when a new version replaces it', async () => {
    const reader = plain.reader('replaced')
    const place = key('replaced', 'a')
    const expected = await other.store.create(place, encode('a', 'old'))
    await reader.fill(() => undefined)
    const { item: old } = await reader.get(place, 'latest')
    assert.equal(old?.object()['value'], 'old')
    assert.notEqual(old.decoded, undefined)
    await other.store.update(place, { decode: ({ value }) => value }, () => ({
      put: encode('a', 'new'),
    }))
    const { item } = await reader.get(place, 'latest')
    assert.ok((item?.revision ?? 0) > expected)
    assert.equal(old.decoded, undefined)
    assert.equal(old.peek()['value'], 'old')
  })

  test('a get of a single object reads from the database while its resource is being loaded into memory', async () => {
    const place = key('one-of-many', 'a')
    const revision = await other.store.create(place, encode('a', 'x'))
    const reader = plain.reader('one-of-many')
    const getting = reader.get(place, 'latest')
    assert.equal(reader.known(), undefined)
    const got = await getting
    assert.deepEqual([got.item?.revision, got.item?.object()['value']], [revision, 'x'])
    assert.ok(got.revision >= revision)
    assert.equal((await reader.get(key('one-of-many', 'b'), 'latest')).item, undefined)
    await until(() => reader.known()?.size === 1, 'the objects are in memory')
    assert.equal((await reader.get(place, 'latest')).item?.revision, revision)
  })

  test('objects are serialized while they are loaded into memory, without another database read', async () => {
    for (const name of ['a', 'b', 'c'])
      await other.store.create(key('filled', name), encode(name, 'x'))
    const reader = plain.reader('filled')
    assert.equal(reader.known(), undefined)
    const made: string[] = []
    await reader.fill((item) => made.push(item.key))
    const items = [...(reader.known()?.values() ?? [])]
    assert.deepEqual(
      made,
      ['a', 'b', 'c'].map((name) => key('filled', name)),
    )
    assert.equal(items.length, 3)
    assert.ok(items.every((item) => item.isPrinted()))
  })

  test('an object that cannot be decoded does not prevent loading the other objects', async () => {
    await other.store.create(key('broken', 'a'), Buffer.from('{'))
    await other.store.create(key('broken', 'b'), encode('b', 'x'))
    const reader = plain.cache.resource({
      name: 'broken',
      prefix: `${root}broken/`,
      ...form,
      decode: decodeOrFail,
    })
    const made: string[] = []
    await reader.fill((item) => made.push(item.key))
    assert.deepEqual(made, [key('broken', 'b')])
    assert.deepEqual(
      [...(reader.known()?.values() ?? [])].map((item) => item.isPrinted()),
      [false, true],
    )
  })

  test('a linearizable read returns a write of another replica', async () => {
    const reader = plain.reader('latest')
    for (let i = 0; i < 20; i++) {
      const revision = await other.store.create(key('latest', `a${i}`), encode(`a${i}`, 'x'))
      const { item } = await reader.get(key('latest', `a${i}`), 'latest')
      assert.equal(item?.revision, revision)
      const listed = await reader.list(plain.range('latest'), 'latest')
      assert.equal(listed.items.length, i + 1)
      assert.ok(listed.revision >= revision)
    }
  })

  test('each serialized or decoded form of an object contains its resourceVersion', async () => {
    const revision = await plain.store.create(key('shown', 'a'), encode('a', 'x'))
    const { item } = await plain.reader('shown').get(key('shown', 'a'), 'latest')
    const text = `{"kind":"Plain","apiVersion":"v1","metadata":{"resourceVersion":"${revision}","name":"a"},"value":"x"}\n`
    assert.equal(item?.wire().toString(), text)
    assert.equal(item?.object().metadata.resourceVersion, String(revision))
    assert.equal(
      item?.listTail().toString(),
      text.slice('{"kind":"Plain","apiVersion":"v1",'.length, -1),
    )
  })

  test('a read at a minimum revision waits for the revision, and fails as too new if the revision is not reached', async () => {
    const reader = plain.reader('least')
    await reader.list(plain.range('least'), 'any')
    const revision = await other.store.create(key('least', 'a'), encode('a', 'x'))
    const { item } = await reader.get(key('least', 'a'), { atLeast: revision })
    assert.equal(item?.revision, revision)
    await assert.rejects(reader.get(key('least', 'a'), { atLeast: revision + 1_000_000 }), {
      code: 'too-new',
    })
    await assert.rejects(reader.list(plain.range('least'), { exactly: revision + 1_000_000 }), {
      code: 'too-new',
    })
  })

  test('lists and pages of lists at an exact revision return the state at that revision', async () => {
    const reader = plain.reader('exact')
    await reader.list(plain.range('exact'), 'any')
    const states = new Map<number, string[]>()
    const names = new Set<string>()
    for (let i = 0; i < 60; i++) {
      const name = `k${(i * 7) % 20}`
      const at = key('exact', name)
      let revision: number
      if (names.has(name) && i % 3 === 0) {
        revision = (await plain.store.delete(at, { decode: (stored) => stored })).revision
        names.delete(name)
      } else {
        const done = await plain.store.update(at, { decode: (stored) => stored }, () => ({
          put: encode(name, `v${i}`),
        }))
        revision = done.revision
        names.add(name)
      }
      states.set(revision, [...names].toSorted())
    }
    await reader.list(plain.range('exact'), 'latest')
    for (const [revision, expected] of [...states].toReversed()) {
      const listed = await reader.list(plain.range('exact'), { exactly: revision })
      assert.deepEqual(
        listed.items.map((item) => item.object().metadata.name),
        expected,
      )
      const page = await reader.list(plain.range('exact'), { exactly: revision }, { limit: 3 })
      assert.deepEqual(
        page.items.map((item) => item.object().metadata.name),
        expected.slice(0, 3),
      )
      assert.equal(page.remaining, Math.max(0, expected.length - 3))
    }
  })

  test('a watch starts with the existing objects and continues without lost or repeated events', async () => {
    const reader = plain.reader('watch')
    const a = await plain.store.create(key('watch', 'a'), encode('a', '1'))
    const b = await plain.store.create(key('watch', 'b'), encode('b', '1'))
    const watcher = await reader.watch({
      range: plain.range('watch'),
      start: { initial: 'latest', markEnd: true },
    })
    assert.deepEqual(brief(await collect(watcher, 3)), [`ADDED a@${a}`, `ADDED b@${b}`, 'BOOKMARK'])
    assert.equal(watcher.state, 'live')
    const changed = await other.store.update(key('watch', 'a'), { decode: (s) => s }, () => ({
      put: encode('a', '2'),
    }))
    const deleted = await other.store.delete(key('watch', 'b'), { decode: (s) => s })
    const events = await collect(watcher, 2)
    assert.deepEqual(brief(events), [
      `MODIFIED a@${changed.revision}`,
      `DELETED b@${deleted.revision}`,
    ])
    const gone = events[1]
    assert.ok(gone?.type === 'DELETED')
    assert.equal(
      gone.frame().toString(),
      `{"type":"DELETED","object":{"kind":"Plain","apiVersion":"v1","metadata":{"resourceVersion":"${deleted.revision}","name":"b"},"value":"1"}}\n`,
    )
    watcher.close()
  })

  test('a watch with a selector receives additions and deletions when objects start or stop matching', async () => {
    const reader = plain.reader('select')
    const watcher = await reader.watch({
      range: plain.range('select'),
      start: { initial: 'any' },
      matches,
    })
    const put = async (value: string): Promise<number> =>
      (
        await plain.store.update(key('select', 'a'), { decode: (s) => s }, () => ({
          put: encode('a', value),
        }))
      ).revision
    await put('no')
    const yes = await put('yes')
    const no = await put('not')
    const events = await collect(watcher, 2)
    assert.deepEqual(brief(events), [`ADDED a@${yes}`, `DELETED a@${no}`])
    watcher.close()
  })

  test("a watch resumes from the event buffer, or from etcd's history if the revision is older", async () => {
    const name = 'resume'
    const revisions: number[] = []
    for (let i = 0; i < 10; i++)
      revisions.push(await plain.store.create(key(name, `a${i}`), encode(`a${i}`, 'x')))
    await plain.store.delete(key(name, 'a0'), { decode: (s) => s })
    // The reader has not read this resource before. The event buffer therefore does not contain the
    // earlier events, and they are read from etcd's history.
    const watcher = await plain
      .reader(name)
      .watch({ range: plain.range(name), start: { after: revisions[3] ?? 0 } })
    const later = await plain.store.create(key(name, 'b'), encode('b', 'x'))
    const seen = brief(await collect(watcher, 8))
    assert.deepEqual(seen.slice(0, 2), [`ADDED a4@${revisions[4]}`, `ADDED a5@${revisions[5]}`])
    assert.match(seen[6] ?? '', /^DELETED a0/)
    assert.equal(seen[7], `ADDED b@${later}`)
    const fromRing = await plain
      .reader(name)
      .watch({ range: plain.range(name), start: { after: later - 1 } })
    assert.deepEqual(brief(await collect(fromRing, 1)), [`ADDED b@${later}`])
    watcher.close()
    fromRing.close()
  })

  test('a watch from a compacted revision is rejected as too old', async () => {
    const first = await plain.store.create(key('old', 'a'), encode('a', 'x'))
    const last = await plain.store.create(key('old', 'b'), encode('b', 'x'))
    await plain.client.kv.compact({ revision: last })
    await assert.rejects(
      plain.reader('old').watch({ range: plain.range('old'), start: { after: first - 1 } }),
      {
        code: 'compacted',
      },
    )
  })

  test('a watcher that does not read its events is closed, and other watchers continue', async () => {
    await using small = new PlainCache([etcd.clientUrl], { budgets: { pastBytes: 20_000 } })
    await small.cache.start()
    const reader = small.reader('slow')
    const slow = await reader.watch({ range: small.range('slow'), start: { initial: 'any' } })
    const quick = await reader.watch({ range: small.range('slow'), start: { initial: 'any' } })
    let seen = 0
    for (let i = 0; i < 200; i++) {
      const done = await small.store.update(key('slow', 'a'), { decode: (s) => s }, () => ({
        put: encode('a', `${i}`),
      }))
      await reader.get(key('slow', 'a'), { atLeast: done.revision })
      seen += quick.take().length
    }
    assert.equal(seen, 200)
    assert.deepEqual(slow.take(), [])
    assert.equal(slow.closedBecause, 'too-slow')
    assert.equal(quick.state, 'live')
    quick.close()
  })

  test('an unused resource does not keep objects in memory', async () => {
    await using idle = new PlainCache([etcd.clientUrl], { unusedMs: 0 })
    await idle.cache.start()
    await idle.store.create(key('idle', 'a'), encode('a', 'x'))
    assert.equal(idle.cache.stats().objects, 0)
    await idle.reader('idle').list(idle.range('idle'), 'latest')
    assert.equal(idle.cache.stats().objects, 1)
    await sleep(5)
    idle.cache.sweep()
    assert.equal(idle.cache.stats().objects, 0)
    assert.equal(idle.cache.stats().liveBytes, 0)
    const again = await idle.reader('idle').list(idle.range('idle'), 'latest')
    assert.equal(again.items.length, 1)
  })

  test('the consistency check finds no differences between the cache and the database', async () => {
    assert.deepEqual(await plain.cache.check(), [])
  })

  test('the cache uses the serialized object of its own write instead of decoding the event of the write', async () => {
    const reader = plain.reader('own')
    await reader.list(plain.range('own'), 'any')
    const revision = await plain.store.create(key('own', 'a'), encode('a', 'x'))
    const object = {
      kind: 'Plain',
      apiVersion: 'v1',
      metadata: { name: 'a', resourceVersion: String(revision) },
      value: 'mine',
    }
    const bytes = Buffer.from('{"mine":true}\n')
    reader.expect(key('own', 'a'), revision, object, { bytes, headBytes: 1, versionAt: 1 })
    const { item } = await reader.get(key('own', 'a'), { atLeast: revision })
    assert.equal(item?.wire().toString(), '{"mine":true}\n')
    assert.equal(item?.object(), object)
  })
})

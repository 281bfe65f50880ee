/** Tests edge cases of the engine interface on which the store and the event feed rely. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FeedEvent } from '../../../src/storage/engine.ts'
import { keyAfter, rangeOf, rangeOfKey } from '../../../src/storage/keys.ts'
import { bytes, decode, failsWith, type GetSubject, newFolder, newStore, until } from './subject.ts'

export function engineFeedTests(subject: GetSubject): void {
  test('an event feed with `previous` reports the value before each event', async () => {
    const store = newStore(subject().engine)
    const folder = newFolder()
    const after = await subject().engine.latest()
    await store.create(`${folder}a`, bytes('one'))
    await store.update(`${folder}a`, { decode }, () => ({ put: bytes('two') }))
    await store.delete(`${folder}a`, { decode })
    await store.create(`${folder}a`, bytes('three'))
    const reported = ['put after nothing', 'put after one', 'delete after two', 'put after nothing']
    assert.deepEqual(await withPrevious(subject, folder, after, 4), reported)
  })

  test('an event feed reports a previous value that was written at the compacted revision', async () => {
    const store = newStore(subject().engine)
    const folder = newFolder()
    await store.create(`${folder}a`, bytes('one'))
    const second = await store.update(`${folder}a`, { decode }, () => ({ put: bytes('two') }))
    await store.update(`${folder}a`, { decode }, () => ({ put: bytes('three') }))
    await subject().compact(second.revision)
    assert.deepEqual(await withPrevious(subject, folder, second.revision, 1), ['put after two'])
  })
}

/** Returns at least `count` events after a revision, each with its previous value. */
async function withPrevious(
  subject: GetSubject,
  folder: string,
  after: number,
  count: number,
): Promise<string[]> {
  const events: FeedEvent[] = []
  const stream = subject().engine.openFeed(
    [{ ...rangeOf(folder), after }],
    {
      onEvents: (_, reported) => events.push(...reported),
      onProgress: () => undefined,
      onCompacted: () => undefined,
      onEnd: () => undefined,
    },
    { previous: true },
  )
  await until(() => events.length >= count, `${count} events`)
  stream.close()
  return events.map(
    ({ type, previous }) => `${type} after ${previous?.value.toString() ?? 'nothing'}`,
  )
}

export function engineWriteTests(subject: GetSubject): void {
  test('deleting a missing key succeeds and does not advance the revision', async () => {
    const { engine } = subject()
    const before = await engine.latest()
    const outcome = await engine.change({ key: `${newFolder()}a`, expected: 0, write: 'delete' })
    assert.deepEqual(outcome, { won: true, revision: before })
    assert.equal(await engine.latest(), before)
  })

  test('a failed comparison returns the current value and the latest revision', async () => {
    const { engine } = subject()
    const key = `${newFolder()}a`
    const put = bytes('x')
    const created = await engine.change({ key, expected: 0, write: { put } })
    const other = await engine.change({ key: `${key}b`, expected: 0, write: { put } })
    // The comparison fails, so nothing is written. In this case, a missing lease must not cause an
    // error.
    for (const lease of [undefined, 4711n]) {
      const lost = await engine.change({
        key,
        expected: 0,
        write: lease === undefined ? { put } : { put, lease },
      })
      assert.ok(!lost.won)
      assert.deepEqual([lost.revision, lost.current?.revision], [other.revision, created.revision])
    }
    await assert.rejects(
      engine.change({ key, expected: created.revision, write: { put, lease: 4711n } }),
      failsWith('missing', 'etcdserver: requested lease not found'),
    )
  })

  test('a write does not take effect if another key on which it depends has changed', async () => {
    const { engine } = subject()
    const folder = newFolder()
    const put = bytes('x')
    const parent = `${folder}parent`
    const child = { key: `${folder}child`, expected: 0, write: { put } } as const
    const { revision } = await engine.change({ key: parent, expected: 0, write: { put } })
    for (const other of [0, revision - 1, revision + 1]) {
      const lost = await engine.change({ ...child, unchanged: [{ key: parent, revision: other }] })
      assert.deepEqual(lost, { won: false, revision, current: undefined })
    }
    const unchanged = [
      { key: parent, revision },
      { key: `${folder}missing`, revision: 0 },
    ]
    const won = await engine.change({ ...child, unchanged })
    assert.ok(won.won)
    const { values } = await engine.range(rangeOfKey(child.key))
    assert.equal(values[0]?.revision, won.revision)
  })

  test('a key that is created again has a new creation revision', async () => {
    const { engine } = subject()
    const store = newStore(engine)
    const key = `${newFolder()}a`
    await store.create(key, bytes('one'))
    await store.delete(key, { decode })
    const revision = await store.create(key, bytes('two'))
    const { values } = await engine.range(rangeOfKey(key))
    assert.deepEqual([values[0]?.revision, values[0]?.createRevision], [revision, revision])
  })
}

export function engineReadTests(subject: GetSubject): void {
  test('a read of a range returns at most `limit` values, whether there are more, and the full count', async () => {
    const { engine } = subject()
    const store = newStore(engine)
    const folder = newFolder()
    for (const name of ['a', 'b', 'c']) await store.create(folder + name, bytes(name))
    const brief = async (query: {
      limit?: number
      countOnly?: boolean
      keysOnly?: boolean
    }): Promise<unknown[]> => {
      const { values, more, count } = await engine.range({ ...rangeOf(folder), ...query })
      return [values.length, more, count]
    }
    assert.deepEqual(await brief({ limit: 2 }), [2, true, 3])
    assert.deepEqual(await brief({ limit: 3 }), [3, false, 3])
    assert.deepEqual(await brief({ limit: 2, keysOnly: true }), [2, true, 3])
    assert.deepEqual(await brief({ limit: 2, countOnly: true }), [0, false, 3])
  })

  test('the pages at one revision have consistent counts, regardless of writes in between', async () => {
    const { engine } = subject()
    const store = newStore(engine)
    const folder = newFolder()
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
      await store.create(folder + name, bytes(name))
    const { revision } = await engine.range(rangeOf(folder))
    const counts: unknown[] = []
    for (let { from, to } = rangeOf(folder), more = true; more; ) {
      const page = await engine.range({ from, to, revision, limit: 2 })
      counts.push([page.values.map(({ value }) => value.toString()), page.more, page.count])
      more = page.more
      from = keyAfter(page.values.at(-1)?.key ?? to)
      await store.create(`${folder}${counts.length}`, bytes('new'))
      await store.delete(`${folder}${'fed'.charAt(counts.length - 1)}`, { decode })
      await store.create(`${folder}x${counts.length}`, bytes('new'))
    }
    assert.deepEqual(counts, [
      [['a', 'b'], true, 6],
      [['c', 'd'], true, 4],
      [['e', 'f'], false, 2],
    ])
    assert.equal((await engine.range({ ...rangeOf(folder), limit: 2 })).count, 9)
  })

  test('the compacted revision itself can be read, but not the one before it', async () => {
    const { engine, compact } = subject()
    const store = newStore(engine)
    const key = `${newFolder()}a`
    const first = await store.create(key, bytes('one'))
    const { revision } = await store.update(key, { decode }, () => ({ put: bytes('two') }))
    await store.delete(key, { decode })
    await compact(revision)
    const found = await engine.range({ ...rangeOfKey(key), revision })
    assert.deepEqual([found.revision, found.values[0]?.value.toString()], [revision, 'two'])
    await assert.rejects(
      engine.range({ ...rangeOfKey(key), revision: first }),
      failsWith('compacted', 'etcdserver: mvcc: required revision has been compacted'),
    )
    await assert.rejects(
      engine.range({ ...rangeOfKey(key), revision: revision + 1_000_000 }),
      failsWith('too-new', 'etcdserver: mvcc: required revision is a future revision'),
    )
  })
}

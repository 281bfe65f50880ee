/** Tests the guarantees of Engine.openFeed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Revision } from '../../../src/storage/engine.ts'
import { rangeOf } from '../../../src/storage/keys.ts'
import { bytes, decode, type GetSubject, newFolder, newStore, Recorder, until } from './subject.ts'

export function feedEventTests(subject: GetSubject): void {
  test('an event feed delivers puts and deletes in order, starting after a revision', async () => {
    const { engine } = subject()
    const store = newStore(engine)
    const folder = newFolder()
    const before = await store.create(`${folder}a`, bytes('before'))
    const put = await store.update(`${folder}a`, { decode }, () => ({ put: bytes('told') }))
    using feed = new Recorder(engine, [{ ...rangeOf(folder), after: before }])
    const created = await store.create(`${folder}b`, bytes('live'))
    const deleted = await store.delete(`${folder}a`, { decode })
    await until(() => feed.events.length === 3, 'three events')
    assert.deepEqual(feed.events, [
      {
        range: 0,
        key: `${folder}a`,
        type: 'put',
        revision: put.revision,
        createRevision: before,
        value: 'told',
      },
      {
        range: 0,
        key: `${folder}b`,
        type: 'put',
        revision: created,
        createRevision: created,
        value: 'live',
      },
      {
        range: 0,
        key: `${folder}a`,
        type: 'delete',
        revision: deleted.revision,
        createRevision: 0,
        value: '',
      },
    ])
    assert.deepEqual(feed.ends, [])
  })

  test('one stream covers several ranges, each from its own revision', async () => {
    const { engine } = subject()
    const store = newStore(engine)
    const folder = newFolder()
    const names = ['a', 'b', 'c']
    const first: Revision[] = []
    for (const name of names) first.push(await store.create(`${folder}${name}/1`, bytes(1)))
    const latest = await engine.latest()
    using feed = new Recorder(engine, [
      { ...rangeOf(`${folder}a/`), after: (first[0] ?? 0) - 1 },
      { ...rangeOf(`${folder}b/`), after: latest },
      { ...rangeOf(`${folder}c/`), after: first[2] ?? 0 },
    ])
    for (const name of names) await store.create(`${folder}${name}/2`, bytes(2))
    await feed.reach(await engine.latest())
    const reported = (range: number) =>
      feed.events
        .filter((event) => event.range === range)
        .map(({ key }) => key.slice(folder.length))
    assert.deepEqual([reported(0), reported(1), reported(2)], [['a/1', 'a/2'], ['b/2'], ['c/2']])
  })
}

export function feedOrderTests(subject: GetSubject): void {
  test('500 events arrive in the order of their revisions', async () => {
    const { engine } = subject()
    const store = newStore(engine)
    const folder = newFolder()
    using feed = new Recorder(engine, [{ ...rangeOf(folder), after: await engine.latest() }])
    await Promise.all(
      Array.from({ length: 500 }, (_, i) => store.create(`${folder}${i}`, bytes(i))),
    )
    await feed.reach(await engine.latest())
    const revisions = feed.events.map(({ revision }) => revision)
    assert.equal(revisions.length, 500)
    assert.deepEqual(
      revisions,
      revisions.toSorted((a, b) => a - b),
    )
  })

  test('a revision that deletes many keys arrives in one call, even if it exceeds one message', async () => {
    const { engine, revokeLease } = subject()
    const folder = newFolder()
    const lease = await engine.grantLease(1000)
    // The deletions of 900 keys of 2 KB exceed 1.5 MB, the maximum that etcd sends in one message.
    const keys = Array.from({ length: 900 }, (_, i) => `${folder}${String(i).padStart(2000, '0')}`)
    await Promise.all(
      keys.map((key) => engine.change({ key, expected: 0, write: { put: bytes('x'), lease } })),
    )
    const after = await engine.latest()
    using live = new Recorder(engine, [{ ...rangeOf(folder), after }])
    await live.reach(after)
    await revokeLease(lease)
    const latest = await engine.latest()
    await live.reach(latest)
    using replayed = new Recorder(engine, [{ ...rangeOf(folder), after }])
    await replayed.reach(latest)
    for (const feed of [live, replayed]) {
      assert.equal(feed.calls.length, 1)
      assert.equal(feed.events.length, 900)
      assert.deepEqual(
        [...new Set(feed.events.map(({ revision, type }) => `${revision} ${type}`))],
        [`${latest} delete`],
      )
    }
  })
}

export function feedProgressTests(subject: GetSubject): void {
  test('progress to a revision is reported after all events up to this revision, in all ranges', async () => {
    const { engine } = subject()
    const store = newStore(engine)
    const folder = newFolder()
    const after = await engine.latest()
    using feed = new Recorder(engine, [
      { ...rangeOf(`${folder}a/`), after },
      { ...rangeOf(`${folder}b/`), after },
    ])
    for (let round = 0; round < 20; round++) {
      await store.create(`${folder}a/${round}`, bytes(round))
      const revision = await store.create(`${folder}b/${round}`, bytes(round))
      await feed.reach(revision)
      assert.equal(feed.events.length, (round + 1) * 2)
    }
    assert.deepEqual(
      feed.progress,
      feed.progress.toSorted((a, b) => a - b),
    )
  })

  test('progress requested before the stream is up is reported, even if nothing is written', async () => {
    const { engine } = subject()
    const after = await engine.latest()
    using feed = new Recorder(engine, [
      { ...rangeOf(newFolder()), after },
      { ...rangeOf(newFolder()), after },
    ])
    feed.requestProgress()
    await feed.reach(after)
    assert.ok(feed.progress.every((revision) => revision >= after))
  })

  test('progress of a range without events advances with writes elsewhere', async () => {
    const { engine } = subject()
    const store = newStore(engine)
    using feed = new Recorder(engine, [{ ...rangeOf(newFolder()), after: await engine.latest() }])
    const elsewhere = await store.create(`${newFolder()}a`, bytes('x'))
    await feed.reach(elsewhere)
    assert.deepEqual(feed.events, [])
  })
}

export function feedCompactionTests(subject: GetSubject): void {
  test('a range whose history is compacted is reported, and the other ranges continue', async () => {
    const { feed: opened, folder, latest } = await halfLost(subject)
    using feed = opened
    assert.deepEqual(feed.compacted, [{ range: 0, oldest: latest }])
    const store = newStore(subject().engine)
    await store.create(`${folder}a/3`, bytes(3))
    await store.create(`${folder}b/2`, bytes(2))
    await until(() => feed.events.length > 0, 'an event')
    assert.deepEqual(
      feed.events.map(({ key }) => key),
      [`${folder}b/2`],
    )
    assert.deepEqual(feed.ends, [])
  })

  test('when the history of one range is compacted, progress of the other ranges continues', async () => {
    const { feed: opened, folder } = await halfLost(subject)
    using feed = opened
    await feed.reach(await newStore(subject().engine).create(`${folder}b/2`, bytes(2)), 2_000)
  })

  test('a deletion at the compacted revision is delivered, or its range is reported as compacted', async () => {
    const { engine, compact } = subject()
    const store = newStore(engine)
    const folder = newFolder()
    const after = await store.create(`${folder}a`, bytes(1))
    const { revision: deleted } = await store.delete(`${folder}a`, { decode: (stored) => stored })
    await compact(deleted)
    const last = await store.create(`${folder}b`, bytes(2))
    using feed = new Recorder(engine, [{ ...rangeOf(folder), after }])
    await until(
      () => feed.compacted.length > 0 || feed.events.some(({ revision }) => revision === last),
      'an event',
    )
    if (feed.compacted.length === 0) assert.equal(feed.events[0]?.type, 'delete')
  })

  test('compaction does not affect an event feed that has received all events', async () => {
    const { engine, compact } = subject()
    const store = newStore(engine)
    const folder = newFolder()
    using feed = new Recorder(engine, [{ ...rangeOf(folder), after: await engine.latest() }])
    const first = await store.create(`${folder}a`, bytes(1))
    await feed.reach(first)
    await compact(await engine.latest())
    const second = await store.create(`${folder}b`, bytes(2))
    await feed.reach(second)
    assert.deepEqual([feed.events.length, feed.compacted, feed.ends], [2, [], []])
  })
}

/** Opens a stream with two ranges. The history of the first range is compacted. */
async function halfLost(
  subject: GetSubject,
): Promise<{ feed: Recorder; folder: string; latest: Revision }> {
  const { engine, compact } = subject()
  const store = newStore(engine)
  const folder = newFolder()
  const after = await store.create(`${folder}a/1`, bytes(1))
  await store.create(`${folder}a/2`, bytes(2))
  const latest = await store.create(`${folder}b/1`, bytes(1))
  await compact(latest)
  const feed = new Recorder(engine, [
    { ...rangeOf(`${folder}a/`), after },
    { ...rangeOf(`${folder}b/`), after: latest },
  ])
  await until(() => feed.compacted.length > 0, 'compaction')
  return { feed, folder, latest }
}

export function feedStreamTests(subject: GetSubject): void {
  test('no callback is called before openFeed returns', async () => {
    const { engine } = subject()
    let isOpen = false
    const early: string[] = []
    const note = (what: string) => () => {
      if (!isOpen) early.push(what)
    }
    const stream = engine.openFeed([{ ...rangeOf(newFolder()), after: 1 }], {
      onEvents: note('events'),
      onProgress: note('progress'),
      onCompacted: note('compacted'),
      onEnd: note('end'),
    })
    isOpen = true
    stream.close()
    await sleep(50)
    assert.deepEqual(early, [])
  })

  test('a stream that starts where another stream ended misses and repeats no event', async () => {
    const { engine } = subject()
    const store = newStore(engine)
    const folder = newFolder()
    let after = await engine.latest()
    const seen: string[] = []
    const writes = (async () => {
      for (let i = 0; i < 300; i++) await store.create(`${folder}${i}`, bytes(i))
    })()
    while (seen.length < 300) {
      const feed = new Recorder(engine, [{ ...rangeOf(folder), after }])
      await until(() => feed.events.length > 0, 'an event')
      feed.close()
      seen.push(...feed.events.map(({ key }) => key.slice(folder.length)))
      after = feed.events.at(-1)?.revision ?? after
    }
    await writes
    assert.deepEqual(
      seen,
      Array.from({ length: 300 }, (_, i) => String(i)),
    )
  })

  test('the end of a stream is reported once, and without a cause after `close`', async () => {
    const { engine } = subject()
    const store = newStore(engine)
    const folder = newFolder()
    const feed = new Recorder(engine, [{ ...rangeOf(folder), after: await engine.latest() }])
    await feed.reach(0)
    feed.close()
    feed.close()
    await store.create(`${folder}a`, bytes('after'))
    await sleep(100)
    assert.deepEqual([feed.ends, feed.events], [[undefined], []])
    feed.requestProgress()
  })
}

/**
 * Tests the guarantees of the store for readers: single values, lists, walks and transformed
 * values.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StorageError } from '../../../src/storage/errors.ts'
import { type KeyRange, rangeOf, toKey } from '../../../src/storage/keys.ts'
import type { Page, Store } from '../../../src/storage/store.ts'
import type { Transformer } from '../../../src/storage/transform.ts'
import {
  bytes,
  decode,
  failsWith,
  type GetSubject,
  newFolder,
  newStore,
  ObservedEngine,
  text,
} from './subject.ts'

export function readTests(subject: GetSubject): void {
  test('a created value can be read, at the revision of its creation', async () => {
    const store = newStore(subject().engine)
    const key = `${newFolder()}a`
    const absent = await store.get(key)
    assert.equal(absent.found, undefined)
    const revision = await store.create(key, bytes('one'))
    assert.ok(revision > absent.revision)
    const { found, revision: read } = await store.get(key)
    assert.deepEqual(
      { ...found, value: text(found) },
      { key, value: 'one', revision, createRevision: revision, stale: false },
    )
    assert.equal(read, revision)
  })

  test('a second create of a key fails and changes nothing', async () => {
    const store = newStore(subject().engine)
    const key = `${newFolder()}a`
    const revision = await store.create(key, bytes('one'))
    await assert.rejects(store.create(key, bytes('two')), failsWith('exists'))
    assert.equal((await store.get(key)).found?.revision, revision)
  })

  test('a create takes one transaction and no read', async () => {
    const engine = new ObservedEngine(subject().engine)
    await newStore(engine).create(`${newFolder()}a`, bytes('one'))
    assert.deepEqual(engine.calls, { range: 0, change: 1, latest: 0 })
  })

  test('a value can be empty, and can contain any bytes', async () => {
    const store = newStore(subject().engine)
    const folder = newFolder()
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
    await store.create(`${folder}empty`, Buffer.alloc(0))
    await store.create(`${folder}all`, all)
    assert.equal((await store.get(`${folder}empty`)).found?.value.length, 0)
    assert.deepEqual(Buffer.from((await store.get(`${folder}all`)).found?.value ?? []), all)
  })

  test('the latest revision covers every acknowledged write', async () => {
    const { engine } = subject()
    const store = newStore(engine)
    for (let i = 0; i < 5; i++) {
      const revision = await store.create(`${newFolder()}a`, bytes(i))
      assert.ok((await engine.latest()) >= revision)
    }
  })
}

export function listTests(subject: GetSubject): void {
  test('a list has all keys of its range in byte order, and no keys outside of the range', async () => {
    const store = newStore(subject().engine)
    const folder = newFolder()
    const outside = [folder.slice(0, -1), `${folder.slice(0, -1)}0`, `${folder.slice(0, -1)}-a`]
    for (const key of outside) await store.create(key, bytes('neighbour'))
    const names = ['a', 'a/b', 'a-b', 'a.b', 'a0', 'Z', 'é', '€', '\u{10000}', '\uffee', '~'].map(
      toKey,
    )
    for (const name of names) await store.create(folder + name, bytes(name))
    const page = await store.list(rangeOf(folder))
    assert.deepEqual(
      page.values.map(({ key }) => key),
      names.map((name) => folder + name).toSorted(),
    )
    assert.deepEqual([page.more, page.remaining], [false, 0])
    assert.equal((await store.count(rangeOf(folder))).count, names.length)
  })

  test('pages are consistent while other clients write', async () => {
    const { range, keys, store } = await filled(subject, 50)
    const first = await store.list(range, { limit: 20 })
    assert.deepEqual([first.values.length, first.more, first.remaining], [20, true, 30])
    await store.delete(keys[30] ?? '', { decode })
    await store.create(`${keys[30]}-new`, bytes('new'))
    await store.update(keys[31] ?? '', { decode }, () => ({ put: bytes('changed') }))
    const { revision } = first
    const second = await store.list(range, { revision, limit: 20, after: first.values.at(-1)?.key })
    assert.deepEqual([second.revision, second.more, second.remaining], [revision, true, 10])
    const third = await store.list(range, { revision, limit: 20, after: second.values.at(-1)?.key })
    assert.deepEqual([third.more, third.remaining], [false, 0])
    const all = [...first.values, ...second.values, ...third.values]
    assert.deepEqual(
      all.map(({ key }) => key),
      keys,
    )
    assert.ok(all.every((stored) => text(stored) === 'x' && stored.revision <= revision))
    assert.equal((await store.count(range, { revision })).count, 50)
  })

  test('a list with a limit that equals the number of values is complete', async () => {
    const { range, store } = await filled(subject, 4)
    assert.deepEqual(
      [(await store.list(range, { limit: 4 })).more, (await store.list(range, { limit: 5 })).more],
      [false, false],
    )
    assert.deepEqual((await store.list(rangeOf(newFolder()), { limit: 5 })).values, [])
  })

  test('a range can return only keys, or only the count', async () => {
    const { range } = await filled(subject, 3)
    const { engine } = subject()
    const keys = await engine.range({ ...range, keysOnly: true })
    assert.deepEqual(
      [keys.values.length, keys.values.every(({ value }) => value.length === 0)],
      [3, true],
    )
    const counted = await engine.range({ ...range, countOnly: true })
    assert.deepEqual([counted.values.length, counted.count], [0, 3])
  })
}

export function historyTests(subject: GetSubject): void {
  test('a read at a revision returns the state at that revision', async () => {
    const store = newStore(subject().engine)
    const key = `${newFolder()}a`
    const first = await store.create(key, bytes('one'))
    const { revision } = await store.update(key, { decode }, () => ({ put: bytes('two') }))
    const old = await store.get(key, { revision: first })
    assert.equal(text(old.found), 'one')
    assert.equal(old.revision, first)
    assert.equal(text((await store.get(key, { revision })).found), 'two')
    await assert.rejects(
      store.get(key, { revision: revision + 1000 }),
      failsWith('too-new', /future revision/),
    )
  })

  test('a list at a compacted revision is refused', async () => {
    const { range, keys, store } = await filled(subject, 3)
    const { revision } = await store.list(range)
    const { revision: later } = await store.update(keys[0] ?? '', { decode }, () => ({
      put: bytes('y'),
    }))
    await subject().compact(later)
    await assert.rejects(store.list(range, { revision }), failsWith('compacted', /compacted/))
    await assert.rejects(store.get(keys[0] ?? '', { revision }), failsWith('compacted'))
    assert.equal((await store.list(range)).values.length, 3)
  })
}

export function walkTests(subject: GetSubject): void {
  test('`walk` reads the pages of a range at one revision, regardless of concurrent writes', async () => {
    const { range, keys, store } = await filled(subject, 300)
    const seen: string[] = []
    const revisions = new Set<number>()
    for await (const page of store.walk(range)) {
      revisions.add(page.revision)
      seen.push(...page.values.map(({ key }) => key))
      await store.create(`${keys[299]}-${revisions.size}-${seen.length}`, bytes('late'))
    }
    assert.deepEqual(seen, keys)
    assert.equal(revisions.size, 1)
  })

  test('`walk` returns all values if it reads pages in advance, and can be stopped early', async () => {
    const { range, keys, store } = await filled(subject, 40, 'x'.repeat(100_000))
    const seen: string[] = []
    const revisions = new Set<number>()
    for await (const page of store.walk(range, { pageBytes: 400_000, readsAhead: true })) {
      revisions.add(page.revision)
      seen.push(...page.values.map(({ key }) => key))
      await store.create(`${keys[39]}-${seen.length}`, bytes('late'))
    }
    assert.deepEqual(seen, keys)
    assert.equal(revisions.size, 1)
    const controller = new AbortController()
    for await (const page of store.walk(range, {
      pageBytes: 1,
      readsAhead: true,
      signal: controller.signal,
    })) {
      assert.ok(page.more)
      break
    }
    controller.abort()
  })

  test('`walk` keeps to the requested page size, regardless of the size of the values', async () => {
    const { range, store } = await filled(subject, 40, 'x'.repeat(100_000))
    const sizes: number[] = []
    for await (const page of store.walk(range, { pageBytes: 400_000 }))
      sizes.push(page.values.length)
    assert.equal(
      sizes.reduce((sum, size) => sum + size),
      40,
    )
    assert.ok(
      sizes.slice(1).every((size) => size <= 4),
      String(sizes),
    )
  })

  test('`walk` returns one empty page with a revision for an empty range', async () => {
    const store = newStore(subject().engine)
    const pages: Page[] = []
    for await (const page of store.walk(rangeOf(newFolder()))) pages.push(page)
    assert.equal(pages.length, 1)
    assert.deepEqual([pages[0]?.values, pages[0]?.more], [[], false])
    assert.ok((pages[0]?.revision ?? 0) > 0)
  })
}

/** Creates `count` keys with the same content. */
async function filled(
  subject: GetSubject,
  count: number,
  content = 'x',
): Promise<{ range: KeyRange; keys: string[]; store: Store }> {
  const store = newStore(subject().engine)
  const folder = newFolder()
  const keys = Array.from({ length: count }, (_, i) => `${folder}${String(i).padStart(5, '0')}`)
  await Promise.all(keys.map((key) => store.create(key, bytes(content))))
  return { range: rangeOf(folder), keys, store }
}

/**
 * Returns a transformer that stores each value with the prefix `<current>:`. It can read values
 * with any prefix, but reports them as stale if their prefix differs.
 */
const versioned = (current: string): Transformer => ({
  canBeStale: () => true,
  toStorage: async (_key, plain) => Buffer.concat([Buffer.from(`${current}:`), plain]),
  fromStorage: async (_key, stored) => {
    const colon = stored.indexOf(':')
    if (colon === -1) throw new StorageError('corrupt', 'no matching prefix found')
    return {
      value: stored.subarray(colon + 1),
      stale: stored.toString('utf8', 0, colon) !== current,
    }
  },
})

export function transformTests(subject: GetSubject): void {
  test('stored values are transformed, and readers receive the original values', async () => {
    const { engine } = subject()
    const store = newStore(engine, versioned('k1'))
    const folder = newFolder()
    await store.create(`${folder}a`, bytes('secret'))
    assert.equal(text((await newStore(engine).get(`${folder}a`)).found), 'k1:secret')
    assert.equal(text((await store.get(`${folder}a`)).found), 'secret')
    const { values } = await store.list(rangeOf(folder))
    assert.deepEqual([text(values[0]), values[0]?.stale], ['secret', false])
  })

  test('an update without changes rewrites a value once if its transformation is stale', async () => {
    const { engine } = subject()
    const key = `${newFolder()}a`
    const created = await newStore(engine, versioned('k1')).create(key, bytes('secret'))
    const store = newStore(engine, versioned('k2'))
    assert.equal((await store.get(key)).found?.stale, true)
    const cached = { revision: created, createRevision: created, object: 'secret', stale: true }
    const untouched = await store.update(key, { decode, cached }, () => 'untouched')
    assert.deepEqual([untouched.outcome, untouched.revision], ['unchanged', created])
    const first = await store.update(key, { decode, cached }, () => 'unchanged')
    assert.deepEqual([first.outcome, first.previous?.stale], ['put', true])
    assert.equal(text((await newStore(engine).get(key)).found), 'k2:secret')
    const second = await store.update(key, { decode, cached }, () => 'unchanged')
    assert.deepEqual([second.outcome, second.revision], ['unchanged', first.revision])
  })

  test('reads, updates and lists fail if a value cannot be transformed back, but the value still exists', async () => {
    const { engine } = subject()
    const folder = newFolder()
    const key = `${folder}b`
    const plain = newStore(engine)
    for (const name of ['a', 'b', 'c'])
      await plain.create(folder + name, bytes(name === 'b' ? 'k8s:enc:x' : 'k1:y'))
    const message = 'identity transformer tried to read encrypted data'
    await assert.rejects(plain.get(key), failsWith('corrupt', message))
    await assert.rejects(
      plain.update(key, { decode }, () => 'unchanged'),
      failsWith('corrupt', message),
    )
    await assert.rejects(
      plain.list(rangeOf(folder)),
      failsWith('corrupt', `unable to transform key "${key}": ${message}`),
    )
    await assert.rejects(plain.create(key, bytes('z')), failsWith('exists'))
    await plain.create(`${folder}d`, bytes('neither'))
    await assert.rejects(
      newStore(engine, versioned('k1')).list(rangeOf(`${folder}d`)),
      failsWith('corrupt', `unable to transform key "${folder}d": no matching prefix found`),
    )
  })
}

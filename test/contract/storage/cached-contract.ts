/**
 * Tests writes that are based on cached state. Such a write takes effect only if the comparison in
 * its transaction succeeds.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Current, Store, StoredValue } from '../../../src/storage/store.ts'
import {
  bytes,
  decode,
  failsWith,
  type GetSubject,
  newFolder,
  newStore,
  ObservedEngine,
} from './subject.ts'

const decodeLater = async (stored: StoredValue): Promise<string> => {
  await new Promise((resolve) => setImmediate(resolve))
  return decode(stored)
}

export function cachedWriteTests(subject: GetSubject): void {
  test('a write that is based on the latest cached state calls its update function once and needs one transaction', async () => {
    const { key, old, engine, store } = await twoStates(subject)
    const { found } = await store.get(key)
    assert.ok(found)
    const cached = { ...old, revision: found.revision, object: 'new' }
    engine.calls.range = 0
    const seen: unknown[] = []
    const result = await store.update(key, { decode, cached }, (current) => {
      seen.push(current?.object)
      return { put: bytes('newer') }
    })
    assert.deepEqual([seen, engine.calls], [['new'], { range: 0, change: 1, latest: 0 }])
    assert.equal(result.previous, cached)
  })

  test('if the cached state of a write is stale, the failed transaction returns the latest state', async () => {
    const { key, old, engine, store } = await twoStates(subject)
    const seen: unknown[] = []
    await store.update(key, { decode, cached: old }, (current) => {
      seen.push(current?.object)
      return { put: bytes('newer') }
    })
    assert.deepEqual([seen, engine.calls], [['old', 'new'], { range: 0, change: 2, latest: 0 }])
  })

  test('if the cached state of a write is stale, the write waits until the latest state is decoded asynchronously', async () => {
    const { key, old, store } = await twoStates(subject)
    const seen: unknown[] = []
    await store.update(key, { decode: decodeLater, cached: old }, (current) => {
      seen.push(current?.object)
      return { put: bytes('newer') }
    })
    assert.deepEqual(seen, ['old', 'new'])
  })
}

export function cachedRefusalTests(subject: GetSubject): void {
  test('if an update function refuses stale cached state, the function is called again with the latest state', async () => {
    const { key, old, engine, store } = await twoStates(subject)
    const result = await store.update(key, { decode, cached: old }, (current) => {
      if (current?.object === 'old') throw new Error('refused on the old')
      return { put: bytes('newer') }
    })
    assert.equal(result.outcome, 'put')
    assert.deepEqual(engine.calls, { range: 1, change: 1, latest: 0 })
  })

  test('if an update function refuses both the cached and the latest state, nothing is written, and its last error is returned', async () => {
    const { key, old, engine, store } = await twoStates(subject)
    const refused = store.update(key, { decode, cached: old }, async (current) => {
      throw new Error(`refused on ${current?.object}`)
    })
    await assert.rejects(refused, /refused on new/)
    assert.deepEqual(engine.calls, { range: 1, change: 0, latest: 0 })
  })

  test('if an update function returns "unchanged" for stale cached state, the function is called again with the latest state', async () => {
    const { key, old, engine, store } = await twoStates(subject)
    const result = await store.update(key, { decode, cached: old }, (current) =>
      current?.object === 'old' ? 'unchanged' : { put: bytes('newer') },
    )
    assert.equal(result.outcome, 'put')
    assert.deepEqual(engine.calls, { range: 1, change: 1, latest: 0 })
  })

  test('a caller that knows that its cached state is the latest avoids the read', async () => {
    const { key, engine, store } = await twoStates(subject)
    const { found } = await store.get(key)
    assert.ok(found)
    const cached = { ...found, object: 'new' }
    engine.calls.range = 0
    const isStill = async (revision: number): Promise<boolean> => revision === found.revision
    const result = await store.update(key, { decode, cached, isStill }, () => 'unchanged')
    assert.deepEqual([result.outcome, result.previous], ['unchanged', cached])
    const refused = store.update(key, { decode, cached, isStill }, () => {
      throw new Error('refused')
    })
    await assert.rejects(refused, /refused/)
    assert.deepEqual(engine.calls, { range: 0, change: 0, latest: 0 })
  })

  test('if the cached state may be stale, the latest state is read before "unchanged" is returned', async () => {
    const { key, old, engine, store } = await twoStates(subject)
    const options = { decode, cached: old, isStill: (): Promise<boolean> => Promise.resolve(false) }
    const result = await store.update(key, options, () => 'unchanged')
    assert.equal(result.previous?.object, 'new')
    assert.deepEqual(engine.calls, { range: 1, change: 0, latest: 0 })
  })

  test('an update that changes nothing returns the latest state', async () => {
    const { key, old, store } = await twoStates(subject)
    const result = await store.update(key, { decode, cached: old }, () => 'unchanged')
    assert.deepEqual([result.outcome, result.previous?.object], ['unchanged', 'new'])
    assert.ok(result.revision > old.revision)
  })
}

export function cachedAbsenceTests(subject: GetSubject): void {
  test('if an object is missing only from the cache, the update function is called again with the stored object', async () => {
    const { key, engine, store } = await twoStates(subject)
    const seen: unknown[] = []
    const decide = (current: Current<string> | undefined) => {
      seen.push(current?.object)
      if (current === undefined) throw new Error('not found')
      return { put: bytes('newer') }
    }
    assert.equal((await store.update(key, { decode, cached: 'absent' }, decide)).outcome, 'put')
    assert.deepEqual(seen, [undefined, 'new'])
    engine.calls.change = 0
    const created = store.update(key, { decode, cached: 'absent' }, (current) => {
      if (current !== undefined) throw new Error('is there')
      return { put: bytes('created') }
    })
    await assert.rejects(created, /is there/)
    assert.equal(engine.calls.change, 1)
  })

  test('if only the cache still has an object, writes report it as missing', async () => {
    const { key, old, store } = await twoStates(subject)
    await store.delete(key, { decode })
    const updated = store.update(key, { decode, cached: old }, (current) => {
      if (current === undefined) throw new Error('not found')
      return { put: bytes('newer') }
    })
    await assert.rejects(updated, /not found/)
    await assert.rejects(store.delete(key, { decode, cached: old }), failsWith('missing'))
    assert.equal((await store.get(key)).found, undefined)
  })

  test('an object that neither the cache nor the database has is created in one transaction', async () => {
    const engine = new ObservedEngine(subject().engine)
    const result = await newStore(engine).update(
      `${newFolder()}a`,
      { decode, cached: 'absent' },
      () => ({
        put: bytes('a'),
      }),
    )
    assert.deepEqual([result.outcome, engine.calls], ['put', { range: 0, change: 1, latest: 0 }])
  })

  test('if a key was deleted and created again, a write is not based on the cached object', async () => {
    const { key, old, store } = await twoStates(subject)
    await store.delete(key, { decode })
    const created = await store.create(key, bytes('again'))
    const { previous } = await store.update(key, { decode, cached: old }, () => ({
      put: bytes('newer'),
    }))
    assert.equal(previous?.createRevision, created)
  })
}

/**
 * Creates a key with two revisions: `old`, which a cache might still contain, and the latest one.
 */
async function twoStates(subject: GetSubject): Promise<{
  key: string
  old: Current<string>
  engine: ObservedEngine
  store: Store
}> {
  const engine = new ObservedEngine(subject().engine)
  const store = newStore(engine)
  const key = `${newFolder()}a`
  await store.create(key, bytes('old'))
  const { previous: old } = await store.update(key, { decode }, () => ({ put: bytes('new') }))
  assert.ok(old)
  Object.assign(engine.calls, { range: 0, change: 0 })
  return { key, old, engine, store }
}

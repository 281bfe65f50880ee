/** Which writes may end on cached state: only those that won their compare. */
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
  test('fresh cached state: one decision, one transaction', async () => {
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

  test('old cached state, a write: the lost compare brings the latest, without a read', async () => {
    const { key, old, engine, store } = await twoStates(subject)
    const seen: unknown[] = []
    await store.update(key, { decode, cached: old }, (current) => {
      seen.push(current?.object)
      return { put: bytes('newer') }
    })
    assert.deepEqual([seen, engine.calls], [['old', 'new'], { range: 0, change: 2, latest: 0 }])
  })

  test('old cached state, a large value: the latest is decoded while others are served', async () => {
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
  test('old cached state, a refusal: decided again on the latest', async () => {
    const { key, old, engine, store } = await twoStates(subject)
    const result = await store.update(key, { decode, cached: old }, (current) => {
      if (current?.object === 'old') throw new Error('refused on the old')
      return { put: bytes('newer') }
    })
    assert.equal(result.outcome, 'put')
    assert.deepEqual(engine.calls, { range: 1, change: 1, latest: 0 })
  })

  test('a refusal of both states is the one of the latest, and nothing is written', async () => {
    const { key, old, engine, store } = await twoStates(subject)
    const refused = store.update(key, { decode, cached: old }, async (current) => {
      throw new Error(`refused on ${current?.object}`)
    })
    await assert.rejects(refused, /refused on new/)
    assert.deepEqual(engine.calls, { range: 1, change: 0, latest: 0 })
  })

  test('old cached state, unchanged: decided again on the latest', async () => {
    const { key, old, engine, store } = await twoStates(subject)
    const result = await store.update(key, { decode, cached: old }, (current) =>
      current?.object === 'old' ? 'unchanged' : { put: bytes('newer') },
    )
    assert.equal(result.outcome, 'put')
    assert.deepEqual(engine.calls, { range: 1, change: 1, latest: 0 })
  })

  test('who knows that the state is the latest spares the read', async () => {
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

  test('a state that may be old is read, whoever asks', async () => {
    const { key, old, engine, store } = await twoStates(subject)
    const options = { decode, cached: old, isStill: (): Promise<boolean> => Promise.resolve(false) }
    const result = await store.update(key, options, () => 'unchanged')
    assert.equal(result.previous?.object, 'new')
    assert.deepEqual(engine.calls, { range: 1, change: 0, latest: 0 })
  })

  test('unchanged is reported with the latest state', async () => {
    const { key, old, store } = await twoStates(subject)
    const result = await store.update(key, { decode, cached: old }, () => 'unchanged')
    assert.deepEqual([result.outcome, result.previous?.object], ['unchanged', 'new'])
    assert.ok(result.revision > old.revision)
  })
}

export function cachedAbsenceTests(subject: GetSubject): void {
  test('the cache has nothing, the database does', async () => {
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

  test('the cache has what the database deleted', async () => {
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

  test('the cache has nothing, and nothing is there: created in one transaction', async () => {
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

  test('a key deleted and created again is not the cached one', async () => {
    const { key, old, store } = await twoStates(subject)
    await store.delete(key, { decode })
    const created = await store.create(key, bytes('again'))
    const { previous } = await store.update(key, { decode, cached: old }, () => ({
      put: bytes('newer'),
    }))
    assert.equal(previous?.createRevision, created)
  })
}

/** A key with two revisions: what a cache may still have, and what is there. */
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

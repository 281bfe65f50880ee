/**
 * Tests the guarantees of the store for writers: optimistic updates from cached state and from
 * state that was read, deletes, leases and failures.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../../../src/storage/engine.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import { rangeOf } from '../../../src/storage/keys.ts'
import { Leases } from '../../../src/storage/leases.ts'
import { type Current, type Decision, Store, type StoredValue } from '../../../src/storage/store.ts'
import { identity } from '../../../src/storage/transform.ts'
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

export function updateTests(subject: GetSubject): void {
  test('an update can create, change, keep and delete a value', async () => {
    const store = newStore(subject().engine)
    const key = `${newFolder()}a`
    const created = await store.update(key, { decode }, (current) => {
      assert.equal(current, undefined)
      return { put: bytes('one') }
    })
    assert.equal(created.outcome, 'put')
    assert.equal(created.previous, undefined)
    const put = await store.update(key, { decode }, (current) => ({
      put: bytes(`${current?.object}+`),
    }))
    assert.deepEqual(put.previous, {
      revision: created.revision,
      createRevision: created.revision,
      object: 'one',
      stale: false,
    })
    const unchanged = await store.update(key, { decode }, () => 'unchanged')
    assert.deepEqual(
      [unchanged.outcome, unchanged.revision, unchanged.previous?.object],
      ['unchanged', put.revision, 'one+'],
    )
    const { found } = await store.get(key)
    assert.deepEqual([found?.revision, found?.createRevision], [put.revision, created.revision])
    const deleted = await store.update(key, { decode }, async (): Promise<Decision> => 'delete')
    assert.equal(deleted.outcome, 'deleted')
    assert.ok(deleted.revision > put.revision)
    assert.equal((await store.get(key)).found, undefined)
  })

  test('an update that keeps a missing key as it is writes nothing', async () => {
    const store = newStore(subject().engine)
    const result = await store.update(`${newFolder()}a`, { decode }, () => 'unchanged')
    assert.deepEqual([result.outcome, result.previous], ['unchanged', undefined])
    assert.ok(result.revision > 0)
  })
}

export function concurrencyTests(subject: GetSubject): void {
  test('200 increments by 20 writers are all applied', async () => {
    const store = newStore(subject().engine)
    const key = `${newFolder()}counter`
    await store.create(key, bytes(0))
    let cached: Current<string> | undefined
    const writer = async (): Promise<void> => {
      for (let i = 0; i < 10; i++) {
        const result = await store.update(key, { decode, cached }, (current) => ({
          put: bytes(Number(current?.object) + 1),
        }))
        cached = result.previous
      }
    }
    await Promise.all(Array.from({ length: 20 }, writer))
    assert.equal(text((await store.get(key)).found), '200')
  })

  test('when several writers create the same key, one succeeds, and the others get its value', async () => {
    const store = newStore(subject().engine)
    const key = `${newFolder()}a`
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        store.update(key, { decode, cached: 'absent' }, (current) =>
          current ? 'unchanged' : { put: bytes(i) },
        ),
      ),
    )
    assert.equal(results.filter(({ outcome }) => outcome === 'put').length, 1)
    assert.equal(results.filter(({ outcome }) => outcome === 'unchanged').length, 9)
  })

  test('an update that always loses against other writers ends with a conflict', async () => {
    const engine = new ObservedEngine(subject().engine)
    const store = new Store(engine, {
      transformer: identity,
      leases: new Leases((ttlSeconds) => engine.grantLease(ttlSeconds)),
      random: () => 0,
    })
    const other = newStore(subject().engine)
    const key = `${newFolder()}a`
    await store.create(key, bytes('one'))
    let decisions = 0
    const overtaken = store.update(key, { decode }, async () => {
      await other.update(key, { decode }, () => ({ put: bytes(`other ${++decisions}`) }))
      return { put: bytes('mine') }
    })
    await assert.rejects(overtaken, failsWith('conflict'))
    assert.equal(decisions, 100)
    assert.match(text((await store.get(key)).found) ?? '', /^other/)
  })
}

export function deleteTests(subject: GetSubject): void {
  test('a delete removes the value and returns it', async () => {
    const store = newStore(subject().engine)
    const key = `${newFolder()}a`
    const created = await store.create(key, bytes('one'))
    const { revision, previous } = await store.delete(key, { decode })
    assert.ok(revision > created)
    assert.deepEqual(previous, {
      revision: created,
      createRevision: created,
      object: 'one',
      stale: false,
    })
    await assert.rejects(store.delete(key, { decode }), failsWith('missing'))
    await assert.rejects(store.delete(key, { decode, cached: 'absent' }), failsWith('missing'))
  })

  test('the precondition of a delete is checked with the latest state', async () => {
    const store = newStore(subject().engine)
    const key = `${newFolder()}a`
    await store.create(key, bytes('one'))
    const { previous: cached } = await store.update(key, { decode }, () => ({ put: bytes('two') }))
    await assert.rejects(store.delete(key, { decode, cached }, only('one')), /is two/)
    await store.delete(key, { decode, cached }, only('two'))
    assert.equal((await store.get(key)).found, undefined)
  })

  test('a delete removes a value even if the cache reports it as absent', async () => {
    const store = newStore(subject().engine)
    const key = `${newFolder()}a`
    await store.create(key, bytes('one'))
    const { previous } = await store.delete(key, { decode, cached: 'absent' })
    assert.equal(previous.object, 'one')
  })
}

export function leaseTests(subject: GetSubject): void {
  test('a value with a time to live expires by itself, and not earlier', {
    timeout: 120_000,
  }, async () => {
    const store = newStore(subject().engine)
    const key = `${newFolder()}a`
    const started = performance.now()
    await store.create(key, bytes('short'), { ttlSeconds: 2 })
    while ((await store.get(key)).found !== undefined) await sleep(50)
    assert.ok(performance.now() - started > 1900)
  })

  test('an update without a time to live removes the expiry of a value', async () => {
    const { engine, revokeLease } = subject()
    const leases: bigint[] = []
    const grant = async (ttlSeconds: number) => {
      const lease = await engine.grantLease(ttlSeconds)
      leases.push(lease)
      return lease
    }
    const store = new Store(engine, { transformer: identity, leases: new Leases(grant) })
    const folder = newFolder()
    for (const name of ['a', 'b', 'c'])
      await store.create(folder + name, bytes('x'), { ttlSeconds: 1000 })
    assert.equal(leases.length, 1)
    await store.update(`${folder}b`, { decode }, () => ({ put: bytes('y') }))
    await store.update(`${folder}c`, { decode }, () => ({ put: bytes('y'), ttlSeconds: 2000 }))
    await revokeLease(leases[0] ?? 0n)
    assert.deepEqual(
      (await store.list(rangeOf(folder))).values.map(({ key }) => key),
      [`${folder}b`, `${folder}c`],
    )
    // The store still uses the revoked lease. When this fails, it creates a new lease.
    const revision = await store.create(`${folder}d`, bytes('x'), { ttlSeconds: 1000 })
    assert.equal((await store.get(`${folder}d`)).found?.revision, revision)
    assert.equal(leases.length, 3)
  })
}

export function failureTests(subject: GetSubject): void {
  test('a write with an unknown outcome is reported as ambiguous, and is not retried', async () => {
    const engine = new ObservedEngine(subject().engine)
    const store = newStore(engine)
    const key = `${newFolder()}a`
    await store.create(key, bytes('one'))
    engine.calls.change = 0
    engine.beforeChange = () => {
      throw new StorageError('unavailable', 'lost', { ambiguous: true })
    }
    await assert.rejects(
      store.update(key, { decode }, () => ({ put: bytes('two') })),
      isAmbiguous,
    )
    assert.equal(engine.calls.change, 1)
    await assert.rejects(store.create(`${key}2`, bytes('x')), isAmbiguous)
    assert.equal(engine.calls.change, 2)
  })

  test('calls whose signal is aborted are canceled', async () => {
    const store = newStore(subject().engine)
    const signal = AbortSignal.abort(new Error('gone'))
    const key = `${newFolder()}a`
    await assert.rejects(store.get(key, { signal }), failsWith('cancelled'))
    await assert.rejects(store.create(key, bytes('x'), { signal }), failsWith('cancelled'))
    await assert.rejects(store.list(rangeOf(key), { signal }), failsWith('cancelled'))
    assert.equal((await store.get(key)).found, undefined)
  })

  test('a value larger than the database allows is refused', async () => {
    const store = newStore(subject().engine)
    const key = `${newFolder()}a`
    await assert.rejects(
      store.create(key, Buffer.alloc(3 * 1024 * 1024, 'x')),
      failsWith('too-large'),
    )
    assert.equal((await store.get(key)).found, undefined)
  })

  test('calls to a database that does not respond fail as unavailable', async (t) => {
    const { engine, pause, resume } = subject()
    if (pause === undefined || resume === undefined)
      return t.skip('this database cannot be suspended')
    const key = `${newFolder()}a`
    await newStore(engine).create(key, bytes('x'))
    pause()
    try {
      // Repeat the call, because the process may still respond once, before the signal has stopped
      // all of its threads.
      const askUntilSilent = async (): Promise<void> => {
        for (let asked = 0; asked < 50; asked++) await engine.latest({ timeoutMs: 200 })
      }
      await assert.rejects(askUntilSilent(), failsWith('unavailable'))
      const write: Promise<unknown> = engine.change(
        { key, expected: 0, write: 'delete' },
        { timeoutMs: 200 },
      )
      await assert.rejects(
        write,
        (error) =>
          failsWith('unavailable')(error) && error instanceof StorageError && error.ambiguous,
      )
    } finally {
      resume()
    }
    assert.equal(text((await readable(engine, key)) ?? undefined), 'x')
  })
}

async function readable(engine: Engine, key: string): Promise<StoredValue | undefined> {
  for (let attempt = 0; ; attempt++) {
    try {
      return (await newStore(engine).get(key)).found
    } catch (error) {
      if (attempt > 600) throw error
      await sleep(100)
    }
  }
}

const isAmbiguous = (error: unknown): boolean => error instanceof StorageError && error.ambiguous

const only = (wanted: string) => async (current: Current<string>) => {
  if (current.object !== wanted) throw new Error(`is ${current.object}`)
}

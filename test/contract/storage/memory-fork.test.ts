/**
 * Tests features that only the in-memory engine has: forks that share unchanged data, and rewinding
 * to an earlier state.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Key, Revision } from '../../../src/storage/engine.ts'
import { rangeOf } from '../../../src/storage/keys.ts'
import { MemoryEngine } from '../../../src/storage/memory/memory-engine.ts'
import { until } from '../../support/harness/until.ts'

const put = async (engine: MemoryEngine, key: Key, text: string): Promise<Revision> => {
  const { values } = await engine.range({ from: key, to: `${key}\0` })
  const expected = values[0]?.revision ?? 0
  const outcome = await engine.change({ key, expected, write: { put: Buffer.from(text) } })
  assert.ok(outcome.won)
  return outcome.revision
}

const remove = async (engine: MemoryEngine, key: Key): Promise<void> => {
  const { values } = await engine.range({ from: key, to: `${key}\0` })
  const outcome = await engine.change({ key, expected: values[0]?.revision ?? 0, write: 'delete' })
  assert.ok(outcome.won)
}

async function all(engine: MemoryEngine, revision?: Revision): Promise<Record<Key, string>> {
  const { values } = await engine.range({
    ...rangeOf('/x/'),
    ...(revision === undefined ? {} : { revision }),
  })
  return Object.fromEntries(values.map(({ key, value }) => [key, value.toString()]))
}

const never = (): boolean => false

test('a database and its fork change independently of each other', async () => {
  await using engine = new MemoryEngine()
  await put(engine, '/x/a', '1')
  await put(engine, '/x/b', '1')
  const at = await put(engine, '/x/b', '2')
  await using fork = MemoryEngine.from(engine.state())
  assert.equal(await fork.latest(), at)
  await put(fork, '/x/a', 'fork')
  await put(engine, '/x/b', 'origin')
  await remove(fork, '/x/b')
  await put(engine, '/x/c', 'origin')
  assert.deepEqual(await all(fork), { '/x/a': 'fork' })
  assert.deepEqual(await all(engine), { '/x/a': '1', '/x/b': 'origin', '/x/c': 'origin' })
  assert.deepEqual(await all(fork, at), { '/x/a': '1', '/x/b': '2' })
  await assert.rejects(all(fork, at - 1), { code: 'compacted' })
  // The engine from which the fork was created still has its history.
  assert.deepEqual(await all(engine, at - 1), { '/x/a': '1', '/x/b': '1' })
})

test('a compaction of a database does not affect its fork, and vice versa', async () => {
  await using engine = new MemoryEngine()
  for (const text of ['1', '2', '3']) await put(engine, '/x/a', text)
  await put(engine, '/x/gone', '1')
  const state = engine.state()
  await using fork = MemoryEngine.from(state)
  const at = await engine.latest()
  await put(engine, '/x/a', '4')
  await remove(engine, '/x/gone')
  await put(engine, '/x/b', '1')
  engine.compact(await engine.latest())
  await until(() => engine.stats().keys === 2, 'the deletion is swept')
  assert.deepEqual(await all(fork), { '/x/a': '3', '/x/gone': '1' })
  assert.deepEqual(await all(fork, at), { '/x/a': '3', '/x/gone': '1' })
  await using second = MemoryEngine.from(state)
  assert.deepEqual(await all(second), { '/x/a': '3', '/x/gone': '1' })
})

/**
 * Whether two values belong to the same object. In this test, a value consists of the uid of an
 * object and the version of the object.
 */
const isSameObject = (one: Buffer, other: Buffer): boolean | undefined => {
  const [first, second] = [one, other].map((value) => value.toString().split(' '))
  return first?.length === 2 && second?.length === 2 ? first[0] === second[0] : undefined
}

test('event feeds report a rewind as ordinary writes, and revisions increase', async () => {
  await using engine = new MemoryEngine()
  for (const key of ['/x/changed', '/x/deleted', '/x/same', '/y/kept']) await put(engine, key, '1')
  const state = engine.state()
  await put(engine, '/x/changed', '2')
  await remove(engine, '/x/deleted')
  await put(engine, '/x/new', '1')
  await put(engine, '/x/passing', '1')
  await remove(engine, '/x/passing')
  // Write the same value again.
  await put(engine, '/x/same', '1')
  await put(engine, '/y/kept', '2')
  const before = await engine.latest()
  const events: string[] = []
  const ended = Promise.withResolvers<void>()
  const feed = engine.openFeed([{ ...rangeOf('/'), after: before }], {
    onEvents: (_, some) =>
      events.push(...some.map(({ type, key, value }) => `${type} ${key} ${value.toString()}`)),
    onProgress: () => undefined,
    onCompacted: () => undefined,
    onEnd: () => ended.resolve(),
  })
  engine.rewind(state, { isKept: (key) => key === '/y/kept', isSameObject })
  await until(() => events.length >= 3, 'the events')
  feed.close()
  await ended.promise
  assert.deepEqual(events, ['put /x/changed 1', 'put /x/deleted 1', 'delete /x/new '])
  assert.deepEqual(await all(engine), { '/x/changed': '1', '/x/deleted': '1', '/x/same': '1' })
  assert.equal(await engine.latest(), before + 3)
  const revisionsBefore = await engine.latest()
  engine.rewind(state, { isKept: (key) => key === '/y/kept', isSameObject })
  assert.equal(await engine.latest(), revisionsBefore, 'a second rewind changes nothing')
  engine.rewind(state, { isKept: never, isSameObject })
  assert.equal(engine.peek('/y/kept')?.value.toString(), '1')
})

test('a rewind deletes another object of the same name before it restores the earlier object', async () => {
  await using engine = new MemoryEngine()
  for (const key of ['/x/changed', '/x/recreated', '/x/restored']) await put(engine, key, 'one 1')
  const state = engine.state()
  await put(engine, '/x/changed', 'one 2')
  await remove(engine, '/x/recreated')
  await put(engine, '/x/recreated', 'two 1')
  await remove(engine, '/x/restored')
  engine.rewind(state, { isKept: (key) => key !== '/x/restored', isSameObject })
  await put(engine, '/x/restored', 'one 2')
  const before = await engine.latest()
  const events: string[] = []
  const feed = engine.openFeed([{ ...rangeOf('/'), after: before }], {
    onEvents: (_, some) =>
      events.push(
        ...some.map(({ type, key, revision, createRevision }) =>
          type === 'put'
            ? `${revision === createRevision ? 'create' : 'update'} ${key}`
            : `delete ${key}`,
        ),
      ),
    onProgress: () => undefined,
    onCompacted: () => undefined,
    onEnd: () => undefined,
  })
  engine.rewind(state, { isKept: never, isSameObject })
  await until(() => events.length >= 4, 'the events')
  feed.close()
  assert.deepEqual(events, [
    'update /x/changed',
    'delete /x/recreated',
    'create /x/recreated',
    'update /x/restored',
  ])
})

test('a rewind to the state of another engine replaces an object that was created at the same revision', async () => {
  await using engine = new MemoryEngine()
  await using other = new MemoryEngine()
  assert.equal(await put(engine, '/x/a', 'one 1'), await put(other, '/x/a', 'two 1'))
  const before = await engine.latest()
  engine.rewind(other.state(), { isKept: never, isSameObject })
  assert.equal(await engine.latest(), before + 2)
  assert.deepEqual(await all(engine), { '/x/a': 'two 1' })
  assert.equal(engine.peek('/x/a')?.createRevision, before + 2)
})

test('leases continue to run in a fork of the database, and a rewind restores leases', async () => {
  let nowMs = 0
  const time = {
    wallMs: () => nowMs,
    monotonicMs: () => nowMs,
    after: () => ({ close: () => undefined }),
    every: () => ({ close: () => undefined }),
    defer: (run: () => void) => void setImmediate(run),
  }
  await using engine = new MemoryEngine({ time })
  const lease = await engine.grantLease(100)
  await engine.change({ key: '/x/a', expected: 0, write: { put: Buffer.from('1'), lease } })
  nowMs = 60_000
  const state = engine.state()
  await using fork = MemoryEngine.from(state, { time })
  nowMs = 99_000
  for (const one of [engine, fork]) one.endDueLeases()
  assert.deepEqual([await all(engine), await all(fork)], [{ '/x/a': '1' }, { '/x/a': '1' }])
  nowMs = 101_000
  for (const one of [engine, fork]) one.endDueLeases()
  assert.deepEqual([await all(engine), await all(fork)], [{}, {}])
  assert.notEqual(await fork.grantLease(10), lease)
  engine.rewind(state, { isKept: never, isSameObject })
  assert.deepEqual(await all(engine), { '/x/a': '1' })
  nowMs += 39_000
  engine.endDueLeases()
  assert.deepEqual(await all(engine), { '/x/a': '1' })
  nowMs += 2_000
  engine.endDueLeases()
  assert.deepEqual(await all(engine), {})
})

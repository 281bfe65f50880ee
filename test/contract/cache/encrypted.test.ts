import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WatchEvent } from '../../../src/storage/cache/event.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import type { Plain, Transformer } from '../../../src/storage/transform.ts'
import { ScriptedCache } from '../../support/harness/scripted-engine.ts'

/**
 * Simulates a transformer with a KMS plugin. The first read of a value is asynchronous, because it
 * calls the plugin. Later reads of the same value are synchronous.
 */
class AskingTransformer implements Transformer {
  asked = 0
  askedAtOnce = 0
  #asking = 0
  readonly #known = new Set<string>()
  readonly #isAsked: (text: string) => boolean

  forget(): void {
    this.#known.clear()
    this.askedAtOnce = 0
  }

  constructor(isAsked: (text: string) => boolean) {
    this.#isAsked = isAsked
  }

  canBeStale(): boolean {
    return true
  }

  toStorage(_key: unknown, plain: Buffer): Buffer {
    return plain
  }

  fromStorage(_key: unknown, value: Buffer): Plain | Promise<Plain> {
    const text = value.toString()
    const plain = { value, stale: false }
    if (text.includes('broken')) return Promise.reject(new StorageError('corrupt', 'no such key'))
    if (!this.#isAsked(text) || this.#known.has(text)) return plain
    this.asked++
    this.askedAtOnce = Math.max(this.askedAtOnce, ++this.#asking)
    return sleep(5).then(() => {
      this.#asking--
      this.#known.add(text)
      return plain
    })
  }
}

const shownIn = (events: readonly WatchEvent[]): unknown[] =>
  events.flatMap((event) =>
    event.type === 'BOOKMARK' ? [] : [[event.type, event.item.peek()['value']]],
  )

test('an event that is decrypted asynchronously is delivered before later events', async () => {
  const transformer = new AskingTransformer((text) => text.includes('secret'))
  await using scripted = new ScriptedCache({ transformer })
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'first')
  await cache.start()
  const { revision } = await reader.list(range, 'any')
  const watcher = await reader.watch({ range, start: { after: revision } })
  engine.emit(scripted.put('a', 'secret'), scripted.put('b', 'plain'))
  assert.equal(reader.known()?.size, 1, 'no later event is visible before it')
  const { items } = await reader.list(range, 'latest')
  assert.deepEqual(
    items.map((item) => item.peek()['value']),
    ['secret', 'plain'],
  )
  assert.equal(transformer.asked, 1)
  assert.notEqual(watcher.state, 'closed')
  assert.deepEqual(shownIn(watcher.take()), [
    ['MODIFIED', 'secret'],
    ['ADDED', 'plain'],
  ])
})

test('if a new object cannot be decrypted, linearizable reads fail, but reads that accept any revision omit the object', async () => {
  const transformer = new AskingTransformer(() => false)
  await using scripted = new ScriptedCache({ transformer })
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'first')
  await cache.start()
  const { revision } = await reader.list(range, 'any')
  const watcher = await reader.watch({ range, start: { after: revision } })
  engine.emit(scripted.put('b', 'broken'))
  await assert.rejects(reader.list(range, 'latest'), {
    code: 'corrupt',
    message: /^unable to transform key ".*b": no such key$/,
  })
  await assert.rejects(reader.get(`${range.from}b`, 'latest'), {
    code: 'corrupt',
    message: 'no such key',
  })
  assert.equal((await reader.get(`${range.from}b`, 'any')).item, undefined)
  assert.equal((await reader.list(range, 'any')).items.length, 1)
  assert.equal((await reader.get(`${range.from}a`, 'latest')).item?.peek()['value'], 'first')
  assert.deepEqual(await cache.check(), [], 'the comparison ignores unreadable objects')
  assert.notEqual(watcher.state, 'closed', 'the watcher gets no event for it')
  const unreadableAt = engine.revision
  engine.emit(scripted.put('b', 'readable'))
  assert.equal((await reader.list(range, 'latest')).items.length, 2)
  // The list cannot be served, because only the database has the state at this revision. The
  // simulated database keeps no history.
  assert.equal((await reader.list(range, { exactly: unreadableAt })).state, undefined)
  assert.deepEqual(shownIn(watcher.take()), [['ADDED', 'readable']])
})

test('a page that contains undecryptable objects fails, and a page before such objects reports that there are more', async () => {
  const transformer = new AskingTransformer(() => false)
  await using scripted = new ScriptedCache({ transformer })
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'first')
  await cache.start()
  await reader.list(range, 'any')
  engine.emit(scripted.put('b', 'broken'))
  engine.emit(scripted.put('c', 'broken'))
  const page = await reader.list(range, 'latest', { limit: 1 })
  assert.deepEqual([page.items.length, page.more], [1, true])
  await assert.rejects(reader.list(range, 'latest', { limit: 2 }), (error) => {
    assert.ok(error instanceof StorageError)
    const keys = error.unread?.().map(({ key }) => key.slice(range.from.length))
    assert.deepEqual([error.code, keys], ['corrupt', ['b', 'c']])
    return true
  })
})

test('an object that becomes undecryptable closes the watchers', async () => {
  const transformer = new AskingTransformer(() => false)
  await using scripted = new ScriptedCache({ transformer })
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'first')
  await cache.start()
  const { revision } = await reader.list(range, 'any')
  const watcher = await reader.watch({ range, start: { after: revision } })
  engine.emit(scripted.put('a', 'broken'))
  // Lists must fail, so that no client concludes that the object was deleted. This also applies to
  // lists that accept any state.
  for (const at of ['latest', 'any'] as const) {
    await assert.rejects(reader.list(range, at), (error) => {
      assert.ok(error instanceof StorageError)
      const keys = error.unread?.().map(({ key }) => key.slice(range.from.length))
      assert.deepEqual([error.code, keys], ['corrupt', ['a']])
      assert.match(error.message, /^unable to transform key ".*a": no such key$/)
      return true
    })
  }
  assert.equal(watcher.state, 'closed', 'a live watcher would take the object for deleted')
  engine.emit(scripted.put('a', 'third'))
  assert.equal((await reader.list(range, 'latest')).items.length, 1)
})

test('after an encryption key is removed, reads of the objects that it encrypted fail instead of omitting these objects', async () => {
  const transformer = new AskingTransformer(() => false)
  await using scripted = new ScriptedCache({ transformer })
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'old')
  const { key, revision, createRevision, value } = scripted.put('b', 'new')
  await cache.start()
  assert.equal((await reader.list(range, 'latest')).items.length, 2)
  await cache.checkReadable(() => true)
  assert.equal((await reader.list(range, 'latest')).items.length, 2, 'nothing has changed')
  const fromStorage = transformer.fromStorage.bind(transformer)
  const broken: Transformer['fromStorage'] = (at, stored) => {
    if (stored.includes('old')) throw new StorageError('corrupt', 'no matching prefix found')
    return fromStorage(at, stored)
  }
  transformer.fromStorage = broken
  await cache.checkReadable(() => false)
  assert.equal((await reader.list(range, 'latest')).items.length, 2, 'the resource is not checked')
  const watcher = await reader.watch({ range, start: { after: engine.revision } })
  await cache.checkReadable(() => true)
  await assert.rejects(reader.list(range, 'latest'), { code: 'corrupt' })
  await assert.rejects(reader.get(`${range.from}a`, 'latest'), {
    code: 'corrupt',
    message: 'no matching prefix found',
  })
  assert.equal((await reader.get(key, 'latest')).item?.peek()['value'], 'new')
  assert.equal(
    (await reader.get(`${range.from}a`, 'any')).isUnreadable,
    true,
    'writes must not be based on it',
  )
  // The cache keeps an object that it can no longer decrypt, like that of kube-apiserver. Lists
  // that accept any state still return it.
  assert.equal((await reader.list(range, 'any')).items.length, 2)
  assert.deepEqual(await cache.check(), [], 'the comparison ignores unreadable objects')
  transformer.fromStorage = fromStorage
  await cache.checkReadable(() => true)
  assert.equal((await reader.list(range, 'latest')).items.length, 2, 'the key is back')
  transformer.fromStorage = broken
  await cache.checkReadable(() => true)
  engine.replace(engine.revision + 1, [{ key, revision, createRevision, value }])
  const gone = {
    type: 'delete',
    key: `${range.from}a`,
    revision: engine.revision,
    createRevision: 0,
  } as const
  engine.emit({ ...gone, value: Buffer.alloc(0) })
  assert.equal((await reader.list(range, 'latest')).items.length, 1)
  assert.deepEqual(shownIn(watcher.take()), [['DELETED', 'old']])
})

/** Makes all values that contain `text` undecryptable from now on. */
function takeKeyAway(transformer: AskingTransformer, text: string): void {
  const fromStorage = transformer.fromStorage.bind(transformer)
  transformer.fromStorage = (at, stored) => {
    if (stored.includes(text)) throw new StorageError('corrupt', 'no matching prefix found')
    return fromStorage(at, stored)
  }
}

test('if a check for undecryptable objects fails, the check is repeated', async () => {
  const transformer = new AskingTransformer(() => false)
  await using scripted = new ScriptedCache({ transformer })
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'old')
  await cache.start()
  await reader.list(range, 'latest')
  takeKeyAway(transformer, 'old')
  const answered = engine.range.bind(engine)
  engine.range = () => Promise.reject(new StorageError('unavailable', 'etcd is away'))
  await cache.checkReadable(() => true)
  engine.range = answered
  assert.equal(
    (await reader.list(range, 'latest')).items.length,
    1,
    'the failed check has found nothing yet',
  )
  cache.sweep()
  await assert.rejects(
    async () => {
      for (let tries = 0; tries < 100; tries++) {
        await reader.list(range, 'latest')
        await sleep(1)
      }
    },
    { code: 'corrupt' },
  )
})

test('a check for undecryptable objects leaves capacity of the KMS plugin for other callers', async () => {
  const transformer = new AskingTransformer(() => true)
  await using scripted = new ScriptedCache({ transformer })
  const { cache, reader, range } = scripted
  for (let at = 0; at < 100; at++) scripted.put(`${at}`, `value-${at}`)
  await cache.start()
  await reader.list(range, 'latest')
  assert.ok(transformer.askedAtOnce > 4, `${transformer.askedAtOnce}`)
  transformer.forget()
  await cache.checkReadable(() => true)
  assert.equal(transformer.asked, 200)
  assert.ok(transformer.askedAtOnce <= 4, `${transformer.askedAtOnce}`)
})

test('when a resource is loaded again, an object that is no longer decryptable is reported', async () => {
  for (const isNoticed of [true, false]) {
    const transformer = new AskingTransformer(() => false)
    await using scripted = new ScriptedCache({ transformer, unusedMs: -1 })
    const { cache, reader, range } = scripted
    scripted.put('a', 'old')
    scripted.put('b', 'new')
    await cache.start()
    await reader.list(range, 'latest')
    const drop = (): void => {
      cache.sweep()
      assert.equal(reader.known(), undefined)
    }
    if (!isNoticed) drop()
    takeKeyAway(transformer, 'old')
    await cache.checkReadable(() => true)
    if (isNoticed) drop()
    for (const at of ['latest', 'any'] as const)
      await assert.rejects(reader.list(range, at), { code: 'corrupt' })
  }
})

test('when an undecryptable object is deleted, watchers that might have received it must list again', async () => {
  const transformer = new AskingTransformer(() => false)
  await using scripted = new ScriptedCache({ transformer })
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'first')
  await cache.start()
  await reader.list(range, 'any')
  engine.emit(scripted.put('a', 'broken'))
  await assert.rejects(reader.list(range, 'latest'), { code: 'corrupt' })
  const watcher = await reader.watch({ range, start: { after: engine.revision } })
  engine.replace(engine.revision + 1)
  const gone = {
    type: 'delete',
    key: `${range.from}a`,
    revision: engine.revision,
    createRevision: 0,
  } as const
  engine.emit({ ...gone, value: Buffer.alloc(0) })
  assert.equal((await reader.list(range, 'latest')).items.length, 0)
  assert.equal(watcher.state, 'closed')
})

test('an object that was undecryptable from the start does not prevent gets of other objects', async () => {
  const transformer = new AskingTransformer(() => false)
  await using scripted = new ScriptedCache({ transformer })
  const { cache, reader, range } = scripted
  scripted.put('a', 'first')
  scripted.put('b', 'broken')
  await cache.start()
  for (const at of ['any', 'latest'] as const) {
    await assert.rejects(reader.list(range, at), {
      code: 'busy',
      message:
        /^storage is \(re\)initializing: failed to list \S+: unable to transform key ".*b": no such key$/,
    })
  }
  assert.equal((await reader.get(`${range.from}a`, 'latest')).item?.peek()['value'], 'first')
  await assert.rejects(reader.get(`${range.from}b`, 'latest'), {
    code: 'corrupt',
    message: 'no such key',
  })
})

test('while the KMS plugin is unavailable, events of other objects do not delay the error response to a read', async () => {
  const transformer = new AskingTransformer(() => false)
  transformer.fromStorage = (): never => {
    throw new StorageError('sealed', 'the plugin is away')
  }
  await using scripted = new ScriptedCache({ transformer })
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'first')
  await cache.start()
  let isOver = false
  const events = async (): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      engine.emit(scripted.put(`e-${n % 10}`, 'other'))
      await sleep(1)
    }
  }
  const telling = events()
  try {
    await assert.rejects(reader.list(range, 'latest'), {
      code: 'busy',
      message: /the plugin is away$/,
    })
    await assert.rejects(reader.get(`${range.from}a`, 'latest'), { code: 'sealed' })
  } finally {
    isOver = true
    await telling
  }
})

test('a watch with initial events fails if an object is undecryptable, unless it accepts such objects', async () => {
  const transformer = new AskingTransformer(() => false)
  await using scripted = new ScriptedCache({ transformer })
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'first')
  scripted.put('b', 'broken')
  await cache.start()
  for (const initial of ['any', 'latest'] as const) {
    await assert.rejects(reader.watch({ range, start: { initial } }), { code: 'busy' })
  }
  const reported: string[] = []
  const onUnreadable = (key: string, state: string): void =>
    void reported.push(`${key.slice(range.from.length)} ${state}`)
  const watcher = await reader.watch({ range, start: { initial: 'latest' }, onUnreadable })
  engine.emit(scripted.put('c', 'broken'))
  await assert.rejects(reader.get(`${range.from}c`, 'latest'), { code: 'corrupt' })
  assert.deepEqual(reported, ['b unreadable', 'c unreadable'])
  watcher.close()
})

test('an undecryptable object is still reported after it is overwritten with another undecryptable value', async () => {
  const transformer = new AskingTransformer(() => false)
  await using scripted = new ScriptedCache({ transformer })
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'first')
  await cache.start()
  await reader.list(range, 'any')
  for (const value of ['broken', 'broken again']) {
    engine.emit(scripted.put('a', value))
    for (const at of ['latest', 'any'] as const)
      await assert.rejects(reader.list(range, at), { code: 'corrupt' }, value)
  }
})

test('if an undecryptable object is deleted or becomes readable, watchers that may know the object must list again', async () => {
  for (const isListed of [true, false]) {
    for (const end of ['deleted', 'readable']) {
      const transformer = new AskingTransformer(() => false)
      await using scripted = new ScriptedCache({ transformer })
      const { cache, engine, reader, range } = scripted
      const other = scripted.put('b', 'other')
      // The watcher might know the object, even if this server has never been able to decrypt it.
      // Another server may have served the object earlier.
      scripted.put('a', isListed ? 'broken' : 'first')
      await cache.start()
      await reader.list(range, 'any').catch(() => undefined)
      if (!isListed) engine.emit(scripted.put('a', 'broken'))
      await assert.rejects(reader.list(range, 'latest'))
      const watcher = await reader.watch({ range, start: { after: engine.revision } })
      if (end === 'readable') engine.emit(scripted.put('a', 'third'))
      else {
        engine.replace(engine.revision + 1, [other])
        const gone = {
          type: 'delete',
          key: `${range.from}a`,
          revision: engine.revision,
          createRevision: 0,
        } as const
        engine.emit({ ...gone, value: Buffer.alloc(0) })
      }
      assert.equal((await reader.list(range, 'latest')).items.length, end === 'readable' ? 2 : 1)
      assert.equal(watcher.state, 'closed', `${isListed ? 'listed' : 'shown'}, ${end}`)
    }
  }
})

test('a list that is in progress when a decryption key is removed fails and can be retried', async () => {
  const transformer = new AskingTransformer((text) => text.includes('asked'))
  await using scripted = new ScriptedCache({ transformer })
  const { cache, reader, range } = scripted
  scripted.put('a', 'old')
  scripted.put('b', 'asked')
  await cache.start()
  const list = reader.list(range, 'latest')
  // Wait until the list has decrypted the first object, and the plugin is decrypting the second
  // one.
  while (transformer.asked === 0) await new Promise(setImmediate)
  takeKeyAway(transformer, 'old')
  await cache.checkReadable(() => true)
  await assert.rejects(list, { code: 'busy' })
  await assert.rejects(reader.list(range, 'any'), { code: 'busy' })
})

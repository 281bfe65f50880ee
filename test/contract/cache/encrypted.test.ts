/** Values that only a promise can open, as those of a key that a plugin has to be asked for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { StorageError } from '../../../src/storage/errors.ts'
import type { Plain, Transformer } from '../../../src/storage/transform.ts'
import { ScriptedCache } from '../../harness/scripted-engine.ts'

/** Knows a value at once after it has been asked for it. */
class AskingTransformer implements Transformer {
  asked = 0
  readonly #known = new Set<string>()
  readonly #isAsked: (text: string) => boolean

  constructor(isAsked: (text: string) => boolean) {
    this.#isAsked = isAsked
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
    return sleep(5).then(() => {
      this.#known.add(text)
      return plain
    })
  }
}

test('an event whose value has to be asked for is not overtaken, and is seen', async () => {
  const transformer = new AskingTransformer((text) => text.includes('secret'))
  await using scripted = new ScriptedCache({ transformer })
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'first')
  await cache.start()
  const { revision } = await reader.list(range, 'any')
  const watcher = await reader.watch({ range, start: { after: revision } })
  engine.tell(scripted.put('a', 'secret'), scripted.put('b', 'plain'))
  assert.equal(watcher.state, 'closed', 'its client comes back with the revision it knows')
  const { items } = await reader.list(range, 'latest')
  assert.deepEqual(
    items.map((item) => item.peek()['value']),
    ['secret', 'plain'],
  )
  assert.ok(transformer.asked > 0)
  const again = await reader.watch({ range, start: { initial: 'any' } })
  engine.tell(scripted.put('b', 'more'))
  assert.equal(again.state, 'replaying', 'what can be opened at once lets nobody go')
  again.close()
})

test('one that cannot be opened, even by asking, is an object that cannot be read', async () => {
  const transformer = new AskingTransformer(() => false)
  await using scripted = new ScriptedCache({ transformer })
  const { cache, engine, reader, range } = scripted
  scripted.put('a', 'first')
  await cache.start()
  await reader.list(range, 'any')
  engine.tell(scripted.put('b', 'broken'))
  await assert.rejects(reader.list(range, 'latest'), { code: 'corrupt' })
})

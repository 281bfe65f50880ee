import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { textOf } from '../api/object.ts'
import { systemTime } from '../lib/timers.ts'
import { StorageError } from '../storage/errors.ts'
import { rangeOf } from '../storage/keys.ts'
import { Change } from './event.ts'
import { Facts } from './facts.ts'
import { FieldIndexes } from './field-index.ts'
import { Item, type ItemHome } from './item.ts'
import { Ring } from './ring.ts'
import { Slabs } from './slabs.ts'
import { newTree } from './tree.ts'

/** A resource as its indexes see it. */
class Things {
  tree = newTree()
  ring = new Ring(0, () => undefined)
  readonly range = rangeOf('/things/')
  readonly #slabs = new Slabs()
  readonly #facts = new Facts(() => ({ color: (object) => textOf(object['color']) }))
  readonly indexes = new FieldIndexes(this.#facts, () => this, systemTime)
  readonly #home: ItemHome = {
    form: {
      decode: (bytes) => {
        const text = bytes.toString()
        if (text === 'corrupt') throw new StorageError('corrupt', 'not an object')
        return { kind: 'Thing', apiVersion: 'v1', metadata: {}, color: text }
      },
      print: () => ({ bytes: Buffer.alloc(1), headBytes: 0, versionAt: 0 }),
      facts: this.#facts,
    },
    put: (item, bytes, tail) => this.#slabs.put(item, bytes, tail),
    view: (item, start, end) => this.#slabs.view(item, start, end),
    keep: () => undefined,
  }
  #revision = 0

  /** Undefined deletes. */
  put(name: string, color: string | undefined): void {
    const key = `/things/${name}`
    const previous = this.tree.get(key)
    const revision = ++this.#revision
    const item = color === undefined ? undefined : new Item(this.#home, { key, revision, createRevision: revision })
    if (item !== undefined) this.#slabs.put(item, Buffer.from(color ?? ''))
    if (item === undefined) this.tree.delete(key)
    else this.tree.set(key, item)
    this.ring.push(new Change({ key, revision, item, previous }))
  }

  find(value: string): string[] | undefined {
    return this.indexes
      .find({ field: 'color', value })
      ?.valuesArray()
      .map((item) => `${item.key} ${item.revision}`)
  }

  scan(value: string): string[] {
    const items = this.tree.valuesArray().filter((item) => item.peek()['color'] === value)
    return items.map((item) => `${item.key} ${item.revision}`)
  }

  /** What the index says once it is ready. */
  async found(value: string): Promise<string[]> {
    for (let turns = 0; turns < 1_000; turns++) {
      const found = this.find(value)
      if (found !== undefined) return found
      await turn()
    }
    throw new Error('the index never answered')
  }
}

const colors = ['red', 'green', 'blue', '']

test('an index answers as all objects would, through any changes', async () => {
  const things = new Things()
  let state = 1
  const random = (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % below
  }
  const change = (): void => things.put(`t${random(50)}`, random(5) === 0 ? undefined : colors[random(4)])
  for (let i = 0; i < 100; i++) change()
  assert.equal(things.find('red'), undefined) // it is being made
  for (let round = 0; round < 200; round++) {
    for (let i = random(20); i > 0; i--) change()
    for (const color of [...colors, 'none']) assert.deepEqual(await things.found(color), things.scan(color))
    if (round % 10 === 0) while (things.ring.first < things.ring.end) things.ring.drop()
  }
})

test('an index that is far behind catches up in slices, and nobody waits for it', async () => {
  const things = new Things()
  await things.found('red')
  for (let i = 0; i < 3_000; i++) things.put(`t${i % 1_000}`, colors[i % 3])
  assert.equal(things.find('red'), undefined)
  assert.deepEqual(await things.found('red'), things.scan('red'))
})

test('events that the ring has forgotten make a new index, and so does another state', async () => {
  const things = new Things()
  things.put('a', 'red')
  assert.deepEqual(await things.found('red'), ['/things/a 1'])
  things.put('a', 'blue')
  things.put('b', 'red')
  things.ring.drop()
  things.ring.drop()
  assert.deepEqual(await things.found('red'), ['/things/b 3'])
  things.tree = newTree()
  things.ring = new Ring(3, () => undefined)
  assert.equal(things.find('red'), undefined)
  things.put('c', 'red')
  assert.deepEqual(await things.found('red'), ['/things/c 4'])
})

test('an index goes when nobody asks it, and where an object cannot be read', async () => {
  const things = new Things()
  things.put('a', 'red')
  await things.found('red')
  for (let turns = 0; turns < 31; turns++) things.indexes.endTurn()
  assert.equal(things.find('red'), undefined)
  await things.found('red')
  things.put('b', 'corrupt')
  assert.equal(things.find('red'), undefined)
  await turn()
  assert.equal(things.find('red'), undefined)
  things.put('b', undefined)
  assert.equal(things.indexes.find({ field: 'unknown', value: 'x' }), undefined)
})

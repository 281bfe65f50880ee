import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { heldBytes } from '../../../test/support/harness/held-bytes.ts'
import { textOf } from '../../api/object.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { StorageError } from '../errors.ts'
import { rangeOf } from '../keys.ts'
import { ObjectChange } from './event.ts'
import { Facts } from './facts.ts'
import { FieldIndexes } from './field-index.ts'
import { Item, type ItemHome } from './item.ts'
import { Ring } from './ring.ts'
import { Slabs } from './slabs.ts'
import { type IndexedValue, newTree } from './tree.ts'

/**
 * Returns the labels of a test object of this color: the color, its first letter, and a constant.
 */
const labelled = (color: string) =>
  color === '' ? {} : { labels: { color, letter: color.slice(0, 1), own: 'x' } }

/** A fake resource with the parts that the indexes read. */
class IndexedThings {
  tree = newTree()
  ring = new Ring(0, () => undefined)
  readonly range = rangeOf('/things/')
  readonly #slabs = new Slabs()
  readonly #facts = new Facts(() => ({ color: (object) => textOf(object['color']) }))
  readonly indexes = new FieldIndexes(this.#facts, () => this, systemTime, { looksMin: 10 })
  readonly #home: ItemHome = {
    codec: {
      decode: (bytes) => {
        const text = bytes.toString()
        if (text === 'corrupt') throw new StorageError('corrupt', 'not an object')
        // If the text contains `|`, the part after it makes the labels too long to be stored in
        // encoded form.
        const [color = '', more = ''] = text.split('|')
        const metadata =
          more === '' ? labelled(color) : { labels: { color, more: more.slice(0, 5_000) } }
        return { kind: 'Thing', apiVersion: 'v1', metadata, color }
      },
      print: () => ({ bytes: Buffer.alloc(1), headBytes: 0, versionAt: 0 }),
      facts: this.#facts,
    },
    put: (item, bytes, tail) => this.#slabs.put(item, bytes, tail),
    view: (item, start, end) => this.#slabs.view(item, start, end),
    keep: () => undefined,
  }
  #revision = 0

  /** Writes a test object. If the color is undefined, deletes the object. */
  put(name: string, color: string | undefined): void {
    const key = `/things/${name}`
    const previous = this.tree.get(key)
    const revision = ++this.#revision
    const item =
      color === undefined
        ? undefined
        : new Item(this.#home, { key, revision, createRevision: revision })
    if (item !== undefined) this.#slabs.put(item, Buffer.from(color ?? ''))
    if (item === undefined) this.tree.delete(key)
    else this.tree.set(key, item)
    this.ring.push(new ObjectChange({ key, revision, item, previous }))
  }

  find(
    value: string,
    by: readonly IndexedValue[] = [{ field: 'color', value }],
  ): string[] | undefined {
    return this.indexes
      .find(by)
      ?.keysArray()
      .map((key) => `${key} ${this.tree.get(key)?.revision}`)
  }

  scan(value: string): string[] {
    const items = this.tree.valuesArray().filter((item) => item.peek()['color'] === value)
    return items.map((item) => `${item.key} ${item.revision}`)
  }

  /** Waits until the index is ready, and returns the objects that it finds. */
  async found(value: string, by?: readonly IndexedValue[]): Promise<string[]> {
    for (let turns = 0; turns < 1_000; turns++) {
      const found = this.find(value, by)
      if (found !== undefined) return found
      await turn()
    }
    throw new Error('the index did not become ready')
  }
}

const colors = ['red', 'green', 'blue', '']

test('an index of a field finds the same objects as a scan, before and after changes', async () => {
  const things = new IndexedThings()
  const random = randomOf(1)
  const change = (): void =>
    things.put(`t${random(50)}`, random(5) === 0 ? undefined : colors[random(4)])
  for (let i = 0; i < 100; i++) change()
  assert.equal(things.find('red'), undefined) // the index is being built
  for (let round = 0; round < 200; round++) {
    for (let i = random(20); i > 0; i--) change()
    for (const color of [...colors, 'none'])
      assert.deepEqual(await things.found(color), things.scan(color))
    if (round % 10 === 0) while (things.ring.first < things.ring.end) things.ring.evict()
  }
})

test('an index that is far behind applies events in slices and does not delay queries', async () => {
  const things = new IndexedThings()
  await things.found('red')
  for (let i = 0; i < 3_000; i++) things.put(`t${i % 1_000}`, colors[i % 3])
  assert.equal(things.find('red'), undefined)
  assert.deepEqual(await things.found('red'), things.scan('red'))
})

test('an index is rebuilt after the event ring has evicted events that the index needs, and after the resource is listed again', async () => {
  const things = new IndexedThings()
  things.put('a', 'red')
  assert.deepEqual(await things.found('red'), ['/things/a 1'])
  things.put('a', 'blue')
  things.put('b', 'red')
  things.ring.evict()
  things.ring.evict()
  assert.deepEqual(await things.found('red'), ['/things/b 3'])
  things.tree = newTree()
  things.ring = new Ring(3, () => undefined)
  assert.equal(things.find('red'), undefined)
  things.put('c', 'red')
  assert.deepEqual(await things.found('red'), ['/things/c 4'])
})

test('an index of a field is dropped when it is unused, and when an object cannot be decoded', async () => {
  const things = new IndexedThings()
  things.put('a', 'red')
  await things.found('red')
  for (let sweeps = 0; sweeps < 31; sweeps++) things.indexes.onSweep()
  assert.equal(things.find('red'), undefined)
  await things.found('red')
  things.put('b', 'corrupt')
  assert.equal(things.find('red'), undefined)
  await turn()
  assert.equal(things.find('red'), undefined)
  things.put('b', undefined)
  assert.equal(things.indexes.find([{ field: 'unknown', value: 'x' }]), undefined)
})

/** Returns a generator of pseudorandom numbers that are determined by the seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % below
  }
}

const label = (name: string, value: string): IndexedValue[] => [{ label: name, value }]

test('an index is built for a label when scans for the label have rejected many objects', async () => {
  const things = new IndexedThings()
  for (let i = 0; i < 30; i++) things.put(`t${i}`, colors[i % 3])
  const red = label('color', 'red')
  assert.equal(things.find('red', red), undefined)
  await turn()
  assert.equal(things.find('red', red), undefined)
  things.indexes.recordScan(red, 20)
  assert.equal(things.find('red', red), undefined)
  things.indexes.onSweep() // earlier scans do not count
  things.indexes.recordScan(red, 20)
  await turn()
  assert.equal(things.find('red', red), undefined)
  things.indexes.recordScan(red, 20)
  assert.deepEqual(await things.found('red', red), things.scan('red'))
  assert.deepEqual(await things.found('none', label('color', 'none')), [])
})

test('an index of a label finds the same objects as a scan, before and after changes', async () => {
  const things = new IndexedThings()
  const random = randomOf(5)
  const change = (): void =>
    things.put(`t${random(50)}`, random(5) === 0 ? undefined : colors[random(4)])
  for (let i = 0; i < 100; i++) change()
  things.indexes.recordScan(label('color', 'red'), 1_000)
  for (let round = 0; round < 200; round++) {
    for (let i = random(20); i > 0; i--) change()
    for (const color of [...colors.slice(0, 3), 'none'])
      assert.deepEqual(await things.found(color, label('color', color)), things.scan(color))
    if (round % 10 === 0) {
      while (things.ring.first < things.ring.end) things.ring.evict()
      things.find('red', label('color', 'red')) // this query notices that the index is lost
      things.indexes.recordScan(label('color', 'red'), 1_000)
    }
  }
})

test('a query for the values of several fields uses the index that finds the fewest objects', async () => {
  const things = new IndexedThings()
  for (let i = 0; i < 60; i++) things.put(`t${i}`, ['blue', 'blue', 'black', 'red'][i % 4])
  const asked = [...label('letter', 'b'), ...label('color', 'black')]
  things.indexes.recordScan(asked, 1_000)
  for (let turns = 0; turns < 10; turns++) await turn()
  assert.deepEqual(things.find('', asked), things.scan('black'))
  assert.deepEqual(things.find('', label('letter', 'b'))?.length, 45)
})

test('at most two labels have indexes, and a new index does not replace one that is in use', async () => {
  const things = new IndexedThings()
  for (let i = 0; i < 30; i++) things.put(`t${i}`, colors[i % 3])
  const [color, letter, own] = [label('color', 'red'), label('letter', 'r'), label('own', 'y')]
  for (const by of [color, letter]) {
    things.indexes.recordScan(by, 1_000)
    await things.found('', by)
  }
  const ask = async (): Promise<string[] | undefined> => {
    things.indexes.recordScan(own, 1_000)
    for (let turns = 0; turns < 10; turns++) await turn()
    return things.find('', own)
  }
  assert.equal(await ask(), undefined)
  things.indexes.onSweep()
  assert.ok(things.find('', color) !== undefined)
  assert.deepEqual(await ask(), [])
  assert.equal(things.find('', letter), undefined)
  assert.ok(things.find('', color) !== undefined)
})

const objectOf = (bytes: Buffer) => ({
  kind: 'T',
  apiVersion: 'v1',
  metadata: { labels: JSON.parse(bytes.toString()) },
})

test('an index finds a label even if the key of the label becomes a shared string while the object is read', () => {
  const facts = new Facts(() => ({}))
  const slabs = new Slabs()
  const home: ItemHome = {
    codec: {
      facts,
      decode: objectOf,
      print: () => ({ bytes: Buffer.alloc(1), headBytes: 0, versionAt: 0 }),
      settle: (bytes) => ({ wire: { bytes, headBytes: 0, versionAt: 0 }, object: objectOf(bytes) }),
    },
    put: (item, bytes, tail) => slabs.put(item, bytes, tail),
    view: (item, start, end) => slabs.view(item, start, end),
    keep: () => undefined,
  }
  const stored = (labels: object): Item => {
    const item = new Item(home, { key: '/things/a', revision: 1, createRevision: 1 })
    slabs.put(item, Buffer.from(JSON.stringify(labels)))
    return item
  }
  const current = {
    tree: newTree(),
    ring: new Ring(0, () => undefined),
    range: rangeOf('/things/'),
  }
  const read = new FieldIndexes(facts, () => current, systemTime).readerOf({
    label: 'app',
    value: 'web',
  })
  assert.equal(read?.(stored({ app: 'web' })), 'web')
  // In this object, `app` occurs for the second time, so the string is added to the vocabulary
  // before the key is read.
  assert.equal(read?.(stored({ a: 'app', app: 'web' })), 'web')
})

const longText = (): string => Buffer.alloc(1 << 20, 'a').toString('latin1')

for (const by of [{ field: 'color' }, { label: 'color' }]) {
  test(`an index does not retain the memory of the objects: ${Object.keys(by).join()}`, async () => {
    const things = new IndexedThings()
    const sought = [{ ...by, value: 'none' }]
    for (let at = 0; at < 20; at++) things.put(`${at}`, `color-of-thing-${at}|${longText()}`)
    const held = await heldBytes(async () => {
      things.indexes.recordScan(sought, 1_000)
      assert.deepEqual(await things.found('none', sought), [])
    })
    assert.ok(held < 5 << 20, `${held} bytes are held`)
  })
}

test('counted or indexed labels do not retain the selectors that they were sliced from', async () => {
  const things = new IndexedThings()
  const held = await heldBytes(() => {
    for (let at = 0; at < 20; at++) {
      const [own = ''] = Buffer.from(`label-of-selector-${at}=${longText()}`)
        .toString('latin1')
        .split('=')
      things.indexes.recordScan([{ label: own, value: 'none' }], at < 2 ? 1_000 : 1)
    }
  })
  assert.ok(held < 1 << 20, `${held} bytes are held`)
})

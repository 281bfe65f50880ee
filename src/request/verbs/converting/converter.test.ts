import assert from 'node:assert/strict'
import test from 'node:test'
import type { KubeObject } from '../../../api/object.ts'
import { LateFrames } from '../../../storage/cache/event.ts'
import { Item, type ItemHome } from '../../../storage/cache/item.ts'
import { EvictionQueue } from '../../../storage/cache/eviction-queue.ts'
import { Slabs } from '../../../storage/cache/slabs.ts'
import { customResources } from '../../../registry/custom/custom-resource.ts'
import { readCrd } from '../../../registry/custom/crd.ts'
import type { Originals } from './conversion.ts'
import { ConvertedItems } from './converted-items.ts'
import { Converter } from './converter.ts'

const open = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
const [, v2] = customResources(
  readCrd({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com', uid: '1' },
    spec: {
      group: 'example.com',
      versions: [
        { name: 'v1', served: true, storage: true, schema: open },
        { name: 'v2', served: true, schema: open },
      ],
    },
    status: { acceptedNames: { plural: 'widgets', kind: 'Widget' } },
  }),
)
assert.ok(v2 !== undefined)

const slabs = new Slabs()
const home: ItemHome = {
  codec: {
    decode: (bytes) => JSON.parse(bytes.toString()),
    print: (object) => ({ bytes: Buffer.from(JSON.stringify(object)), headBytes: 0, versionAt: 0 }),
  },
  put: (item, bytes) => slabs.put(item, bytes),
  view: (item, start, end) => slabs.view(item, start, end),
  keep: (item) => {
    item.decoded = undefined
  },
}

function itemOf(name: string, { revision = 1, bytes = 100 } = {}): Item {
  const item = new Item(home, { key: `/${name}`, revision, createRevision: 1 })
  const text = 'x'.repeat(bytes)
  slabs.put(
    item,
    Buffer.from(
      JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, text }),
    ),
  )
  return item
}

/**
 * A webhook that responds when the test resolves `answer`. It cannot convert objects with the name
 * `bad`.
 */
class FakeWebhook {
  readonly reviews: string[][] = []
  answer: Promise<void> = Promise.resolve()
  originals: Originals | undefined

  async convert(originals: Originals, apiVersion: string): Promise<readonly KubeObject[]> {
    this.originals = originals
    const objects = Array.from(
      { length: originals.length },
      (_, at) => originals.at(at) ?? assert.fail(),
    )
    const names = objects.map(({ metadata }) => metadata.name ?? '')
    this.reviews.push(names)
    await this.answer
    if (names.includes('bad')) throw new Error('cannot do that')
    return objects.map((object) => ({ ...object, apiVersion }))
  }
}

class FakeDatabase {
  lives = 0
  settled = true
  readonly life = (): number => this.lives
  readonly isSettled = (): boolean => this.settled
}

type ConverterFixture = {
  webhook: FakeWebhook
  kept: ConvertedItems
  converter: Converter
  database: FakeDatabase
}

function setUp(bytesMax?: number): ConverterFixture {
  const webhook = new FakeWebhook()
  const database = new FakeDatabase()
  const kept = new ConvertedItems((item) => slabs.release(item), bytesMax)
  return {
    webhook,
    kept,
    database,
    converter: new Converter(v2 ?? assert.fail(), {
      webhook,
      kept,
      home,
      frames: new EvictionQueue(1 << 20),
      database,
    }),
  }
}

test('concurrent requests for the same objects share one conversion review', async () => {
  const { webhook, converter } = setUp()
  const items = [itemOf('a'), itemOf('b')]
  const results = await Promise.all(Array.from({ length: 100 }, () => converter.items(items)))
  assert.deepEqual(webhook.reviews, [['a', 'b']])
  for (const result of results)
    assert.deepEqual(
      result.map((item) => item.peek().apiVersion),
      Array(2).fill('example.com/v2'),
    )
  await converter.items(items)
  assert.equal(webhook.reviews.length, 1)
})

test('the size of a conversion review and its number of objects are limited, and the order of the objects is preserved', async () => {
  const { webhook, converter } = setUp()
  const large = Array.from({ length: 20 }, (_, at) => itemOf(`large${at}`, { bytes: 100_000 }))
  const small = Array.from({ length: 1200 }, (_, at) => itemOf(`small${at}`, { bytes: 10 }))
  const all = [...large, itemOf('huge', { bytes: 1_000_000 }), ...small]
  const converted = await converter.items(all)
  assert.deepEqual(
    converted.map(({ key }) => key),
    all.map(({ key }) => key),
  )
  const sizes = webhook.reviews.map((names) => names.length)
  assert.deepEqual(sizes.slice(0, 11), [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1])
  assert.ok(sizes.slice(11).every((size) => size <= 500))
})

test('an object that cannot be converted does not fail requests for other objects in the same review', async () => {
  const { webhook, converter } = setUp()
  const gate = Promise.withResolvers<void>()
  webhook.answer = gate.promise
  const [good, bad] = [itemOf('good'), itemOf('bad')]
  const both = converter.items([good, bad])
  const alone = converter.items([good])
  gate.resolve()
  await assert.rejects(both, /cannot do that/)
  assert.equal((await alone)[0]?.peek().apiVersion, 'example.com/v2')
})

test('the cache of converted objects is limited in bytes, retains two revisions of each object, and is cleared together with the definition', async () => {
  const { webhook, kept, converter } = setUp(100_000)
  await converter.items(Array.from({ length: 100 }, (_, at) => itemOf(`w${at}`, { bytes: 5_000 })))
  assert.ok(kept.bytes <= 100_000)
  const revisions = [1, 2, 3].map((revision) => itemOf('one', { revision }))
  for (const item of revisions) await converter.items([item])
  const calls = webhook.reviews.length
  await converter.items(revisions.slice(1))
  assert.equal(webhook.reviews.length, calls)
  converter.close()
  assert.equal(kept.bytes, 0)
  const { liveBytes } = slabs.size
  const again = await converter.items(revisions)
  assert.equal(kept.bytes, 0)
  assert.equal(slabs.size.liveBytes, liveBytes, 'nothing is held for a definition that is gone')
  assert.equal(again[0]?.peek().apiVersion, 'example.com/v2')
})

const textOf = ([item]: readonly Item[]): unknown => item?.peek()['text']

test('after a restore of the database, conversions return no object of the previous database', async () => {
  const { webhook, kept, database, converter } = setUp()
  const [lost, restored] = [itemOf('a', { bytes: 1 }), itemOf('a', { bytes: 2 })]
  await converter.items([lost])
  const gate = Promise.withResolvers<void>()
  webhook.answer = gate.promise
  const late = converter.items([itemOf('b', { bytes: 1 })])
  database.lives++
  database.settled = false
  const [now, then, other] = [
    converter.items([restored]),
    converter.items([lost]),
    converter.items([itemOf('b', { bytes: 2 })]),
  ]
  gate.resolve()
  assert.deepEqual([await now, await then, await late, await other].map(textOf), [
    'xx',
    'x',
    'x',
    'xx',
  ])
  assert.equal(kept.bytes, 0, 'a request may still have objects of the database before')
  database.settled = true
  assert.deepEqual(
    [textOf(await converter.items([restored])), textOf(await converter.items([restored]))],
    ['xx', 'xx'],
  )
  assert.ok(kept.bytes > 0)
  assert.deepEqual(
    webhook.reviews.map((names) => names.join()),
    ['a', 'b', 'a', 'a', 'b', 'a'],
  )
})

test('an object that one request contains twice is sent to the conversion webhook once', async () => {
  const { webhook, converter } = setUp()
  const [good, bad] = [itemOf('good'), itemOf('bad')]
  const [first, second] = await converter.items([good, good])
  assert.equal(first, second)
  await assert.rejects(converter.items([bad, bad]), /cannot do that/)
  assert.deepEqual(webhook.reviews, [['good'], ['bad']])
})

test('requests that waited for a failed conversion review share one further review with all of their objects', async () => {
  const { webhook, converter } = setUp()
  const gate = Promise.withResolvers<void>()
  webhook.answer = gate.promise
  const items = [itemOf('good'), itemOf('bad'), itemOf('fine')]
  const readers = Array.from({ length: 50 }, () => converter.items(items))
  gate.resolve()
  for (const end of await Promise.allSettled(readers)) assert.equal(end.status, 'rejected')
  const reviews = webhook.reviews.map((names) => names.join()).toSorted()
  assert.deepEqual(reviews, ['good,bad,fine', 'good,bad,fine'])
})

test('a retry after a failed conversion review contains only the objects of its own request', async () => {
  const { webhook, converter } = setUp()
  const gate = Promise.withResolvers<void>()
  webhook.answer = gate.promise
  const [good, bad, fine] = [itemOf('good'), itemOf('bad'), itemOf('fine')]
  const failing = [converter.items([good, bad, fine]), converter.items([bad, fine])]
  const others = [converter.items([fine]), converter.items([good, fine])]
  gate.resolve()
  for (const end of await Promise.allSettled(failing)) assert.equal(end.status, 'rejected')
  for (const items of await Promise.all(others))
    for (const item of items) assert.equal(item.peek().apiVersion, 'example.com/v2')
})

test('several watches that send the same converted event within a short time share the bytes of the event', async () => {
  const { converter } = setUp()
  const [item = assert.fail()] = await converter.items([itemOf('a', { revision: 7 })])
  const show = (type: 'ADDED' | 'MODIFIED'): Buffer => converter.frames.shown(type, 7, item).frame()
  assert.equal(show('ADDED'), show('ADDED'))
  assert.match(show('MODIFIED').toString(), /^\{"type":"MODIFIED","object":\{/)
  const other = new LateFrames(new EvictionQueue(0))
  assert.notEqual(
    other.shown('ADDED', 7, item).frame(),
    other.shown('ADDED', 7, item).frame(),
    'nothing is kept',
  )
})

test('objects are read again after the conversion webhook has responded, and are not kept in memory during the call', async () => {
  const { webhook, converter } = setUp()
  const gate = Promise.withResolvers<void>()
  webhook.answer = gate.promise
  const item = itemOf('a')
  const decoded: KubeObject[] = []
  item.peek = () => {
    decoded.push({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } })
    return decoded.at(-1) ?? assert.fail()
  }
  const converting = converter.items([item])
  assert.equal(decoded.length, 1, 'once for the version and the review')
  assert.notEqual(webhook.originals?.at(0), decoded[0])
  gate.resolve()
  await converting
})

test('converted objects are not cached if their review was sent before the database was replaced', async () => {
  const { webhook, kept, database, converter } = setUp()
  const gate = Promise.withResolvers<void>()
  webhook.answer = gate.promise
  const late = converter.items([itemOf('a')])
  database.lives++
  gate.resolve()
  await late
  assert.equal(kept.bytes, 0)
})

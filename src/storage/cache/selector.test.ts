import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFieldSelector } from '../../api/field-selector.ts'
import { parseLabelSelector } from '../../api/label-selector.ts'
import { type KubeObject, textOf } from '../../api/object.ts'
import { Facts, type FieldReaders } from './facts.ts'
import { Item, type ItemHome } from './item.ts'
import { type Selector, selects } from './selector.ts'
import { Slabs } from './slabs.ts'

const text = (field: string) => (object: KubeObject) => textOf(object[field])
const readers: FieldReaders = { node: text('node'), phase: text('phase'), address: text('address') }

type Thing = {
  readonly name: string
  readonly labels?: Record<string, string>
  readonly [field: string]: unknown
}

/**
 * Creates items whose bytes are in slabs (large shared buffers), and counts how many times items
 * are decoded.
 */
class TestItems {
  readonly slabs = new Slabs()
  decoded = 0
  readonly #home: ItemHome

  constructor(facts: Facts | undefined) {
    const { slabs } = this
    this.#home = {
      codec: {
        decode: (bytes) => {
          this.decoded++
          return JSON.parse(bytes.toString())
        },
        print: (object) => ({
          bytes: Buffer.from(`${JSON.stringify(object)}\n`),
          headBytes: 0,
          versionAt: 0,
        }),
        ...(facts === undefined ? {} : { facts }),
      },
      put: (item, bytes, tail) => slabs.put(item, bytes, tail),
      view: (item, start, end) => slabs.view(item, start, end),
      keep: (item) => {
        item.decoded = undefined
      },
    }
  }

  item({ name, labels, ...rest }: Thing): Item {
    const object = { kind: 'Thing', apiVersion: 'v1', metadata: { name, labels }, ...rest }
    const item = new Item(this.#home, {
      key: `/things/default/${name}`,
      revision: 1,
      createRevision: 1,
    })
    this.slabs.put(item, Buffer.from(JSON.stringify(object)))
    return item
  }
}

const selector = (labels: string, fields = ''): Selector => ({
  requirements: parseLabelSelector(labels),
  terms: parseFieldSelector(fields).map((term) => ({
    ...term,
    read: readers[term.field] ?? (() => ''),
  })),
})

const manyValues = Array.from({ length: 20 }, (_, index) => `own-${index * 7}`).join()
const manyRequirements = Array.from({ length: 20 }, (_, index) => `app!=own-${index * 7}`).join()

const selectors = [
  [`app in (${manyValues},web)`],
  [`app notin (${manyValues},web)`],
  [manyRequirements],
  [`${manyRequirements},weight>9,tier,!gone`, 'phase!=Pending'],
  ['app=web'],
  ['app!=web'],
  ['app in (web,db,cache)'],
  ['app notin (web,db)'],
  ['app'],
  ['!app'],
  ['weight>10'],
  ['weight<10'],
  ['app=web,tier,!gone'],
  ['', 'node=n1'],
  ['', 'node!=n1'],
  ['', 'node=n1,node!=n2,phase=Running'],
  ['', 'address=10.0.0.17'],
  ['', 'address='],
  ['', 'phase=Ü'],
  ['tier=a', 'phase=Running,address!=10.0.0.1'],
] as const

/** Returns a generator of pseudorandom numbers that are determined by the seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % below
  }
}

function thing(index: number, random: (below: number) => number): Thing {
  const pick = (...choices: readonly (string | undefined)[]): string | undefined =>
    choices[random(choices.length)]
  const labels = Object.entries({
    app: pick('web', 'db', 'cache', 'ü', `own-${index}`, '', undefined),
    tier: pick('a', 'b', undefined),
    gone: pick(undefined, undefined, 'x'),
    weight: pick('9', '10', '11', '08', 'x', undefined),
    [`key-${index}`]: pick('x'.repeat(63), undefined),
  }).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]))
  return {
    name: `t${index}`,
    ...(labels.length === 0 ? {} : { labels: Object.fromEntries(labels) }),
    node: pick('n1', 'n2', `n${random(300)}`, undefined),
    phase: pick('Running', 'Pending', 'Ü', undefined),
    address: pick(`10.0.0.${index}`, '10.0.0.1', 'long '.repeat(random(1_500)), undefined),
  }
}

test('selecting objects by their stored labels and fields has the same result as selecting decoded objects', () => {
  const random = randomOf(7)
  const withFacts = new TestItems(new Facts(() => readers))
  const without = new TestItems(undefined)
  const matchers = selectors.map(([labels, fields]) => ({
    about: `${labels} ${fields}`,
    byFacts: selects(selector(labels, fields)),
    byObject: selects(selector(labels, fields)),
  }))
  for (let index = 0; index < 2_000; index++) {
    const one = thing(index, random)
    const item = withFacts.item(one)
    if (index % 3 === 0) item.wire()
    const plain = without.item(one)
    for (const { about, byFacts, byObject } of matchers) {
      assert.equal(byFacts(item), byObject(plain), `${about} of ${JSON.stringify(one)}`)
    }
    assert.equal(item.wire().toString(), plain.wire().toString())
  }
})

test('an object is decoded at most once: for the first selector, or when its JSON for clients is created', () => {
  const made = new TestItems(new Facts(() => readers))
  const items = [
    made.item({ name: 'a', labels: { app: 'web' } }),
    made.item({ name: 'b', node: 'n1' }),
  ]
  for (const [labels, fields] of selectors) items.filter(selects(selector(labels, fields)))
  assert.equal(made.decoded, 2)
  const printed = made.item({ name: 'c' })
  printed.wire()
  assert.equal(made.decoded, 3)
  assert.equal(selects(selector('!app'))(printed), true)
  assert.equal(made.decoded, 3)
})

const numbers = (count: number, print: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => print(index)).join()
const longSelectors = [
  `app notin (${numbers(10_000, String)})`,
  numbers(1_000, () => 'app!=b'),
  numbers(1_000, (index) => `!key-${index}`),
]
for (const long of longSelectors) {
  test(`matching an object takes only microseconds for a long selector: ${long.slice(0, 20)}...`, () => {
    const made = new TestItems(new Facts(() => readers))
    const labels = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`l-${index}`, 'x']),
    )
    const items = Array.from({ length: 1_000 }, (_, index) =>
      made.item({ name: `t${index}`, labels: { ...labels, app: 'a' } }),
    )
    for (const item of items) item.wire()
    const matches = selects(selector(long))
    const { user } = process.cpuUsage()
    assert.ok(items.every(matches))
    assert.ok((process.cpuUsage().user - user) / 1000 < 1_500)
    assert.ok((matches.lookBytes ?? 0) >= 64)
  })
}

test('the encoded labels and fields of similar objects take few bytes, and are not stored above the maximum length', () => {
  const made = new TestItems(new Facts(() => readers))
  const tails = Array.from({ length: 1_000 }, (_, index) => {
    const item = made.item({
      name: `t${index}`,
      labels: { 'app.kubernetes.io/name': `web-${index % 20}`, tier: 'frontend' },
      node: `node-${index % 200}`,
      phase: 'Running',
      address: `10.1.${index >> 8}.${index % 256}`,
    })
    item.wire()
    return item.tailBytes
  })
  assert.ok(tails.every((bytes) => bytes > 0))
  const average = tails.slice(500).reduce((sum, bytes) => sum + bytes, 0) / 500
  assert.ok(average < 24, `${average} bytes`)
  const large = made.item({ name: 'large', address: 'x'.repeat(10_000) })
  assert.equal(selects(selector('', 'phase='))(large), true)
  assert.equal(large.tailBytes, 0)
})

test('the encoded labels and fields of an object are moved and released together with its bytes', () => {
  const made = new TestItems(new Facts(() => readers))
  const items = Array.from({ length: 2_000 }, (_, index) =>
    made.item({ name: `t${index}`, labels: { app: `a${index % 10}` }, text: 'x'.repeat(2_000) }),
  )
  for (const item of items) item.wire()
  for (const [index, item] of items.entries()) if (index % 3 !== 0) made.slabs.release(item)
  const kept = items.filter((_, index) => index % 3 === 0)
  const isSelected = selects(selector('app=a3'))
  made.decoded = 0
  assert.deepEqual(
    kept.filter(isSelected).map(({ key }) => key),
    kept.filter((_, index) => (index * 3) % 10 === 3).map(({ key }) => key),
  )
  assert.equal(made.decoded, 0)
  for (const item of kept) made.slabs.release(item)
  assert.equal(made.slabs.size.liveBytes, 0)
})

test('the number of shared strings is limited, and selectors find all objects even after strings are removed', () => {
  const facts = new Facts(() => readers, { objectsMin: 100 })
  const made = new TestItems(facts)
  const isOld = selects(selector('app=a7'))
  const isNew = selects(selector('app=a19999'))
  const items = Array.from({ length: 40_000 }, (_, index) => {
    const item = made.item({ name: `t${index}`, labels: { app: `a${index >> 1}` } })
    item.wire()
    return item
  })
  assert.ok(facts.wordCount <= 2 * 8_192, `${facts.wordCount} words`)
  const namesOf = (found: typeof items) => found.map((item) => item.peek().metadata.name)
  const [first] = items
  assert.ok(first !== undefined && !first.hasFacts && items.at(-1)?.hasFacts)
  assert.equal(isOld(first), false)
  assert.ok(first.hasFacts)
  assert.deepEqual(namesOf(items.filter(isOld)), ['t14', 't15'])
  assert.deepEqual(namesOf(items.filter(isNew)), ['t39998', 't39999'])
  facts.forgetWords()
  assert.equal(facts.wordCount, 0)
  assert.deepEqual(namesOf(items.filter(isOld)), ['t14', 't15'])
})

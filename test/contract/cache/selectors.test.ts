import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseLabelSelector } from '../../../src/api/label-selector.ts'
import { type KubeObject, textOf } from '../../../src/api/object.ts'
import { Facts } from '../../../src/storage/cache/facts.ts'
import type { Item, Matches } from '../../../src/storage/cache/item.ts'
import type { Freshness } from '../../../src/storage/cache/fresh-state.ts'
import type { Reader } from '../../../src/storage/cache/reader.ts'
import type { ListResult } from '../../../src/storage/cache/store-lists.ts'
import { selects } from '../../../src/storage/cache/selector.ts'
import { keyAfter } from '../../../src/storage/keys.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { form, PlainCache, root } from '../../support/harness/plain-cache.ts'
import { until } from '../../support/harness/until.ts'

const NAME = 'selected'
const key = (name: string): string => `${root}${NAME}/${name}`
const nodeOf = (object: KubeObject): string => textOf(object['value'])
const onNode = (value: string): Matches =>
  selects({ requirements: [], terms: [{ field: 'value', isEqual: true, value, read: nodeOf }] })
const withLabel = (text: string): Matches =>
  selects({ requirements: parseLabelSelector(text), terms: [] })
const keysIn = ({ items }: ListResult): string[] => items.map((item) => item.key)
const encode = (name: string, value: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      kind: 'Plain',
      apiVersion: 'v1',
      metadata: { name, labels: { on: value } },
      value,
    }),
  )

async function startReader({ cache }: PlainCache): Promise<Reader> {
  await cache.start()
  const facts = new Facts(() => ({ value: nodeOf }))
  return cache.resource({ name: NAME, prefix: `${root}${NAME}/`, ...form, facts })
}

/** Creates sixty objects, distributed evenly among three nodes. */
async function createObjects(plain: PlainCache): Promise<void> {
  for (let i = 0; i < 60; i++)
    await plain.store.create(key(`p${10 + i}`), encode(`p${10 + i}`, `n${i % 3}`))
}

/** The keys of the objects on the second node. */
const onSecondNode = Array.from({ length: 20 }, (_, i) => key(`p${11 + i * 3}`))

test('lists by label and by field return the same objects, and decode each object once', async () => {
  await using etcd = await startEtcd()
  await using plain = new PlainCache([etcd.clientUrl])
  await plain.cache.start()
  let decoded = 0
  const reader = plain.cache.resource({
    name: NAME,
    prefix: `${root}${NAME}/`,
    ...form,
    decode: (...stored) => {
      decoded++
      return form.decode(...stored)
    },
    facts: new Facts(() => ({ value: nodeOf })),
  })
  await createObjects(plain)
  const keysOf = async (matches: Matches): Promise<string[]> =>
    keysIn(await reader.list(plain.range(NAME), 'latest', { matches }))
  assert.deepEqual(await keysOf(onNode('n1')), onSecondNode)
  assert.deepEqual(await keysOf(withLabel('on=n1')), onSecondNode)
  assert.deepEqual(await keysOf(withLabel('on notin (n0,n2)')), onSecondNode)
  assert.deepEqual(await keysOf(onNode('none')), [])
  assert.equal(decoded, 60)
})

test('a watcher with a long selector examines only a few objects per call', async () => {
  await using etcd = await startEtcd()
  await using plain = new PlainCache([etcd.clientUrl])
  const reader = await startReader(plain)
  await createObjects(plain)
  await reader.list(plain.range(NAME), 'latest')
  const long = withLabel(Array.from({ length: 1_000 }, () => 'on!=n0').join())
  let looks = 0
  const counted = (item: Item): boolean => {
    looks++
    return long(item)
  }
  const matches = Object.assign(counted, { lookBytes: long.lookBytes ?? 0 })
  const searching = await reader.watch({
    range: plain.range(NAME),
    start: { initial: 'any' },
    matches,
  })
  searching.take()
  searching.close()
  assert.ok(looks > 0 && looks < 20, `one take examines ${looks} objects`)
})

test('a watch and further pages with a selector continue from the revision of the first page', async () => {
  await using etcd = await startEtcd()
  await using plain = new PlainCache([etcd.clientUrl])
  const reader = await startReader(plain)
  const range = plain.range(NAME)
  await createObjects(plain)
  const first = await reader.list(range, 'latest', { matches: onNode('n1'), limit: 15 })
  assert.deepEqual([first.items.length, first.more], [15, true])
  const watcher = await reader.watch({
    range,
    start: { after: first.revision },
    matches: withLabel('on=n1'),
  })
  const seen: string[] = []
  const put = async (value: string): Promise<void> => {
    await plain.store.update(key('p70'), { decode: (stored) => stored }, () => ({
      put: encode('p70', value),
    }))
  }
  for (const value of ['n0', 'n1', 'n1', 'n2']) await put(value)
  const untilMs = performance.now() + 60_000
  while (seen.length < 3 && performance.now() < untilMs) {
    seen.push(...watcher.take().map(({ type }) => type))
    await sleep(1)
  }
  watcher.close()
  assert.deepEqual(seen, ['ADDED', 'MODIFIED', 'DELETED'])

  const from = keyAfter(first.items.at(-1)?.key ?? '')
  const rest = await reader.list(
    { from, to: range.to },
    { exactly: first.revision },
    { matches: onNode('n1') },
  )
  assert.deepEqual([...keysIn(first), ...keysIn(rest)], onSecondNode)
})

test('a list that uses an index returns the same objects and pages as a full scan', async () => {
  await using etcd = await startEtcd()
  await using plain = new PlainCache([etcd.clientUrl])
  const reader = await startReader(plain)
  const range = plain.range(NAME)
  for (let i = 0; i < 30; i++)
    await plain.store.create(key(`p${10 + i}`), encode(`p${10 + i}`, `n${i % 3}`))
  const by = [{ field: 'value', value: 'n1' }]
  let looked = 0
  const list = async (limit = 0): Promise<{ readonly keys: string[]; readonly more: boolean }> => {
    looked = 0
    const onNode1 = onNode('n1')
    const matches: Matches = (item) => {
      looked++
      return onNode1(item)
    }
    const { items, more } = await reader.list(range, 'latest', { matches, by, limit })
    return { keys: items.map((item) => item.key), more }
  }
  const scanned = await list()
  assert.equal(looked, 30)
  await until(async () => {
    assert.deepEqual(await list(), scanned)
    return looked === 10
  }, 'the index is used')
  // p38 is the last match, but p39 on another node follows it. After a page that ends with p38, the
  // cache does not know whether more matches follow.
  assert.deepEqual(await list(10), { keys: scanned.keys, more: true })
  assert.deepEqual(await list(11), { keys: scanned.keys, more: false })
  assert.deepEqual(await list(4), { keys: scanned.keys.slice(0, 4), more: true })

  await plain.store.update(key('p11'), { decode: (stored) => stored }, () => ({
    put: encode('p11', 'n2'),
  }))
  await plain.store.update(key('p10'), { decode: (stored) => stored }, () => ({
    put: encode('p10', 'n1'),
  }))
  await plain.store.delete(key('p38'), { decode: (stored) => stored })
  const now = [key('p10'), ...scanned.keys.slice(1, -1)]
  assert.deepEqual(await list(), { keys: now, more: false })
  assert.equal(looked, now.length)
  const watcher = await reader.watch({
    range,
    start: { initial: 'any' },
    matches: onNode('n1'),
    by,
  })
  assert.deepEqual(
    watcher.take().map((event) => (event.type === 'BOOKMARK' ? '' : event.item.key)),
    now,
  )
  watcher.close()
})

test('a label index serves a list and all its pages at one revision', async () => {
  await using etcd = await startEtcd()
  await using plain = new PlainCache([etcd.clientUrl], { budgets: { indexes: { looksMin: 10 } } })
  await plain.cache.start()
  const reader = plain.cache.resource({
    name: NAME,
    prefix: `${root}${NAME}/`,
    ...form,
    facts: new Facts(() => ({})),
  })
  const range = plain.range(NAME)
  for (let i = 0; i < 30; i++)
    await plain.store.create(key(`p${10 + i}`), encode(`p${10 + i}`, `n${i % 3}`))
  const by = [{ label: 'on', value: 'n1' }]
  let looked = 0
  const list = async (from: string, at: Freshness, limit = 0): Promise<ListResult> => {
    looked = 0
    const onNode1 = withLabel('on=n1')
    const matches: Matches = (item) => {
      looked++
      return onNode1(item)
    }
    return await reader.list({ from, to: range.to }, at, { matches, by, limit })
  }
  const put = async (name: string, value: string): Promise<void> => {
    await plain.store.update(key(name), { decode: (stored) => stored }, () => ({
      put: encode(name, value),
    }))
  }
  const scanned = keysIn(await list(range.from, 'latest'))
  await list(range.from, 'latest')
  assert.deepEqual([scanned.length, looked], [10, 30])
  await until(async () => {
    await list(range.from, 'latest')
    return looked === 10
  }, 'the index is used')
  const first = await list(range.from, 'latest', 4)
  assert.deepEqual([looked, first.more, keysIn(first)], [4, true, scanned.slice(0, 4)])
  // The second page shows the state of the first page, regardless of changes in between.
  await put('p35', 'n2')
  await put('p39', 'n1')
  assert.equal((await list(range.from, 'latest')).items.length, 10)
  const rest = await list(keyAfter(first.items.at(-1)?.key ?? ''), { exactly: first.revision })
  assert.deepEqual([looked, keysIn(rest)], [6, scanned.slice(4)])
  const now = await list(range.from, 'latest')
  assert.deepEqual(
    [looked, keysIn(now)],
    [10, [...scanned.filter((one) => one !== key('p35')), key('p39')].sort()],
  )
})

for (const by of ['field', 'label'] as const)
  test(`a watcher of one value of a ${by} is not woken by events of other values`, async () => {
    await using etcd = await startEtcd()
    await using plain = new PlainCache([etcd.clientUrl], { budgets: { pastBytes: 10_000 } })
    const reader = await startReader(plain)
    const range = plain.range(NAME)
    const { revision } = await reader.list(range, 'latest')
    const begin = (value: string): ReturnType<typeof reader.watch> =>
      reader.watch({
        range,
        start: { after: revision },
        matches: by === 'field' ? onNode(value) : withLabel(`on=${value}`),
        by: [by === 'field' ? { field: 'value', value } : { label: 'on', value }],
      })
    const [one, two] = [await begin('n1'), await begin('n2')]
    let woken = 0
    one.onReady(() => woken++)
    two.onReady(() => undefined)
    const put = async (value: string): Promise<void> => {
      await plain.store.update(key('p'), { decode: (stored) => stored }, () => ({
        put: encode('p', value),
      }))
    }
    // Write more events than the event buffer can hold, but not all of them at once.
    for (let i = 0; i < 80; i++) {
      await put(`other-${i}`)
      if (i % 8 === 0) await reader.list(range, 'latest')
      await sleep(1)
    }
    await sleep(20)
    assert.equal(woken, 0)
    for (const value of ['n1', 'n1', 'n2']) await put(value)
    const typesOf = async (watcher: typeof one, count: number): Promise<string[]> => {
      const types: string[] = []
      for (
        const untilMs = performance.now() + 60_000;
        types.length < count && performance.now() < untilMs;
        await sleep(1)
      )
        types.push(...watcher.take().map(({ type }) => type))
      return types
    }
    assert.deepEqual(await typesOf(one, 3), ['ADDED', 'MODIFIED', 'DELETED'])
    assert.deepEqual(await typesOf(two, 1), ['ADDED'])
    assert.ok(woken > 0)
    one.requestBookmark()
    const [bookmark] = one.take()
    assert.ok(bookmark?.type === 'BOOKMARK' && bookmark.revision >= revision + 83)
    assert.equal(one.closedBecause, undefined)
    one.close()
    two.close()
  })

const isNamedX = (item: { readonly key: string }): boolean => item.key.endsWith('/x')

test('a list that selects a single name does not change the pages of other lists', async () => {
  await using etcd = await startEtcd()
  await using plain = new PlainCache([etcd.clientUrl])
  const reader = await startReader(plain)
  const range = plain.range(NAME)
  const names = ['a', 'b', 'c'].flatMap((folder) =>
    ['x', 'y', 'z'].map((name) => `${folder}/${name}`),
  )
  for (const name of names) await plain.store.create(key(name), encode(name, 'n'))
  const selection = { matches: withLabel('on=n'), by: [{ label: 'on', value: 'n' }], limit: 2 }
  const first = await reader.list(range, 'latest', selection)
  await reader.list(range, 'latest', { ...selection, limit: 1, matches: isNamedX, name: 'x' })
  const rest = { from: keyAfter(first.items.at(-1)?.key ?? ''), to: range.to }
  const second = await reader.list(rest, { exactly: first.revision }, { ...selection, limit: 100 })
  assert.deepEqual([...keysIn(first), ...keysIn(second)], names.map(key))
})

/**
 * Reads that the cache serves. A response must be at least as new as requested, or the read must
 * fail.
 */
import type { Matches } from '../../../src/storage/cache/item.ts'
import type { Reader } from '../../../src/storage/cache/reader.ts'
import type { ListResult } from '../../../src/storage/cache/store-lists.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import { type KeyRange, keyAfter, rangeOf } from '../../../src/storage/keys.ts'
import type { Current } from '../../../src/storage/store.ts'
import { isOdd, oddValues, oddSelector, readWire, valueOf } from './form.ts'
import type { Item, Value } from './model.ts'
import {
  type Client,
  chooseRange,
  expectUnavailable,
  keys,
  noteUnforeseen,
  PAGE_ITEMS,
  prefix,
  type WeightedOperation,
} from './operations.ts'
import type { Random } from './random.ts'

/**
 * Maximum distances between the revision of a read at an exact revision and the latest revision.
 * Most revisions within these distances are still in memory.
 */
const BACK_MAX = [5, 20, 60]
/** Maximum time in ms that a slow filter takes to check one object. */
const SLOWNESS_MS = 40

export const cachedReads: readonly WeightedOperation[] = [
  { weight: 8, run: getLatest },
  { weight: 2, run: getAny },
  { weight: 2, run: getAtLeast },
  { weight: 2, run: getExactly },
  { weight: 4, run: listLatest },
  { weight: 1, run: listAny },
  { weight: 2, run: listExactly },
  { weight: 2, run: listLatestInPages },
  { weight: 3, run: listSelectedInPages },
]

/** Operations of clients that read long lists in pages. */
export const pagedReads: readonly WeightedOperation[] = [
  { weight: 3, run: listSelectedInPages },
  { weight: 1, run: listExactly },
]

/**
 * Operations that accept the state of the cache, even if it is old because the database is
 * unreachable.
 */
export const skims: readonly WeightedOperation[] = [{ weight: 1, run: skim }]

/**
 * Returns the object in the cache, which can be outdated, as the state on which a write is based.
 * Returns undefined for half of the writes, which then read the latest state.
 */
export async function readForWrite(
  reader: Reader,
  key: string,
  random: Random,
): Promise<Current<Value> | 'absent' | undefined> {
  if (random.chance(0.5)) return undefined
  try {
    const { item } = await reader.get(key, 'any')
    if (item === undefined) return 'absent'
    const { revision, createRevision } = item
    return { revision, createRevision, object: valueOf(item.object()), stale: false }
  } catch {
    return undefined // Ignore: the write shows whether the database is reachable.
  }
}

async function getLatest(client: Client): Promise<void> {
  await noteGet(client, 'latest', client.model.floor)
}

async function getAny(client: Client): Promise<void> {
  await noteGet(client, 'any', 0)
}

async function getAtLeast(client: Client): Promise<void> {
  const { floor } = client.model
  await noteGet(client, { atLeast: floor }, floor)
}

async function getExactly(client: Client): Promise<void> {
  const exactly = choosePast(client)
  await noteGet(client, { exactly }, exactly)
}

async function noteGet(
  client: Client,
  at: Parameters<Reader['get']>[1],
  floor: number,
): Promise<void> {
  const key = client.random.pick(keys)
  try {
    const { revision, item } = await client.reader.get(key, at)
    const items = item === undefined ? [] : [readWire(key, item.wire())]
    client.model.noteReading({ scope: { key }, floor, revision, items })
    noteRevision(client, at, revision)
  } catch (error) {
    expectTrouble(client, at, error)
  }
}

async function listLatest(client: Client): Promise<void> {
  await noteList(client, 'latest', client.model.floor)
}

async function listAny(client: Client): Promise<void> {
  await noteList(client, 'any', 0)
}

async function listExactly(client: Client): Promise<void> {
  const exactly = choosePast(client)
  await noteList(client, { exactly }, exactly)
}

async function noteList(
  client: Client,
  at: Parameters<Reader['list']>[1],
  floor: number,
): Promise<void> {
  const range = chooseRange(client.random)
  try {
    const listed = await client.reader.list(range, at)
    const { revision } = listed
    client.model.noteReading({
      scope: { prefix: range.from },
      floor,
      revision,
      items: toItems(listed),
    })
    noteRevision(client, at, revision)
  } catch (error) {
    expectTrouble(client, at, error)
  }
}

async function listLatestInPages(client: Client): Promise<void> {
  const range = chooseRange(client.random)
  const { floor } = client.model
  const items: Item[] = []
  try {
    let page = await client.reader.list(range, 'latest', { limit: PAGE_ITEMS })
    const { revision } = page
    items.push(...toItems(page))
    while (page.more) {
      const from = keyAfter(items.at(-1)?.key ?? '')
      page = await client.reader.list(
        { from, to: range.to },
        { exactly: revision },
        { limit: PAGE_ITEMS },
      )
      if (page.revision !== revision)
        client.model.noteFault(
          `a page of the list at revision ${revision} is of revision ${page.revision}`,
        )
      items.push(...toItems(page))
    }
    client.model.noteReading({ scope: { prefix: range.from }, floor, revision, items })
  } catch (error) {
    expectTrouble(client, { exactly: 0 }, error)
  }
}

/**
 * Lists objects in pages, with a filter that can be slow. Each page is recorded as a separate
 * response.
 */
async function listSelectedInPages(client: Client): Promise<void> {
  const { random } = client
  const range = chooseRange(random)
  const { floor } = client.model
  const limit = random.between(1, PAGE_ITEMS)
  const matches = slowFilter(client, random.chance(0.5) ? SLOWNESS_MS : 0)
  const by = random.chance(0.5) ? random.pick(oddValues) : undefined
  let { from } = range
  let at: Parameters<Reader['list']>[1] = random.pick([
    'latest',
    'any',
    'any',
    { exactly: choosePast(client) },
  ] as const)
  const least = at === 'any' ? 0 : at === 'latest' ? floor : at.exactly
  try {
    for (let isMore = true; isMore; ) {
      const page: ListResult = await client.reader.list({ from, to: range.to }, at, {
        limit,
        matches,
        by,
      })
      const { revision } = page
      const scope = scopeOf(range, from, page)
      client.model.noteReading({ scope, floor: least, ...readingOf(page) })
      noteRevision(client, at, revision)
      isMore = scope.to !== range.to
      from = scope.to
      at = { exactly: revision }
    }
  } catch (error) {
    expectTrouble(client, at, error)
  }
}

/**
 * Reads one page with a slow filter, and accepts any state. The read is slow enough that the cache
 * may reload the resource in the meantime.
 */
async function skim(client: Client): Promise<void> {
  const range = rangeOf(prefix)
  const limit = client.random.between(1, PAGE_ITEMS)
  try {
    const page = await client.reader.list(range, 'any', {
      limit,
      matches: slowFilter(client, SLOWNESS_MS),
    })
    client.model.noteReading({
      scope: scopeOf(range, range.from, page),
      floor: 0,
      ...readingOf(page),
    })
  } catch (error) {
    expectTrouble(client, 'any', error)
  }
}

/**
 * Returns the range of keys for which a page is complete. It begins at `from`. The page contains
 * only the objects in this range that have odd tags.
 */
function scopeOf(range: KeyRange, from: string, { items, more }: ListResult) {
  const last = items.at(-1)
  const to = more && last !== undefined ? keyAfter(last.key) : range.to
  return { prefix: range.from, from, to, selects: isOdd }
}

const readingOf = (page: ListResult) => ({ revision: page.revision, items: toItems(page) })

function slowFilter({ random, time, work }: Client, slownessMs: number): Matches {
  const isSelected = oddSelector(random.chance(0.5) ? 'label' : 'field')
  return (item) => {
    time.monotonicMs()
    work?.(random.next() * slownessMs)
    return isSelected(item)
  }
}

function toItems(listed: ListResult): Item[] {
  return listed.items.map((item) => readWire(item.key, item.wire()))
}

/** Returns a past revision, most likely from the last second. */
function choosePast({ model, random }: Client): number {
  return Math.max(1, model.floor - random.between(0, random.pick(BACK_MAX)))
}

function noteRevision(client: Client, at: Parameters<Reader['get']>[1], revision: number): void {
  if (typeof at !== 'object' || 'atLeast' in at) client.model.noteSeen(revision)
  else if (revision !== at.exactly)
    client.model.noteFault(`a read at exactly revision ${at.exactly} is of revision ${revision}`)
}

function expectTrouble(client: Client, at: Parameters<Reader['get']>[1], error: unknown): void {
  const code = error instanceof StorageError ? error.code : undefined
  if (code === 'compacted' && typeof at === 'object' && 'exactly' in at) return
  // As in kube-apiserver, a read fails with 'too-new' if the cache does not receive the requested
  // revision in time. A read at an exact revision must not fail in this way, because the cache has
  // already received this revision.
  if (code === 'too-new' && !(typeof at === 'object' && 'exactly' in at)) return
  if (code === 'too-new') noteUnforeseen(client, `read at ${JSON.stringify(at)}`, error)
  else expectUnavailable(client, `read at ${JSON.stringify(at)}`, error)
}

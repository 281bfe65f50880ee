/**
 * Operations of the clients of a run. Each operation is chosen at random, and is recorded in the
 * model with its response. A failure is also a response; judge.ts decides whether a response is
 * consistent with the history.
 */
import type { Reader } from '../../../src/storage/cache/reader.ts'
import type { Time } from '../../../src/lib/time/timers.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import { type KeyRange, rangeOf } from '../../../src/storage/keys.ts'
import type { Current, Store, StoredValue } from '../../../src/storage/store.ts'
import { printObject, toObject } from './form.ts'
import {
  decodeValue,
  encodeValue,
  type Item,
  type Model,
  type Value,
  type WriteOutcome,
} from './model.ts'
import type { Random } from './random.ts'

/** Only a few keys are used, so that writes conflict. */
export const prefix = '/registry/things/'
export const namespaces: readonly string[] = ['n0', 'n1', 'n2']
const NAMES = 6

export const keys: readonly string[] = namespaces.flatMap((namespace) =>
  Array.from({ length: NAMES }, (_, index) => `${prefix}${namespace}/k${index}`),
)

/** Time after which an operation counts as hung. All time limits of the server are shorter. */
const OPERATION_MS_MAX = 30_000

/** Page size of lists that are read in pages. */
export const PAGE_ITEMS = 4

/** Context of the operations of one client. */
export type Client = {
  readonly name: string
  readonly store: Store
  readonly reader: Reader
  readonly model: Model
  readonly random: Random
  readonly time: Time
  /**
   * Advances virtual time as if code used CPU time, for example in a filter that checks many
   * objects. Undefined if the run uses real time.
   */
  readonly work?: (ms: number) => void
  /**
   * Returns the state on which a write is based. If it returns undefined, the write reads the
   * latest state first.
   */
  readonly cached: (key: string) => Promise<Current<Value> | 'absent' | undefined>
}

export type Operation = (client: Client) => Promise<void>

export type WeightedOperation = { readonly weight: number; readonly run: Operation }

export const writes: readonly WeightedOperation[] = [
  { weight: 5, run: create },
  { weight: 12, run: update },
  { weight: 2, run: updateIfThere },
  { weight: 1, run: updateNothing },
  { weight: 3, run: remove },
]

export const reads: readonly WeightedOperation[] = [
  { weight: 6, run: get },
  { weight: 2, run: list },
  { weight: 1, run: listInPages },
]

/**
 * Runs one random operation. Records a fault only if the operation throws an unexpected error or
 * hangs.
 */
export async function operate(
  client: Client,
  choices: readonly WeightedOperation[],
): Promise<void> {
  const run = choose(client.random, choices)
  const timer = client.time.after(OPERATION_MS_MAX, () => {
    client.model.noteFault(`${client.name}: ${run.name} has not ended after ${OPERATION_MS_MAX} ms`)
  })
  try {
    await run(client)
  } finally {
    timer.close()
  }
}

function choose(random: Random, choices: readonly WeightedOperation[]): Operation {
  let left = random.next() * choices.reduce((sum, choice) => sum + choice.weight, 0)
  for (const { weight, run } of choices) {
    left -= weight
    if (left < 0) return run
  }
  throw new Error('there is nothing to choose from')
}

async function create(client: Client): Promise<void> {
  const { store, model, random } = client
  const key = random.pick(keys)
  const tag = model.newTag(client.name)
  const report = model.beginWrite(key, tag)
  try {
    const revision = await store.create(key, encodeValue({ tag, after: null }))
    expectOwn(client, { key, revision, value: { tag, after: null } })
    report({ outcome: 'acknowledged', revision, previousRevision: 0 })
  } catch (error) {
    report(outcomeOf(client, 'create', error))
  }
}

/** Updates an object, or creates it if it does not exist. */
async function update(client: Client): Promise<void> {
  const { store, model, random } = client
  const key = random.pick(keys)
  const tag = model.newTag(client.name)
  const report = model.beginWrite(key, tag)
  try {
    const result = await store.update(
      key,
      { decode, cached: await client.cached(key) },
      (current) => ({
        put: encodeValue({ tag, after: current?.object.tag ?? null }),
      }),
    )
    const { revision, previous } = result
    expectOwn(client, { key, revision, value: { tag, after: previous?.object.tag ?? null } })
    report({
      outcome: 'acknowledged',
      revision: result.revision,
      previousRevision: result.previous?.revision ?? 0,
    })
  } catch (error) {
    report(outcomeOf(client, 'update', error))
  }
}

/**
 * Updates an object, and fails if it does not exist. After such a failure, checks that the object
 * did not exist in the latest state.
 */
async function updateIfThere(client: Client): Promise<void> {
  const { store, model, random } = client
  const key = random.pick(keys)
  const tag = model.newTag(client.name)
  const { floor } = model
  const report = model.beginWrite(key, tag)
  try {
    const result = await store.update(
      key,
      { decode, cached: await client.cached(key) },
      (current) => {
        if (current === undefined) throw new StorageError('missing', 'nothing to update')
        return { put: encodeValue({ tag, after: current.object.tag }) }
      },
    )
    report({
      outcome: 'acknowledged',
      revision: result.revision,
      previousRevision: result.previous?.revision ?? 0,
    })
  } catch (error) {
    noteAbsence(client, { key, floor, error })
    report(outcomeOf(client, 'updateIfThere', error))
  }
}

/**
 * Runs an update that changes nothing, and counts it as a linearizable read. The server must
 * compare the object with the latest state.
 */
async function updateNothing(client: Client): Promise<void> {
  const { store, model, random } = client
  const key = random.pick(keys)
  const { floor } = model
  try {
    const { previous } = await store.update(
      key,
      { decode, cached: await client.cached(key) },
      () => 'unchanged',
    )
    const items =
      previous === undefined ? [] : [{ key, revision: previous.revision, tag: previous.object.tag }]
    model.noteReading({ scope: { key }, floor, revision: undefined, items })
  } catch (error) {
    expectUnavailable(client, 'updateNothing', error)
  }
}

async function remove(client: Client): Promise<void> {
  const { store, model, random } = client
  const key = random.pick(keys)
  const { floor } = model
  const report = model.beginWrite(key, undefined)
  try {
    const { revision, previous } = await store.delete(key, {
      decode,
      cached: await client.cached(key),
    })
    report({ outcome: 'acknowledged', revision, previousRevision: previous.revision })
  } catch (error) {
    noteAbsence(client, { key, floor, error })
    report(outcomeOf(client, 'remove', error))
  }
}

async function get(client: Client): Promise<void> {
  const { store, model, random } = client
  const key = random.pick(keys)
  const { floor } = model
  try {
    const { revision, found } = await store.get(key)
    model.noteReading({
      scope: { key },
      floor,
      revision,
      items: found === undefined ? [] : [toItem(found)],
    })
    model.noteSeen(revision)
  } catch (error) {
    expectUnavailable(client, 'get', error)
  }
}

async function list(client: Client): Promise<void> {
  const { store, model } = client
  const { floor } = model
  const range = chooseRange(client.random)
  try {
    const { revision, values } = await store.list(range)
    model.noteReading({ scope: { prefix: range.from }, floor, revision, items: values.map(toItem) })
    model.noteSeen(revision)
  } catch (error) {
    expectUnavailable(client, 'list', error)
  }
}

/**
 * Lists in pages. All pages must have the same revision, or the list must fail because that
 * revision was compacted.
 */
async function listInPages(client: Client): Promise<void> {
  const { store, model } = client
  const { floor } = model
  const range = chooseRange(client.random)
  const items: Item[] = []
  try {
    let page = await store.list(range, { limit: PAGE_ITEMS })
    const { revision } = page
    items.push(...page.values.map(toItem))
    while (page.more) {
      page = await store.list(range, { limit: PAGE_ITEMS, revision, after: items.at(-1)?.key })
      if (page.revision !== revision)
        model.noteFault(`a page of revision ${revision} is of revision ${page.revision}`)
      items.push(...page.values.map(toItem))
    }
    model.noteReading({ scope: { prefix: range.from }, floor, revision, items })
  } catch (error) {
    if (error instanceof StorageError && error.code === 'compacted') return
    expectUnavailable(client, 'listInPages', error)
  }
}

/** Returns the key range of one namespace, or of all namespaces. */
export function chooseRange(random: Random): KeyRange {
  return rangeOf(random.chance(0.5) ? prefix : `${prefix}${random.pick(namespaces)}/`)
}

/** Returns the outcome of a failed write, as far as the client can know it from the error. */
export function outcomeOf(client: Client, verb: string, error: unknown): WriteOutcome {
  if (error instanceof StorageError && expectedOfWrites.has(error.code)) {
    return error.ambiguous
      ? { outcome: 'ambiguous' }
      : { outcome: 'refused', reason: `${error.code}: ${error.message}` }
  }
  noteUnforeseen(client, verb, error)
  return { outcome: 'ambiguous' }
}

/** Checks that a read failed only because the database is unreachable. */
export function expectUnavailable(client: Client, verb: string, error: unknown): void {
  if (error instanceof StorageError && (error.code === 'unavailable' || error.code === 'conflict'))
    return
  noteUnforeseen(client, verb, error)
}

const expectedOfWrites: ReadonlySet<string> = new Set([
  'exists',
  'missing',
  'conflict',
  'unavailable',
  'no-space',
])

export function noteUnforeseen(client: Client, verb: string, error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const code = error instanceof StorageError ? ` (${error.code})` : ''
  client.model.noteFault(`${client.name}: ${verb} failed unforeseen${code}: ${text}`)
}

/**
 * If a write failed because the key is missing, records that the key did not exist. Writes report
 * this only if it is true for the latest state.
 */
function noteAbsence(
  client: Client,
  { key, floor, error }: { key: string; floor: number; error: unknown },
): void {
  if (!(error instanceof StorageError) || error.code !== 'missing') return
  client.model.noteReading({ scope: { key }, floor, revision: undefined, items: [] })
}

/**
 * Passes the written object to the cache after half of the writes, as a server does. The cache then
 * does not have to decode the object when it receives the event.
 */
function expectOwn(
  { reader, random }: Client,
  own: { key: string; revision: number; value: Value },
): void {
  if (random.chance(0.5)) return
  const object = toObject(own.value, own.revision)
  reader.expect(own.key, own.revision, object, printObject(object))
}

function toItem(stored: StoredValue): Item {
  return { key: stored.key, revision: stored.revision, tag: decodeValue(stored.value).tag }
}

export const decode = (stored: StoredValue): Value => decodeValue(stored.value)

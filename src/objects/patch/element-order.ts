/**
 * Orders the items of a merged list. Items that the patch contains have the same order as in the
 * patch. All other items stay where they are, relative to the items around them.
 */
import { unclassified } from '../../api/errors.ts'
import { JsonMap } from '../../api/json-map.ts'
import type { Json } from '../../api/object.ts'
import { printSorted } from '../codec/json.ts'
import { stepOf } from '../../lib/scheduling/parts.ts'
import { sortInParts } from '../../lib/scheduling/sort-in-parts.ts'
import type { Steps } from '../../lib/scheduling/slices.ts'
import { goPrint, goType } from './go-print.ts'
import type { Work } from './work.ts'

/** Number of items that are processed in one step. */
export const STEP_ITEMS = 2_048

export type Ordering = {
  /**
   * The field that identifies an item. Undefined if the items are scalars, which identify
   * themselves.
   */
  readonly mergeKey: string | undefined
  /** The items of the patch, in the order that the merged list must have. */
  readonly wanted: readonly Json[]
  /** The items of the list before the patch, in their order. */
  readonly live: readonly Json[]
  readonly work: Pick<Work, 'slices'>
}

/** Visits the items of a list, and yields between them. */
export function* eachInSteps<T>(
  items: readonly T[],
  visit: (item: T, at: number) => void,
): Steps<void> {
  for (const [at, item] of items.entries()) {
    if (at % STEP_ITEMS === STEP_ITEMS - 1) yield undefined
    visit(item, at)
  }
}

/**
 * Sorts `items`: those that are in `wanted` get the order of `wanted`, and all others stay where
 * they are relative to their neighbors.
 */
export function* ordered(
  items: readonly Json[],
  { mergeKey, wanted, live, work }: Ordering,
): Steps<Json[]> {
  // For scalars, `named` and `wantedAt` are the same map, to save memory: there can be half a
  // million items.
  const valuesAt = mergeKey === undefined ? yield* positions(wanted, undefined) : undefined
  const named = valuesAt ?? (yield* namesOf(wanted, mergeKey))
  const own: Json[] = []
  const others: Json[] = []
  yield* eachInSteps(items, (item) => {
    const isNamed = named.has(identity(item, mergeKey))
    if (isNamed) own.push(item)
    else others.push(item)
  })
  const wantedAt = valuesAt ?? (yield* positions(wanted, mergeKey))
  const liveAt = yield* positions(live, mergeKey)
  const sortedOthers = yield* sorted(others, { at: liveAt, mergeKey, work })
  const sortedOwn = yield* sorted(own, { at: wantedAt, mergeKey, work })
  return yield* interleaved(sortedOthers, sortedOwn, { at: liveAt, mergeKey })
}

/**
 * Returns the identity of an item: the scalar itself, or the value of the merge key. Throws an
 * error if the item has no merge key.
 */
export function identity(item: Json, mergeKey: string | undefined): Identity {
  if (mergeKey === undefined) return valueIdentity(item)
  if (!(item instanceof JsonMap)) throw wrongType('map[string]interface {}', item)
  if (!(mergeKey in item)) throw noMergeKey(item, mergeKey)
  return valueIdentity(item[mergeKey] ?? null)
}

/**
 * Identifies an item. A scalar is used as it is. Any other value becomes a text: a marker, followed
 * by JSON. The marker is a lone surrogate, which a client cannot send.
 */
export type Identity = string | number | bigint | boolean
const MARK = '\ud800'

export const valueIdentity = (value: Json): Identity =>
  typeof value === 'object' ? `${MARK}${printSorted(value)}` : value
/** Identifies all items that lack the merge key. */
export const noIdentity: Identity = MARK

export const wrongType = (wanted: string, value: Json): Error =>
  unclassified(`expected a ${wanted}, but received a ${goType(value)}`)

export const noMergeKey = (item: Json, mergeKey: string): Error =>
  unclassified(`map: ${goPrint(item)} does not contain declared merge key: ${mergeKey}`)

/**
 * Returns the identities of the items. Leaves out items without the merge key, because no lookup
 * finds them.
 */
function* namesOf(items: readonly Json[], mergeKey = ''): Steps<ReadonlySet<Identity>> {
  const names = new Set<Identity>()
  yield* eachInSteps(items, (item, at) => {
    if (!(item instanceof JsonMap)) throw unclassified(`value for key ${at} is not a map`)
    if (mergeKey in item) names.add(valueIdentity(item[mergeKey] ?? null))
  })
  return names
}

type Positions = ReadonlyMap<Identity, number>

function* positions(items: readonly Json[], mergeKey: string | undefined): Steps<Positions> {
  const found = new Map<Identity, number>()
  yield* eachInSteps(items, (item, at) => {
    const name = identity(item, mergeKey)
    if (!found.has(name)) found.set(name, at)
  })
  return found
}

type Placement = { readonly at: Positions; readonly mergeKey: string | undefined }

function* sorted(
  items: readonly Json[],
  { at, mergeKey, work }: Placement & Pick<Ordering, 'work'>,
): Steps<Json[]> {
  const placed: { readonly item: Json; readonly place: number }[] = []
  yield* eachInSteps(items, (item) => {
    placed.push({ item, place: at.get(identity(item, mergeKey)) ?? Infinity })
  })
  const inOrder = yield* stepOf(
    () => sortInParts('sorted items', placed, (one, other) => one.place - other.place || 0),
    work.slices,
  )
  return inOrder.map(({ item }) => item)
}

/**
 * Merges two lists: `own` with the items of the patch, and `others`. An item of `others` is placed
 * before an item of `own` if it was already before that item.
 */
function* interleaved(
  others: readonly Json[],
  own: readonly Json[],
  { at, mergeKey }: Placement,
): Steps<Json[]> {
  const result: Json[] = []
  let next = 0
  for (const [count, item] of own.entries()) {
    if (count % STEP_ITEMS === STEP_ITEMS - 1) yield undefined
    const itemAt = at.get(identity(item, mergeKey))
    while (next < others.length && itemAt !== undefined) {
      const otherAt = at.get(identity(others[next] ?? null, mergeKey))
      if (otherAt === undefined || otherAt >= itemAt) break
      result.push(others[next++] ?? null)
    }
    result.push(item)
  }
  return [...result, ...others.slice(next)]
}

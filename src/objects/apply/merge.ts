/**
 * Merges an applied value into a live value. Applied fields take precedence, and all other fields
 * are kept. Parts that do not change are the same JavaScript objects as in the live value, so that
 * comparisons can skip them.
 */
import { JsonMap } from '../../api/json-map.ts'
import { type Fields, fieldsOf, isFields, type Json, listOf } from '../../api/object.ts'
import { eachKey, isDivided, mapEach, once } from '../../lib/scheduling/parts.ts'
import type { ListMerge, MergeType } from './merge-type.ts'
import { childOf } from './owned.ts'
import { itemElement } from './path-element.ts'
import { isEmptyMap, isEqual, isNothing } from './value.ts'

export function merge(live: Json, applied: Json, type: MergeType): Json {
  switch (type.form) {
    case 'scalar':
      return applied
    case 'any':
      if (type.isWhole === true) return replace(live, applied)
      if (isFields(live) && isFields(applied)) return mergeFields(live, applied, type)
      // A map that is not empty is kept if the applied value is null.
      return applied === null && isFields(live) && !isEmptyMap(live) ? live : replace(live, applied)
    case 'list':
      if (type.by === 'whole' || (isNothing(live) && isNothing(applied)))
        return replace(live, applied)
      return mergeItems(listOf(live), listOf(applied), type)
    case 'map':
    case 'struct':
      if (type.isAtomic || (isNothing(live) && isNothing(applied))) return replace(live, applied)
      return mergeFields(fieldsOf(live), fieldsOf(applied), type)
  }
}

const replace = (live: Json, applied: Json): Json => (isEqual(live, applied) ? live : applied)

function mergeFields(live: Fields, applied: Fields, type: MergeType): Fields {
  if (isDivided()) return mergeFieldsInParts(live, applied, type)
  let merged: JsonMap | undefined
  for (const key in applied) {
    const before = live[key]
    const given = applied[key] ?? null
    const after = before === undefined ? given : merge(before, given, childOf(key, type).below)
    if (after === before) continue
    merged ??= copyOf(live)
    merged[key] = after
  }
  return merged ?? live
}

function mergeFieldsInParts(live: Fields, applied: Fields, type: MergeType): Fields {
  const { merged } = eachKey(
    'merged fields',
    applied,
    (): { merged: JsonMap | undefined } => ({ merged: undefined }),
    (state, key) => {
      const before = live[key]
      const given = applied[key] ?? null
      const after = before === undefined ? given : merge(before, given, childOf(key, type).below)
      if (after === before) return true
      state.merged ??= copyOf(live)
      state.merged[key] = after
      return true
    },
  )
  return merged ?? live
}

const copyOf = (live: Fields): JsonMap =>
  eachKey(
    'copied fields',
    live,
    () => new JsonMap(),
    (copy, key) => {
      copy[key] = live[key] ?? null
      return true
    },
  )

/**
 * Merges two lists. The items of the applied list keep their order. An item that is only in the
 * live list stays before the next item of the live list that both lists contain.
 */
function mergeItems(
  live: readonly Json[],
  applied: readonly Json[],
  type: ListMerge,
): readonly Json[] {
  const { liveElements, elements, places } = once('elements of merged lists', () =>
    elementsOf(live, applied, type),
  )
  const items = mapEach('merged items', applied, (item, at) => {
    const place = places.get(elements[at] ?? '')
    return typeof place === 'number' ? merge(live[place] ?? null, item, type.of) : item
  })
  const isApplied = new Set(elements)
  // For each applied item: of this item and all items after it, the path element of the first one
  // that the live list also contains.
  const nextShared: (string | undefined)[] = []
  for (let at = elements.length - 1; at >= 0; at--) {
    const element = elements[at] ?? ''
    nextShared[at] = places.has(element) ? element : nextShared[at + 1]
  }
  const merged: Json[] = []
  let liveAt = 0
  for (const [at, item] of items.entries()) {
    const next = nextShared[at]
    for (; liveAt < live.length; liveAt++) {
      const element = liveElements[liveAt] ?? ''
      if (!isApplied.has(element)) merged.push(live[liveAt] ?? null)
      else if (element === next) break
    }
    merged.push(item)
    if (elements[at] === liveElements[liveAt]) liveAt++
  }
  for (; liveAt < live.length; liveAt++) {
    if (!isApplied.has(liveElements[liveAt] ?? '')) merged.push(live[liveAt] ?? null)
  }
  return merged.length === live.length && merged.every((item, at) => item === live[at])
    ? live
    : merged
}

function elementsOf(
  live: readonly Json[],
  applied: readonly Json[],
  type: ListMerge,
): ListElements {
  const liveElements = live.map((item) => itemElement(item, type) ?? '')
  const elements = applied.map((item) => itemElement(item, type) ?? '')
  return { liveElements, elements, places: placesOf(liveElements) }
}

type ListElements = {
  readonly liveElements: readonly string[]
  readonly elements: readonly string[]
  readonly places: ReadonlyMap<string, number | 'repeated'>
}

/**
 * Returns the index of each path element, or `repeated` if it occurs several times. Items with a
 * repeated path element are replaced instead of merged.
 */
function placesOf(elements: readonly string[]): ReadonlyMap<string, number | 'repeated'> {
  const places = new Map<string, number | 'repeated'>()
  for (const [at, element] of elements.entries())
    places.set(element, places.has(element) ? 'repeated' : at)
  return places
}

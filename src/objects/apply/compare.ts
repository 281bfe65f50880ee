/**
 * Compares two values of the same merge type. The result has three field sets: the fields that were
 * added, modified and removed.
 */
import { type Fields, fieldsOf, isFields, type Json, listOf } from '../../api/object.ts'
import {
  type FieldSet,
  isEmptySet,
  nodeOf,
  noFields,
  ownedLeaf,
  recursiveDifference,
  union,
} from './field-set.ts'
import { eachItem, eachKey, isDivided, once } from '../../lib/scheduling/parts.ts'
import type { ListMerge, MergeType } from './merge-type.ts'
import { addedSet, childOf, itemsByElement } from './owned.ts'
import { isEmptyMap, isEqual, isNothing } from './value.ts'

export type Comparison = {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

const nothing: Comparison = { added: noFields, modified: noFields, removed: noFields }

/** Compares two values. Returns undefined if they are equal. */
export function compare(before: Json, after: Json, type: MergeType): Comparison | undefined {
  if (before === after) return undefined
  switch (type.form) {
    case 'scalar':
      return leaf(before, after)
    case 'any':
      if (type.isWhole === true) return leaf(before, after)
      if (isFields(before) && isFields(after)) return byKey(before, after, type)
      return isFullMap(before) || isFullMap(after)
        ? ofOtherForm(before, after, type)
        : leaf(before, after)
    case 'list':
      if (type.by === 'whole' || (isNothing(before) && isNothing(after))) return leaf(before, after)
      return byItem(listOf(before), listOf(after), type)
    case 'map':
    case 'struct':
      if (type.isAtomic || (isNothing(before) && isNothing(after))) return leaf(before, after)
      return byKey(fieldsOf(before), fieldsOf(after), type)
  }
}

const isFullMap = (value: Json): boolean => isFields(value) && !isEmptyMap(value)

/**
 * Compares a map with a value that is not a map. The fields of the map are reported as added or
 * removed. The value itself is reported as modified, unless one of the two values is null.
 */
function ofOtherForm(before: Json, after: Json, type: MergeType): Comparison {
  const modified = before === null || after === null ? noFields : ownedLeaf
  const partsOf = (value: Json): FieldSet => (isFields(value) ? below(value, type) : noFields)
  return { added: partsOf(after), modified, removed: partsOf(before) }
}

/** Removes the fields in `ignored`, and all fields below them, from a comparison. */
export function excluding(comparison: Comparison, ignored: FieldSet): Comparison {
  if (isEmptySet(ignored)) return comparison
  const { added, modified, removed } = comparison
  return {
    added: recursiveDifference(added, ignored),
    modified: recursiveDifference(modified, ignored),
    removed: recursiveDifference(removed, ignored),
  }
}

/**
 * Returns the fields that the change adds or modifies. Their owner is then the writer of the
 * change.
 */
export const taken = ({ added, modified }: Comparison): FieldSet => union(added, modified)

const leaf = (before: Json, after: Json): Comparison | undefined =>
  isEqual(before, after) ? undefined : modifiedLeaf

const modifiedLeaf: Comparison = { added: noFields, modified: ownedLeaf, removed: noFields }
const addedLeaf: Comparison = { added: ownedLeaf, modified: noFields, removed: noFields }

function byKey(before: Fields, after: Fields, type: MergeType): Comparison | undefined {
  // The declared fields of a struct. Nearly all keys are declared, and this lookup is faster than
  // `childOf`.
  const fields = type.form === 'struct' ? type.fields : undefined
  const putAdded = (found: ComparisonBuilder, key: string): true => {
    const { element, below: inner } = fields?.get(key) ?? childOf(key, type)
    found.put(element, compareParts(before[key], after[key], inner))
    return true
  }
  const putRemoved = (found: ComparisonBuilder, key: string): true => {
    if (after[key] !== undefined) return true
    const { element, below: inner } = fields?.get(key) ?? childOf(key, type)
    found.put(element, compareParts(before[key], undefined, inner))
    return true
  }
  if (isDivided()) {
    const found = eachKey('compare added keys', after, () => new ComparisonBuilder(), putAdded)
    return eachKey('compare removed keys', before, () => found, putRemoved).result
  }
  const found = new ComparisonBuilder()
  for (const key in after) putAdded(found, key)
  for (const key in before) putRemoved(found, key)
  return found.result
}

function compareParts(
  before: Json | undefined,
  after: Json | undefined,
  type: MergeType,
): Comparison | undefined {
  if (before !== undefined) {
    return after === undefined
      ? { ...nothing, removed: addedSet(before, type) }
      : compare(before, after, type)
  }
  if (after === undefined) return undefined
  if (type.form === 'scalar') return addedLeaf
  const added = addedSet(after, type)
  return added === ownedLeaf ? addedLeaf : { added, modified: noFields, removed: noFields }
}

function byItem(
  before: readonly Json[],
  after: readonly Json[],
  type: ListMerge,
): Comparison | undefined {
  const found = new ComparisonBuilder()
  const olds = itemsByElement(before, type)
  const news = itemsByElement(after, type)
  if (isDivided()) return byItemInParts(olds, news, type)
  for (const [element, items] of news)
    found.put(element, compareItems(olds.get(element) ?? [], items, type.of))
  for (const [element, items] of olds) {
    if (!news.has(element)) found.put(element, compareItems(items, [], type.of))
  }
  return found.result
}

type ItemsByElement = ReadonlyMap<string, readonly Json[]>

function byItemInParts(
  olds: ItemsByElement,
  news: ItemsByElement,
  type: ListMerge,
): Comparison | undefined {
  const added = once('items after', () => [...news])
  const removed = once('removed items', () => [...olds].filter(([element]) => !news.has(element)))
  const found = eachItem(
    'compare items after',
    added,
    () => new ComparisonBuilder(),
    (made, [element, items]) => {
      made.put(element, compareItems(olds.get(element) ?? [], items, type.of))
      return true
    },
  )
  return eachItem(
    'compare removed items',
    removed,
    () => found,
    (made, [element, items]) => {
      made.put(element, compareItems(items, [], type.of))
      return true
    },
  ).result
}

/**
 * Compares items that have the same key in both lists. If a list contains several items with the
 * same key, they are compared together, as one atomic value.
 */
function compareItems(
  before: readonly Json[],
  after: readonly Json[],
  of: MergeType,
): Comparison | undefined {
  const [oldItem] = before
  const [newItem] = after
  if (before.length <= 1 && after.length <= 1) return compareParts(oldItem, newItem, of)
  if (oldItem === undefined) return addedLeaf
  if (newItem === undefined) return { ...nothing, removed: ownedLeaf }
  if (before.length > 1 && after.length > 1) return leaf(before, after)
  const single =
    before.length === 1 ? { removed: below(oldItem, of) } : { added: below(newItem, of) }
  return { ...nothing, modified: ownedLeaf, ...single }
}

/** Returns all fields inside a value, without the value itself. */
const below = (value: Json, type: MergeType): FieldSet =>
  nodeOf(false, addedSet(value, type).children)

/** Builds the comparison of a value from the comparisons of its children. */
class ComparisonBuilder {
  #added: Map<string, FieldSet> | undefined
  #modified: Map<string, FieldSet> | undefined
  #removed: Map<string, FieldSet> | undefined

  put(element: string, comparison: Comparison | undefined): void {
    if (comparison === undefined) return
    const { added, modified, removed } = comparison
    if (added !== noFields) (this.#added ??= new Map()).set(element, added)
    if (modified !== noFields) (this.#modified ??= new Map()).set(element, modified)
    if (removed !== noFields) (this.#removed ??= new Map()).set(element, removed)
  }

  get result(): Comparison | undefined {
    const [added, modified, removed] = [this.#added, this.#modified, this.#removed]
    if (added === undefined && modified === undefined && removed === undefined) return undefined
    return { added: nodeAbove(added), modified: nodeAbove(modified), removed: nodeAbove(removed) }
  }
}

const nodeAbove = (children: ReadonlyMap<string, FieldSet> | undefined): FieldSet =>
  children === undefined ? noFields : { isOwned: false, children }

export const isDifferent = ({ added, modified, removed }: Comparison): boolean =>
  !isEmptySet(added) || !isEmptySet(modified) || !isEmptySet(removed)

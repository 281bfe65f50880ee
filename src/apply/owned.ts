/** The field sets of a value: the fields that its applier owns, and the fields that are added with it. */
import { isFields, type Json } from '../api/object.ts'
import { type FieldSet, nodeOf, ownedLeaf } from './field-set.ts'
import type { ListMerge, MergeType } from './merge-type.ts'
import { fieldElement, itemElement } from './path-element.ts'
import { isEmptyMap } from './value.ts'

/**
 * The fields that an applier of this value owns: scalars, empty maps, list items and map keys; but not a struct or a list because of its
 * contents.
 */
export function appliedSet(value: Json, type: MergeType): FieldSet {
  if (isLeaf(value, type)) return ownedLeaf
  if (Array.isArray(value)) return nodeOf(false, itemSets(value, type, ownedItem))
  if (!isFields(value)) return ownedLeaf
  const children = new Map<string, FieldSet>()
  for (const key in value) {
    const given = value[key] ?? null
    const { element, below, isDeclared } = childOf(key, type)
    const set = appliedSet(given, below)
    const isOwned = set.isOwned || !isDeclared || isEmptyMap(given)
    if (isOwned || set.children.size > 0) children.set(element, isOwned ? owned(set) : set)
  }
  return nodeOf(false, children)
}

const ownedItem = (item: Json, of: MergeType): FieldSet => owned(appliedSet(item, of))

/** The fields that are added with a value: all of it, including the maps and lists themselves. */
export function addedSet(value: Json, type: MergeType): FieldSet {
  if (isLeaf(value, type)) return ownedLeaf
  if (Array.isArray(value)) return nodeOf(true, itemSets(value, type, addedSet))
  if (!isFields(value)) return ownedLeaf
  const children = new Map<string, FieldSet>()
  for (const key in value) {
    const { element, below } = childOf(key, type)
    children.set(element, addedSet(value[key] ?? null, below))
  }
  return nodeOf(true, children)
}

/** Items with the same key are one field, without known fields below it. */
function itemSets(
  list: readonly Json[],
  type: MergeType,
  setOf: (item: Json, of: MergeType) => FieldSet,
): ReadonlyMap<string, FieldSet> {
  const children = new Map<string, FieldSet>()
  if (type.form !== 'list') return children
  for (const item of list) {
    const element = itemElement(item, type)
    if (element !== undefined) children.set(element, children.has(element) ? ownedLeaf : setOf(item, type.of))
  }
  return children
}

const owned = (set: FieldSet): FieldSet => (set.isOwned ? set : nodeOf(true, set.children))

/** Whether a value is owned as a whole, like an atomic one. */
export function isLeaf(value: Json, type: MergeType): boolean {
  switch (type.form) {
    case 'scalar':
      return true
    case 'any':
      return type.isWhole === true || !isFields(value)
    case 'list':
      return type.by === 'whole' || !Array.isArray(value)
    case 'map':
    case 'struct':
      return type.isAtomic || !isFields(value)
  }
}

export type Child = {
  readonly element: string
  readonly below: MergeType
  /** Whether it is a field of a struct, rather than a key of a map. */
  readonly isDeclared: boolean
}

const anything: MergeType = { form: 'any' }

/** The child at a key of a value that is not a leaf. */
export function childOf(key: string, type: MergeType): Child {
  if (type.form === 'struct') {
    const field = type.fields.get(key)
    if (field !== undefined) return field
  }
  return { element: fieldElement(key), below: type.form === 'map' ? type.of : anything, isDeclared: false }
}

/** The items of a list by their elements, with all of those that are repeated. */
export function itemsByElement(list: readonly Json[], type: ListMerge): Map<string, readonly Json[]> {
  const items = new Map<string, Json[]>()
  for (const item of list) {
    const element = itemElement(item, type)
    if (element === undefined) continue
    const known = items.get(element)
    if (known === undefined) items.set(element, [item])
    else known.push(item)
  }
  return items
}

/**
 * Computes two field sets of a value: the fields that its applier owns, and the fields that exist
 * because of the value.
 */
import { type Fields, isFields, type Json } from '../../api/object.ts'
import { eachItem, eachKey, isDivided } from '../../lib/scheduling/parts.ts'
import { type FieldSet, nodeOf, ownedLeaf } from './field-set.ts'
import type { ListMerge, MergeType } from './merge-type.ts'
import { fieldElement, itemElement } from './path-element.ts'
import { isEmptyMap } from './value.ts'

/**
 * Returns the fields that the applier of a value owns: scalars, empty maps, list items and map
 * keys. For a struct or a list, these are fields inside it, not the struct or list itself.
 */
export function appliedSet(value: Json, type: MergeType): FieldSet {
  if (isLeaf(value, type)) return ownedLeaf
  if (Array.isArray(value)) return nodeOf(false, itemSets(value, type, ownedItem))
  if (!isFields(value)) return ownedLeaf
  return nodeOf(
    false,
    fieldSets(value, (children, key) => {
      const given = value[key] ?? null
      const { element, below, isDeclared } = childOf(key, type)
      const set = appliedSet(given, below)
      const isOwned = set.isOwned || !isDeclared || isEmptyMap(given)
      if (isOwned || set.children.size > 0) children.set(element, isOwned ? owned(set) : set)
    }),
  )
}

const ownedItem = (item: Json, of: MergeType): FieldSet => owned(appliedSet(item, of))

/**
 * Returns the fields that exist because of a value: all fields in it, and all maps and lists
 * themselves.
 */
export function addedSet(value: Json, type: MergeType): FieldSet {
  if (isLeaf(value, type)) return ownedLeaf
  if (Array.isArray(value)) return nodeOf(true, itemSets(value, type, addedSet))
  if (!isFields(value)) return ownedLeaf
  return nodeOf(
    true,
    fieldSets(value, (children, key) => {
      const { element, below } = childOf(key, type)
      children.set(element, addedSet(value[key] ?? null, below))
    }),
  )
}

type Children = Map<string, FieldSet>

const newChildren = (): Children => new Map()

function fieldSets(fields: Fields, put: (children: Children, key: string) => void): Children {
  if (isDivided()) {
    return eachKey('owned keys', fields, newChildren, (children, key) => {
      put(children, key)
      return true
    })
  }
  const children = newChildren()
  for (const key in fields) put(children, key)
  return children
}

/**
 * Returns the field set of each item, by path element. If several items have the same key, they
 * count as one field without known contents.
 */
function itemSets(
  list: readonly Json[],
  type: MergeType,
  setOf: (item: Json, of: MergeType) => FieldSet,
): ReadonlyMap<string, FieldSet> {
  if (type.form !== 'list') return newChildren()
  return eachItem('owned items', list, newChildren, (children, item) => {
    const element = itemElement(item, type)
    if (element !== undefined)
      children.set(element, children.has(element) ? ownedLeaf : setOf(item, type.of))
    return true
  })
}

const owned = (set: FieldSet): FieldSet => (set.isOwned ? set : nodeOf(true, set.children))

/** Whether a value can only be owned as a whole, as scalars and atomic values are. */
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
  /** Whether the child is a field of a struct, as opposed to a key of a map. */
  readonly isDeclared: boolean
}

const anything: MergeType = { form: 'any' }

/**
 * Returns the field of a struct or the entry of a map with this key. The value must be a struct or
 * a map that is not atomic.
 */
export function childOf(key: string, type: MergeType): Child {
  if (type.form === 'struct') {
    const field = type.fields.get(key)
    if (field !== undefined) return field
  }
  return {
    element: fieldElement(key),
    below: type.form === 'map' ? type.of : anything,
    isDeclared: false,
  }
}

/**
 * Groups the items of a list by their path element, which contains the key or the value of an item.
 * Duplicates are in the same group.
 */
export function itemsByElement(
  list: readonly Json[],
  type: ListMerge,
): Map<string, readonly Json[]> {
  return eachItem(
    'items by element',
    list,
    (): Map<string, Json[]> => new Map(),
    (items, item) => {
      const element = itemElement(item, type)
      if (element === undefined) return true
      const known = items.get(element)
      if (known === undefined) items.set(element, [item])
      else known.push(item)
      return true
    },
  )
}

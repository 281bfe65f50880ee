/**
 * Removes the fields that an applier owned and no longer applies, unless another manager owns them.
 */
import { JsonMap } from '../../api/json-map.ts'
import { type Fields, isFields, type Json } from '../../api/object.ts'
import { eachItem, eachKey, everyKey } from '../../lib/scheduling/parts.ts'
import { type FieldSet, isEmptySet, noFields } from './field-set.ts'
import type { ListMerge, MergeType } from './merge-type.ts'
import { appliedSet, childOf, isLeaf } from './owned.ts'
import { itemElement } from './path-element.ts'
import { isEmptyMap } from './value.ts'

/**
 * Removes fields from a value. `before` contains the fields that the applier owned. `owned`
 * contains the fields that the applier and all other managers own now. If a struct or list is in
 * `before` and no field in it is owned, it is removed with all of its contents. This includes
 * defaults that never had an owner. A map or list that becomes empty becomes null.
 */
export function prune(value: Json, type: MergeType, sets: PruneSets): Json {
  if (sets.before.children.size === 0 || isLeaf(value, type)) return value
  if (Array.isArray(value)) return type.form === 'list' ? pruneItems(value, type, sets) : value
  if (!isFields(value)) return value
  return pruneFields(value, type, sets)
}

export type PruneSets = { readonly before: FieldSet; readonly owned: FieldSet }

function pruneFields(value: Fields, type: MergeType, { before, owned }: PruneSets): Json {
  const { kept, isChanged, isEmpty } = eachKey(
    'pruned fields',
    value,
    () => ({ kept: new JsonMap(), isChanged: false, isEmpty: true }),
    (state, key) => {
      const given = value[key] ?? null
      const { element, below, isDeclared } = childOf(key, type)
      const had = before.children.get(element)
      const result =
        had === undefined
          ? given
          : prunePart(given, below, { had, has: owned.children.get(element), isDeclared })
      state.isChanged ||= result !== given
      if (result === undefined) return true
      state.kept[key] = result
      state.isEmpty = false
      return true
    },
  )
  return isChanged ? (isEmpty ? null : kept) : value
}

type Part = {
  readonly had: FieldSet
  readonly has: FieldSet | undefined
  /**
   * Whether the schema declares the field. A declared field counts as owned if any field inside it
   * is owned.
   */
  readonly isDeclared: boolean
}

/** Prunes a field or an item. Returns undefined if it is removed. */
function prunePart(
  value: Json,
  type: MergeType,
  { had, has = noFields, isDeclared }: Part,
): Json | undefined {
  const isOwned = has.isOwned || (isDeclared && !isEmptySet(has))
  const wasOwned = had.isOwned || isDeclared
  if (isOwned) {
    const isLost =
      wasOwned &&
      holdsNobodys(value, type) &&
      !isNobodys(value, type, isDeclared) &&
      !keepsAny(value, type, has)
    return isLost ? undefined : prune(value, type, { before: had, owned: has })
  }
  if (wasOwned && !isNobodys(value, type, isDeclared)) return undefined
  return prune(value, type, { before: had, owned: noFields })
}

/**
 * Whether a declared field contains only empty lists. It is kept, because field sets do not record
 * such a field, so no manager can own it.
 */
const isNobodys = (value: Json, type: MergeType, isDeclared: boolean): boolean =>
  isDeclared && !isEmptyMap(value) && isEmptySet(appliedSet(value, type))

/**
 * Whether any field of a map contains only empty lists. As in kube-apiserver, an owned map with
 * such a field is removed if it has no owned fields.
 */
const holdsNobodys = (value: Json, type: MergeType): boolean =>
  isFields(value) &&
  !isLeaf(value, type) &&
  !everyKey('fields without owners', value, (key) => {
    const { below, isDeclared } = childOf(key, type)
    return !isNobodys(value[key] ?? null, below, isDeclared)
  })

/** Whether any field inside a value is owned. Fields that contain only empty lists do not count. */
const keepsAny = (value: Json, type: MergeType, has: FieldSet): boolean =>
  has.children.size > 0 &&
  isFields(value) &&
  !everyKey('fields that are kept', value, (key) => {
    const { element, below, isDeclared } = childOf(key, type)
    const own = has.children.get(element)
    const isOwned = own !== undefined && (own.isOwned || (isDeclared && !isEmptySet(own)))
    return !isOwned || isNobodys(value[key] ?? null, below, isDeclared)
  })

function pruneItems(list: readonly Json[], type: ListMerge, { before, owned }: PruneSets): Json {
  const { kept, isChanged } = eachItem(
    'pruned items',
    list,
    (): { readonly kept: Json[]; isChanged: boolean } => ({ kept: [], isChanged: false }),
    (state, item) => {
      const element = itemElement(item, type) ?? ''
      const had = before.children.get(element)
      const has = owned.children.get(element)
      const result =
        had === undefined ? item : prunePart(item, type.of, { had, has, isDeclared: false })
      state.isChanged ||= result !== item
      if (result !== undefined) state.kept.push(result)
      return true
    },
  )
  return isChanged ? (kept.length === 0 ? null : kept) : list
}

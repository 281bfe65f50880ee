/**
 * Applies a strategic merge patch. Objects are merged field by field, and lists as the schema
 * specifies. Directives change this (`$patch`, `$retainKeys`, `$setElementOrder/…`,
 * `$deleteFromPrimitiveList/…`). Merging changes both trees that the caller passes. kube-apiserver
 * does the same, and its error messages contain the changed trees.
 */
import { cutText } from '../../lib/text/cut-text.ts'
import { badRequest, unclassified } from '../../api/errors.ts'
import { JsonMap } from '../../api/json-map.ts'
import type { Json } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import type { Steps } from '../../lib/scheduling/slices.ts'
import type { Field, Schema } from '../schema/schema.ts'
import {
  eachInSteps,
  type Identity,
  identity,
  noIdentity,
  noMergeKey,
  ordered,
  STEP_ITEMS,
  valueIdentity,
  wrongType,
} from './element-order.ts'
import { goPrint, goPrintText } from './go-print.ts'
import type { Work } from './work.ts'

const PATCH = '$patch'
const RETAIN = '$retainKeys'
const ORDER = '$setElementOrder'
const DELETE = '$deleteFromPrimitiveList'

/**
 * Cost of an item of a merged list, which is visited about 20 times. The cost is limited, because a
 * patch can merge the same long list once for each of its items.
 */
const ITEM_UNITS = 20
/** Cost of each key of a map from which a directive removes keys. */
const KEY_UNITS = 4

type MapRules = { readonly schema: Schema; readonly work: Work }

/**
 * Merges the patch into `live` and returns the result. If the patch cannot be applied, throws the
 * error that the client receives, or a PatchError if it is too expensive.
 */
export function* mergeMaps(
  live: JsonMap,
  patch: JsonMap,
  { schema, work }: MapRules,
): Steps<JsonMap> {
  if (PATCH in patch) return directed(patch)
  retainKeys(live, patch, work)
  const keys = Object.keys(patch)
  for (const [at, key] of keys.entries()) {
    if (at % STEP_ITEMS === STEP_ITEMS - 1) yield undefined
    if (key.startsWith(ORDER)) yield* mergeOrderedList(live, patch, { key, schema, work })
  }
  for (const [at, key] of keys.entries()) {
    if (at % STEP_ITEMS === STEP_ITEMS - 1) yield undefined
    // Skip lists with a `$setElementOrder` directive. They were merged before and removed from the
    // patch.
    if (key in patch) yield* mergeField(live, patch, { key, schema, work })
  }
  return live
}

/** Executes a `$patch` directive. It replaces or deletes an object instead of merging it. */
function directed(patch: JsonMap): JsonMap {
  const directive = patch[PATCH]
  if (directive === 'delete') return new JsonMap()
  if (directive !== 'replace') throw unknownDirective(directive, patch)
  delete patch[PATCH]
  return patch
}

const unknownDirective = (directive: Json | undefined, patch: JsonMap): Error =>
  unclassified(`unknown patch type: ${cutText(goPrintText(directive))} in map: ${goPrint(patch)}`)

/** Executes a `$retainKeys` directive. It removes all fields of an object that it does not list. */
function retainKeys(live: JsonMap, patch: JsonMap, work: Work): void {
  if (!(RETAIN in patch)) return
  const keys = patch[RETAIN]
  delete patch[RETAIN]
  const named = new Set(Array.isArray(keys) ? keys : [])
  const isNamed = (key: string): boolean => named.has(key)
  const isComplete = Object.entries(patch).every(
    ([key, value]) => value === null || isDirective(key) || isNamed(key),
  )
  if (!Array.isArray(keys) || !isComplete) throw badRequest('invalid patch format of retainKeys')
  const current = Object.keys(live)
  work.spend(KEY_UNITS * current.length)
  for (const key of current) if (!isNamed(key)) delete live[key]
}

const isDirective = (key: string): boolean => key.startsWith(DELETE) || key.startsWith(ORDER)

type FieldRules = MapRules & { readonly key: string }

function* mergeField(
  live: JsonMap,
  patch: JsonMap,
  { key: given, schema, work }: FieldRules,
): Steps<void> {
  const value = patch[given] ?? null
  const isDeletion = given.startsWith(DELETE)
  const key = isDeletion ? fieldOf(given, DELETE, 'primitive list') : given
  if (value === null) {
    delete live[key]
    return
  }
  const current = key in live ? live[key] : undefined
  if (current instanceof JsonMap && value instanceof JsonMap) {
    const field = lookUp(schema, key)
    live[key] =
      strategyOf(field) === 'replace'
        ? value
        : yield* mergeMaps(current, value, { schema: field.schema, work })
  } else if (Array.isArray(current) && Array.isArray(value)) {
    const field = lookUpList(schema, key)
    live[key] = yield* mergedList(current, value, { field, isDeletion, work })
  } else if (!isDeletion || (current !== undefined && formOf(current) === formOf(value)))
    yield* take(live, key, value)
}

/**
 * Sets a field that the live object does not have, so there is nothing to merge. Nulls and
 * directives in the value are dropped, because they only concern existing fields.
 */
function* take(live: JsonMap, key: string, value: Json): Steps<void> {
  const plain = yield* withoutDirectives(yield* withoutNulls(value))
  if (plain === undefined) delete live[key]
  else live[key] = plain
}

const isScalar = (value: Json): boolean => typeof value !== 'object' || value === null

function* withoutNulls(value: Json): Steps<Json> {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      if (at % STEP_ITEMS === 0) yield undefined
      if (!isScalar(item)) yield* withoutNulls(item)
    }
  }
  if (!(value instanceof JsonMap)) return value
  for (const [at, [key, inside]] of Object.entries(value).entries()) {
    if (at % STEP_ITEMS === 0) yield undefined
    if (inside === null) delete value[key]
    else if (!isScalar(inside)) yield* withoutNulls(inside)
  }
  return value
}

/** Removes directives from a value. Returns undefined if the whole value is a directive. */
function* withoutDirectives(value: Json): Steps<Json | undefined> {
  if (Array.isArray(value)) return yield* plainItems(value)
  if (!(value instanceof JsonMap)) return value
  if (PATCH in value) return undefined
  for (const [at, [key, inside]] of Object.entries(value).entries()) {
    if (at % STEP_ITEMS === 0) yield undefined
    if (isScalar(inside)) continue
    const plain = yield* withoutDirectives(inside)
    if (plain === undefined) delete value[key]
    else value[key] = plain
  }
  return value
}

/** Removes directives from a list. Null items are kept. */
function* plainItems(items: readonly Json[]): Steps<Json[]> {
  const plain: Json[] = []
  for (const [at, item] of items.entries()) {
    if (at % STEP_ITEMS === 0) yield undefined
    const kept = isScalar(item) ? item : yield* withoutDirectives(item)
    if (kept !== undefined) plain.push(kept)
  }
  return plain
}

/**
 * Returns the field to which a directive applies, such as `finalizers` for
 * `$setElementOrder/finalizers`.
 */
function fieldOf(directive: string, prefix: string, what: string): string {
  const key = directive.slice(prefix.length + 1)
  if (directive[prefix.length] !== '/') throw badRequest(`invalid patch format of ${what}`)
  return key
}

function lookUp(schema: Schema, key: string): Field {
  const field = schema.type === 'struct' ? schema.byName.get(key) : undefined
  if (field !== undefined) return field
  const name = schema.goName.slice(schema.goName.indexOf('.') + 1)
  throw unclassified(`unable to find api field in struct ${name} for the json field ${quote(key)}`)
}

/**
 * Returns a field, or throws an error if it is not a list. As in Go, bytes are a list. A pointer is
 * accepted without a check of its type, as in kube-apiserver.
 */
function lookUpList(schema: Schema, key: string): Field {
  const field = lookUp(schema, key)
  if (field.schema.type === 'list' || field.schema.type === 'bytes' || field.isPointer) return field
  throw unclassified('expected slice or array type, but got: struct')
}

const strategyOf = ({ patch }: Field): string | undefined =>
  patch?.strategies.find((strategy) => strategy !== 'retainKeys')

const itemSchema = ({ schema }: Field): Schema => (schema.type === 'list' ? schema.of : schema)

/**
 * Merges a list that has a `$setElementOrder` directive, and orders it. Removes both the list and
 * the directive from the patch.
 */
function* mergeOrderedList(
  live: JsonMap,
  patch: JsonMap,
  { key: directive, schema, work }: FieldRules,
): Steps<void> {
  const wanted = listOf(patch[directive] ?? null)
  delete patch[directive]
  const key = fieldOf(directive, ORDER, 'setElementOrder list')
  const current = key in live ? listOf(live[key] ?? null) : undefined
  const given = key in patch ? listOf(patch[key] ?? null) : undefined
  const field = lookUpList(schema, key)
  const mergeKey = field.patch?.key
  work.spend(ITEM_UNITS * (wanted.length + (current?.length ?? 0)))
  checkOrder(given ?? [], wanted, mergeKey)
  if (current === undefined && given === undefined) return
  const merged =
    given === undefined
      ? (current ?? [])
      : current === undefined
        ? yield* plainItems(given)
        : yield* mergedList(current, given, { field, isDeletion: false, work })
  checkItems(current ?? [], given ?? [], mergeKey)
  live[key] = yield* ordered(merged, { mergeKey, wanted, live: current ?? [], work })
  delete patch[key]
}

/**
 * Throws an error if items cannot be ordered: because there are none, because their types differ,
 * or because a map lacks the merge key.
 */
function checkItems(
  live: readonly Json[],
  patch: readonly Json[],
  mergeKey: string | undefined,
): void {
  const items = [...live, ...patch]
  const [first] = items
  if (first === undefined) throw unclassified('no elements in any of the given slices')
  if (!isUniform(items)) throw mixedItems(live, patch)
  if (mergeKey === undefined && first instanceof JsonMap) throw noMergeKey(first, '')
}

const mixedItems = (live: readonly Json[], patch: readonly Json[]): Error =>
  unclassified(`list element types are not identical: ${goPrint([live, patch])}`)

function listOf(value: Json): readonly Json[] {
  if (!Array.isArray(value)) throw wrongType('[]interface {}', value)
  return value
}

/**
 * Throws an error unless the patch contains the items in the order of its `$setElementOrder`
 * directive.
 */
function checkOrder(
  given: readonly Json[],
  wanted: readonly Json[],
  mergeKey: string | undefined,
): void {
  const kept = mergeKey === undefined ? given : given.filter((item) => !isDeleted(item))
  let next = 0
  for (const item of wanted) {
    if (next === kept.length) return
    if (identity(kept[next] ?? null, mergeKey) === identity(item, mergeKey)) next++
  }
  if (next === kept.length) return
  throw unclassified(
    `The order in patch list:\n${goPrint(given)}\n doesn't match ${ORDER} list:\n${goPrint(wanted)}\n`,
  )
}

const isDeleted = (item: Json): boolean => item instanceof JsonMap && item[PATCH] === 'delete'

type ItemRules = { readonly field: Field; readonly work: Work }
type ListRules = ItemRules & { readonly isDeletion: boolean }

function* mergedList(
  live: readonly Json[],
  patch: readonly Json[],
  { field, isDeletion, work }: ListRules,
): Steps<readonly Json[]> {
  if (strategyOf(field) !== 'merge' && !isDeletion) return patch
  if (live.length === 0 && patch.length === 0) return live
  work.spend(ITEM_UNITS * (live.length + patch.length))
  if (!isUniform([...live, ...patch])) throw mixedItems(live, patch)
  if ((live[0] ?? patch[0]) instanceof JsonMap)
    return yield* mergedItems(live, patch, { field, work })
  const merged = new Map<Identity, Json>()
  yield* eachInSteps(live, (value) => merged.set(valueIdentity(value), value))
  if (isDeletion) {
    yield* eachInSteps(patch, (value) => merged.delete(valueIdentity(value)))
    return yield* filtered(live, (value) => merged.has(valueIdentity(value)))
  }
  yield* eachInSteps(patch, (value) => merged.set(valueIdentity(value), value))
  return yield* ordered([...merged.values()], { mergeKey: undefined, wanted: patch, live, work })
}

function* filtered(items: readonly Json[], isKept: (item: Json) => boolean): Steps<Json[]> {
  const kept: Json[] = []
  yield* eachInSteps(items, (item) => {
    if (isKept(item)) kept.push(item)
  })
  return kept
}

/** Returns the kind of a list's items, as Go's reflect package names it. */
const goKind = ({ type }: Schema): string => (type === 'string' || type === 'map' ? type : 'struct')

const isUniform = (items: readonly Json[]): boolean =>
  items.every((item) => item !== null && formOf(item) === formOf(items[0] ?? null))

const formOf = (value: Json): string =>
  value instanceof JsonMap ? 'map' : Array.isArray(value) ? 'list' : typeof value

function* mergedItems(
  live: readonly Json[],
  patch: readonly Json[],
  { field, work }: ItemRules,
): Steps<readonly Json[]> {
  const mergeKey = field.patch?.key
  if (mergeKey === undefined)
    throw unclassified(`cannot merge lists without merge key for ${goKind(itemSchema(field))}`)
  const { isReplaced, removed, items } = directivesOf(patch, mergeKey)
  if (isReplaced) return yield* ordered(items, { mergeKey, wanted: [], live: items, work })
  const kept: Json[] = []
  const at = new Map<Identity, number>()
  yield* eachInSteps(live, (item) => {
    const name = keyOf(item, mergeKey)
    // Charge for the length of the merge key's value, because `keyOf` prints it for each item.
    if (typeof name === 'string') work.spend(name.length)
    if (removed.has(name)) return
    if (!at.has(name)) at.set(name, kept.length)
    kept.push(item)
  })
  const merged = [...kept]
  for (const [count, item] of items.entries()) {
    if (count % STEP_ITEMS === STEP_ITEMS - 1) yield undefined
    const name = identity(item, mergeKey)
    const index = at.get(name) ?? merged.length
    at.set(name, index)
    const current = merged[index]
    const isBoth = current instanceof JsonMap && item instanceof JsonMap
    merged[index] = isBoth
      ? yield* mergeMaps(current, item, { schema: itemSchema(field), work })
      : item
  }
  return yield* ordered(merged, { mergeKey, wanted: items, live: kept, work })
}

/**
 * Returns the identity of an item. An item without the merge key is not equal to any item of a
 * patch.
 */
const keyOf = (item: Json, mergeKey: string): Identity =>
  item instanceof JsonMap && mergeKey in item ? valueIdentity(item[mergeKey] ?? null) : noIdentity

/** Divides the items of a list in a patch into directives and all other items. */
function directivesOf(
  patch: readonly Json[],
  mergeKey: string,
): { isReplaced: boolean; removed: ReadonlySet<Identity>; items: readonly Json[] } {
  const removed = new Set<Identity>()
  const items: Json[] = []
  let isReplaced = false
  for (const item of patch) {
    if (!(item instanceof JsonMap) || !(PATCH in item)) items.push(item)
    else if (item[PATCH] === 'replace') isReplaced = true
    else if (item[PATCH] === 'merge')
      throw unclassified('merging lists cannot yet be specified in the patch')
    else if (item[PATCH] !== 'delete') throw unknownDirective(item[PATCH], item)
    else if (mergeKey in item) removed.add(valueIdentity(item[mergeKey] ?? null))
    else throw noMergeKey(item, mergeKey)
  }
  return { isReplaced, removed, items }
}

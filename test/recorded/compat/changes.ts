/**
 * Changes between two JSON values. The recordings of a release contain only their changes against
 * the recordings of 1.33.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from './json.ts'

/**
 * One change. `at` is a JSON pointer (RFC 6901). If `value` is given, it replaces the value at
 * `at`. If `value` is missing, the value at `at` is removed. The second form changes a list: from
 * `index` on, it replaces `remove` elements by the elements of `insert`.
 */
export type Change =
  | { readonly at: string; readonly value?: Json }
  | {
      readonly at: string
      readonly index: number
      readonly remove: number
      readonly insert: readonly Json[]
    }

/** Returns the changes that turn one value into another. */
export function changesBetween(from: Json, to: Json): Change[] {
  const changes: Change[] = []
  collect(from, to, '', changes)
  return changes
}

function collect(from: Json, to: Json, at: string, changes: Change[]): void {
  if (isDeepStrictEqual(from, to)) return
  if (Array.isArray(from) && Array.isArray(to)) collectList(from, to, at, changes)
  else if (isObject(from) && isObject(to)) collectObject(from, to, at, changes)
  else changes.push({ at, value: to })
}

function collectObject(from: JsonObject, to: JsonObject, at: string, changes: Change[]): void {
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const path = `${at}/${escape(key)}`
    const [before, after] = [from[key], to[key]]
    if (after === undefined) changes.push({ at: path })
    else if (before === undefined) changes.push({ at: path, value: after })
    else collect(before, after, path, changes)
  }
}

/**
 * Adds the changes of a list. Elements that are equal at the beginning or at the end are skipped.
 */
function collectList(
  from: readonly Json[],
  to: readonly Json[],
  at: string,
  changes: Change[],
): void {
  const shorter = Math.min(from.length, to.length)
  let index = 0
  while (index < shorter && isDeepStrictEqual(from[index], to[index])) index++
  let same = 0
  while (same < shorter - index && isDeepStrictEqual(from.at(-1 - same), to.at(-1 - same))) same++
  const before = from.slice(index, from.length - same)
  const after = to.slice(index, to.length - same)
  if (before.length !== after.length)
    changes.push({ at, index, remove: before.length, insert: after })
  else
    for (const [offset, value] of before.entries())
      collect(value, after[offset] ?? null, `${at}/${index + offset}`, changes)
}

/** Returns a copy of a value with the changes. Throws an error if a path does not exist. */
export function applyChanges(value: Json, changes: readonly Change[]): Json {
  const root = { '': structuredClone(value) }
  for (const change of changes) apply(root, change)
  return root['']
}

function apply(root: JsonObject, change: Change): void {
  const keys = change.at.split('/').map(unescape)
  const last = keys.pop() ?? ''
  let parent: Json | undefined = root
  for (const key of keys) parent = child(parent, key)
  if ('index' in change) {
    const list = child(parent, last)
    if (!Array.isArray(list)) throw new Error(`there is no list at ${change.at}`)
    list.splice(change.index, change.remove, ...change.insert)
  } else if (Array.isArray(parent) && change.value !== undefined)
    parent[Number(last)] = change.value
  else if (!isObject(parent)) throw new Error(`there is no object above ${change.at}`)
  else if (change.value === undefined) Reflect.deleteProperty(parent, last)
  else parent[last] = change.value
}

/** Returns the value at a JSON pointer, or undefined if there is none. */
export function valueAt(value: Json, at: string): Json | undefined {
  let found: Json | undefined = value
  for (const key of at.split('/').slice(1).map(unescape)) found = child(found, key)
  return found
}

function child(value: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(value)) return value[Number(key)]
  return isObject(value) ? value[key] : undefined
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const escape = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')
const unescape = (key: string): string => key.replaceAll('~1', '/').replaceAll('~0', '~')

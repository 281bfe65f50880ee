/**
 * The structure that all Kubernetes objects share. An object from the cache is shared by all its
 * readers, so copy it before you change it.
 */
import { mapEach, once } from '../lib/scheduling/parts.ts'

export type Json =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly Json[]
  | { readonly [field: string]: Json | undefined }

export type ObjectMeta = {
  readonly name?: string
  readonly generateName?: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string | null
  readonly deletionTimestamp?: string
  readonly labels?: { readonly [key: string]: string }
  readonly annotations?: { readonly [key: string]: string }
  readonly finalizers?: readonly string[]
  readonly [field: string]: Json | undefined
}

export type KubeObject = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly [field: string]: Json | undefined
}

export type Fields = { readonly [field: string]: Json | undefined }

/**
 * Returns whether a value is a number. A bigint represents an integer that a number cannot
 * represent exactly.
 */
export const isNumber = (value: Json | undefined): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint'

export const isFields = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the fields of an object, or no fields if the value is not an object. */
export const fieldsOf = (value: Json | undefined): Fields => (isFields(value) ? value : {})

/** Returns the items of a list, or no items if the value is not a list. */
export const listOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? value : []

export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** Returns the items of a list of objects, or no items if the value is not a list. */
export const itemsOf = (list: Json | undefined): readonly Fields[] =>
  Array.isArray(list) ? mapped(list, fieldsOf) : []

/** Returns the strings of a list, or no strings if the value is not a list. */
export const textsOf = (list: Json | undefined): readonly string[] =>
  Array.isArray(list) ? mapped(list, textOf) : []

/**
 * Maximum length of a list that is always converted at once. Longer lists can be converted in
 * parts.
 */
const SHORT_LIST_ITEMS = 1000

const mapped = <T>(list: readonly Json[], map: (item: Json) => T): T[] =>
  list.length <= SHORT_LIST_ITEMS ? list.map(map) : mapEach('items of a list', list, map)

/** Returns a number, or zero if the value is not a number. In Go, an absent number is also zero. */
export const numberOf = (value: Json | undefined): number =>
  typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : 0

/**
 * Returns the entries of a map from strings to strings, or no entries if the value is not a map.
 */
export function entriesOf(map: Json | undefined): [string, string][] {
  const fields = fieldsOf(map)
  // For many entries, Object.entries takes several times as long as this loop.
  return mapEach(
    'entries',
    once('keys of entries', () => Object.keys(fields)),
    (key) => [key, textOf(fields[key])],
  )
}

/** Removes fields whose value is undefined. Returns the same object if it has no such field. */
export function present(fields: Fields): Fields {
  for (const name in fields) {
    if (fields[name] === undefined)
      // Bounded: the function returns here, so the fields are filtered only once.
      return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  }
  return fields
}

/**
 * Returns whether an object has no fields. For a large object this takes milliseconds, because V8
 * collects all keys before the loop visits the first.
 */
export function hasNoKeys(fields: Fields): boolean {
  for (const _ in fields) return false
  return true
}

export function omit(fields: Fields, ...names: readonly string[]): Fields {
  // Bounded: callers pass only a few names, so each search is short.
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
}

/** Replaces the managedFields of an object. Undefined removes the field. */
export function withManagedFields(object: KubeObject, managedFields: Json | undefined): KubeObject {
  const { managedFields: given, ...metadata } = object.metadata
  if (given === managedFields) return object
  return {
    ...object,
    metadata: managedFields === undefined ? metadata : { ...metadata, managedFields },
  }
}

/**
 * Functions for JSON values as Go decodes them: a whole number is an integer if it fits into an
 * int64, and all other numbers are floats.
 */
import { type Fields, isFields, type Json } from '../../../api/object.ts'
import { JsonMap } from '../../../api/json-map.ts'
import type { Slice } from '../../cel/run.ts'
import type { Turns } from '../../cel/turns.ts'
import { eachItem, eachKey, isDivided } from '../../../lib/scheduling/parts.ts'
import type { ValueType } from './structural.ts'

export function typeOfValue(value: Json): ValueType | 'null' {
  if (value === null) return 'null'
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value === 'object') return Array.isArray(value) ? 'array' : 'object'
  return isInteger(value) ? 'integer' : 'number'
}

export const isInteger = (value: number | bigint): boolean =>
  typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value)

/**
 * Whether two values are deeply equal. The order of keys is ignored. An absent field does not equal
 * null.
 */
export function isSameValue(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false
    return one.every((item: Json, at) => isSameValue(item, other[at]))
  }
  if (!isFields(one) || !isFields(other)) return false
  const keys = Object.keys(one)
  if (keys.length !== Object.keys(other).length) return false
  return keys.every((key) => Object.hasOwn(other, key) && isSameValue(one[key], other[key]))
}

/** The clock is checked once per this number of values, which take a few microseconds. */
export const LOOK_VALUES = 64

/** Does the same as `isSameValue`, but in time slices, because values can be large. */
export function* isSameInTurns(
  one: Json | undefined,
  other: Json | undefined,
  slice: Slice,
): Turns<boolean> {
  if (one === other) return true
  if (slice.isOver()) yield undefined
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false
    for (let at = 0; at < one.length; at++) {
      if (at % LOOK_VALUES === LOOK_VALUES - 1 && slice.isOver()) yield undefined
      if (one[at] !== other[at] && !(yield* isSameInTurns(one[at], other[at], slice))) return false
    }
    return true
  }
  if (!isFields(one) || !isFields(other)) return false
  const keys = Object.keys(one)
  if (keys.length !== Object.keys(other).length) return false
  for (const [at, key] of keys.entries()) {
    if (at % LOOK_VALUES === LOOK_VALUES - 1 && slice.isOver()) yield undefined
    if (!Object.hasOwn(other, key)) return false
    if (one[key] !== other[key] && !(yield* isSameInTurns(one[key], other[key], slice)))
      return false
  }
  return true
}

/** Returns the items after `change`. Returns the same list if no item changes. */
export function mapItems(
  items: readonly Json[],
  change: (item: Json, at: number) => Json,
): readonly Json[] {
  let changed: Json[] | undefined
  for (let at = 0; at < items.length; at++) {
    const before = items[at] ?? null
    const after = change(before, at)
    if (after !== before) changed ??= items.slice(0, at)
    changed?.push(after)
  }
  return changed ?? items
}

/**
 * Does the same as `mapItems` in work that can be divided into parts. `change` must not have side
 * effects, because it can be repeated.
 */
export function changedItems(
  items: readonly Json[],
  change: (item: Json, at: number) => Json,
): readonly Json[] {
  if (!isDivided()) return mapItems(items, change)
  const { changed } = eachItem(
    'changed items',
    items,
    (): { changed: Json[] | undefined } => ({ changed: undefined }),
    (state, before, at) => {
      const after = change(before, at)
      if (after !== before) state.changed ??= items.slice(0, at)
      state.changed?.push(after)
      return true
    },
  )
  return changed ?? items
}

/**
 * Returns the fields after `change`, without those that become undefined. Returns the same object
 * if no field changes. In work that is divided into parts, `change` can be repeated, so it must not
 * have side effects.
 */
export function changedFields(
  fields: Fields,
  change: (value: Json, name: string) => Json | undefined,
): Fields {
  if (isDivided()) return changedInParts(fields, change)
  let changed: JsonMap | undefined
  for (const name of Object.keys(fields)) {
    const before = fields[name] ?? null
    const after = change(before, name)
    if (after !== before) put((changed ??= Object.assign(new JsonMap(), fields)), name, after)
  }
  return changed ?? fields
}

function changedInParts(
  fields: Fields,
  change: (value: Json, name: string) => Json | undefined,
): Fields {
  const changes = eachKey(
    'changed fields',
    fields,
    (): (readonly [string, Json | undefined])[] => [],
    (found, name) => {
      const before = fields[name] ?? null
      const after = change(before, name)
      if (after !== before) found.push([name, after])
      return true
    },
  )
  if (changes.length === 0) return fields
  const copy = copyInParts(fields)
  return eachItem(
    'changed fields of a copy',
    changes,
    () => copy,
    (changed, [name, value]) => {
      put(changed, name, value)
      return true
    },
  )
}

function copyInParts(fields: Fields): JsonMap {
  return eachKey(
    'copied fields of a map',
    fields,
    () => new JsonMap(),
    (copy, name) => {
      const value = fields[name]
      if (value !== undefined) copy[name] = value
      return true
    },
  )
}

function put(fields: JsonMap, name: string, value: Json | undefined): void {
  if (value === undefined) delete fields[name]
  else fields[name] = value
}

/** Returns a text that is the same for equal values, and different for all others. */
export function keyOfValue(value: Json): string {
  if (typeof value === 'bigint') return `${value}`
  if (Array.isArray(value)) return `[${value.map(keyOfValue).join()}]`
  if (!isFields(value)) return JSON.stringify(value)
  const keys = Object.keys(value).toSorted()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${keyOfValue(value[key] ?? null)}`).join()}}`
}

/** Does the same as `keyOfValue`, but in time slices, because a value can be large. */
export function* keyInTurns(value: Json, slice: Slice): Turns<string> {
  if (Array.isArray(value)) {
    const chunks: string[] = []
    for (let from = 0; from < value.length; from += LOOK_VALUES) {
      if (slice.isOver()) yield undefined
      const keys: string[] = []
      for (const item of value.slice(from, from + LOOK_VALUES))
        keys.push(yield* keyInTurns(item, slice))
      chunks.push(keys.join())
    }
    return `[${chunks.join()}]`
  }
  if (!isFields(value)) return keyOfValue(value)
  const fields: string[] = []
  for (const key of Object.keys(value).toSorted()) {
    if (slice.isOver()) yield undefined
    fields.push(`${JSON.stringify(key)}:${yield* keyInTurns(value[key] ?? null, slice)}`)
  }
  return `{${fields.join()}}`
}

/** Whether a value has the JSON types that its shape asks for, told in the words of Go's decoder; and what of it is kept. */
import { type Fields, fieldsOf, isFields, type Json } from '../api/object.ts'
import { quote } from '../api/quote.ts'
import type { Shape, Struct } from '../api/shape.ts'

type Place = { readonly struct: string; readonly path: string }

/**
 * The first thing that is wrong, or undefined. Unknown fields are passed over (printing leaves them out), and null
 * stands for an absent value everywhere.
 */
export function checkShape(value: Json, shape: Struct): string | undefined {
  return check(value, shape, { struct: shape.goName, path: '' })
}

function check(value: Json, shape: Shape, place: Place): string | undefined {
  if (value === null) return undefined
  switch (shape.type) {
    case 'string':
      return typeof value === 'string' ? undefined : mismatch(value, 'string', place)
    case 'boolean':
      return typeof value === 'boolean' ? undefined : mismatch(value, 'bool', place)
    case 'int64':
      return isInt64(value) ? undefined : mismatch(value, 'int64', place)
    case 'time':
      return checkTime(value, place)
    case 'bytes':
      return checkBytes(value, place)
    case 'any':
      return undefined
    case 'list':
      if (!Array.isArray(value)) return mismatch(value, shape.goName, place)
      return firstOf(value, (item: Json) => check(item, shape.of, place))
    case 'map':
      if (!isFields(value)) return mismatch(value, shape.goName, place)
      return firstOf(Object.values(value), (item) => check(item ?? null, shape.of, place))
    case 'struct':
      return checkStruct(value, shape, place)
  }
}

function checkStruct(value: Json, shape: Struct, place: Place): string | undefined {
  if (!isFields(value)) return mismatch(value, `v1.${shape.goName}`, place)
  return firstOf(shape.fields, (field) => {
    if (!Object.hasOwn(value, field.name)) return undefined
    const path = place.path === '' ? field.name : `${place.path}.${field.name}`
    return check(value[field.name] ?? null, field.shape, { struct: shape.goName, path })
  })
}

function checkTime(value: Json, place: Place): string | undefined {
  if (typeof value !== 'string') return mismatch(value, 'string', place)
  if (isTime(value)) return undefined
  const layout = '2006-01-02T15:04:05Z07:00'
  return `parsing time ${quote(value)} as ${quote(layout)}: cannot parse ${quote(value)} as "2006"`
}

function checkBytes(value: Json, place: Place): string | undefined {
  if (typeof value !== 'string') return mismatch(value, '[]uint8', place)
  const text = value.replace(/[\r\n]/g, '')
  const valid = /^[A-Za-z0-9+/]*/.exec(text)?.[0].length ?? 0
  const padding = text.slice(valid)
  if (text.length % 4 === 0 && /^={0,2}$/.test(padding)) return undefined
  return `illegal base64 data at input byte ${/^={0,2}$/.test(padding) ? text.length : valid}`
}

const mismatch = (value: Json, goType: string, { struct, path }: Place): string =>
  `json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field ${struct}.${path} of type ${goType}`

export function jsonTypeOf(value: Json): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'bigint') return 'number'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

const int64Min = -(2n ** 63n)
const int64Max = 2n ** 63n - 1n

function isInt64(value: Json): boolean {
  if (typeof value === 'bigint') return value >= int64Min && value <= int64Max
  return typeof value === 'number' && Number.isSafeInteger(value)
}

const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/
const isTime = (text: string): boolean => timePattern.test(text) && !Number.isNaN(Date.parse(text))

function firstOf<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * A copy with only what the shape knows, and without nulls: absent is absent. In maps and lists, where something must
 * stand, null becomes the zero value of strings and structs. The value must have passed checkShape.
 */
export function prune(value: Fields, shape: Struct): Fields {
  const kept: { [field: string]: Json } = {}
  for (const { name, shape: inner } of shape.fields) {
    const given = Object.hasOwn(value, name) ? (value[name] ?? null) : null
    if (given !== null) kept[name] = pruneValue(given, inner)
  }
  return kept
}

function pruneValue(value: Json, shape: Shape): Json {
  if (shape.type === 'struct') return prune(fieldsOf(value), shape)
  if (shape.type === 'list' && Array.isArray(value)) {
    return value.map((item: Json) => pruneValue(item ?? zeroOf(shape.of), shape.of))
  }
  if (shape.type === 'map') {
    const entries = Object.entries(fieldsOf(value))
    return Object.fromEntries(entries.map(([key, item]) => [key, pruneValue(item ?? zeroOf(shape.of), shape.of)]))
  }
  return value
}

const zeroOf = (shape: Shape): Json => (shape.type === 'string' || shape.type === 'bytes' ? '' : null)

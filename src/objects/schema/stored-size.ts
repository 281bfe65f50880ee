/**
 * Estimates the minimum size that an object will have in the database. An object is rejected if
 * even this size exceeds the limit. This happens before its defaults are set, because these can be
 * many times as large as the body. For example, a container in the body can be `{}`, which has only
 * two bytes.
 */
import { hasNoKeys, isFields, type Json } from '../../api/object.ts'
import type { Field, Schema, Struct } from './schema.ts'

/**
 * Maximum request size of kube-apiserver's etcd client. By default, etcd itself accepts 1.5 MiB.
 */
export const STORED_BYTES_MAX = 2 << 20

/**
 * Minimum size of any value: in protobuf, a tag and a length, or a tag and a value. In JSON, values
 * are at least as long.
 */
const VALUE_BYTES_MIN = 2

/** Returns the minimum size of a list item with its defaults. */
export function itemBytesMin(item: Json, of: Schema): number {
  if (of.type !== 'struct') return VALUE_BYTES_MIN
  const { empty, other } = boundsOf(of)
  return isEmpty(item) ? empty : other
}

/**
 * Minimum sizes of the items of a type. `empty` is for an item without fields, which gets all
 * defaults. `other` is for all other items, because a field can be shorter than its default.
 */
type Bounds = { readonly empty: number; readonly other: number }

const bounds = new WeakMap<Struct, Bounds>()

function boundsOf(struct: Struct): Bounds {
  const known = bounds.get(struct)
  if (known !== undefined) return known
  const made = { empty: VALUE_BYTES_MIN, other: VALUE_BYTES_MIN }
  for (const field of struct.fields) {
    const bytes = defaultBytes(field, struct)
    made.empty += bytes
    if (bytes > 0) made.other += VALUE_BYTES_MIN
  }
  bounds.set(struct, made)
  return made
}

/**
 * Types whose zero value is written to protobuf, unless the field is a pointer. JSON also contains
 * the zero value, unless `omit` says otherwise.
 */
const scalars: ReadonlySet<Schema['type']> = new Set([
  'string',
  'boolean',
  'int32',
  'int64',
  'float64',
])

/**
 * Returns the minimum size that a field's default adds, in bytes. Returns 0 if the field can be
 * absent, or if a feature gate can turn off the default.
 */
function defaultBytes(
  { name, schema, isPointer, omit, default: published, gates = [] }: Field,
  { defaults }: Struct,
): number {
  if (gates.some(({ of }) => of.length === 0)) return 0
  const value = published ?? defaults?.fields[name]
  if (value !== undefined) return VALUE_BYTES_MIN + (typeof value === 'string' ? value.length : 0)
  if (omit === 'never' && !isPointer && scalars.has(schema.type)) return VALUE_BYTES_MIN
  // A field that is a struct in Go, and not a pointer, gets its defaults even if it is absent.
  if (schema.type !== 'struct' || isPointer) return 0
  const { empty } = boundsOf(schema)
  return empty > VALUE_BYTES_MIN ? empty : 0
}

const isEmpty = (item: Json): boolean => isFields(item) && hasNoKeys(item)

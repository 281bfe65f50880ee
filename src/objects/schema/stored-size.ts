/**
 * Computes a lower bound for the size of a stored object. An object whose lower bound exceeds the
 * limit could never be stored. It is rejected before its defaults are set, because they can be many
 * times as large as the body: in a list of containers, the item `{}` has only two bytes.
 */
import { hasNoKeys, isFields, type Json } from '../../api/object.ts'
import type { Field, Schema, Struct } from './schema.ts'

/**
 * Maximum request size of kube-apiserver's etcd client. By default, etcd itself accepts 1.5 MiB.
 */
export const STORED_BYTES_MAX = 2 << 20

/**
 * Minimum size of a value in protobuf: a tag and a length, or a tag and a value. In JSON, no value
 * is shorter.
 */
const VALUE_BYTES_MIN = 2

/** Returns a lower bound for the size of a list item including its defaults. */
export function itemBytesMin(item: Json, of: Schema): number {
  if (of.type !== 'struct') return VALUE_BYTES_MIN
  const { empty, other } = boundsOf(of)
  return isEmpty(item) ? empty : other
}

/**
 * Lower bounds for the size of items of a type. `empty` applies to an item without fields, which
 * gets all defaults. `other` applies to all other items, whose fields can be shorter than their
 * defaults.
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
 * Types whose zero value is written in protobuf, unless the field is a pointer. JSON also contains
 * the zero value, unless `omit` specifies otherwise.
 */
const scalars: ReadonlySet<Schema['type']> = new Set([
  'string',
  'boolean',
  'int32',
  'int64',
  'float64',
])

/**
 * Returns a lower bound for the size of a field's default in bytes. Returns 0 if the field can be
 * absent, or if the default depends on a feature gate.
 */
function defaultBytes(
  { name, schema, isPointer, omit, default: published, gates = [] }: Field,
  { defaults }: Struct,
): number {
  if (gates.some(({ of }) => of.length === 0)) return 0
  const value = published ?? defaults?.fields[name]
  if (value !== undefined) return VALUE_BYTES_MIN + (typeof value === 'string' ? value.length : 0)
  if (omit === 'never' && !isPointer && scalars.has(schema.type)) return VALUE_BYTES_MIN
  // A struct that is not a pointer in Go gets its defaults even if it is absent.
  if (schema.type !== 'struct' || isPointer) return 0
  const { empty } = boundsOf(schema)
  return empty > VALUE_BYTES_MIN ? empty : 0
}

const isEmpty = (item: Json): boolean => isFields(item) && hasNoKeys(item)

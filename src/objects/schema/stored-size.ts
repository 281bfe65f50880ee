/**
 * Computes a lower bound for the size of a stored object. An object above the limit could never be
 * stored. It is rejected before its defaults are set, since these can be many times as large as the
 * body: `{}` in a list of containers has only two bytes.
 */
import { hasNoKeys, isFields, type Json } from '../../api/object.ts'
import type { Field, Schema, Struct } from './schema.ts'

/**
 * Size of the largest request that kube-apiserver's etcd client sends. etcd itself accepts 1.5 MiB
 * unless it is configured otherwise.
 */
export const STORED_BYTES_MAX = 2 << 20

/** Size of a tag and a length, or a tag and a value, in protobuf. No value is shorter in JSON. */
const VALUE_BYTES_MIN = 2

/** Returns a lower bound for the size of an item of a list with its defaults. */
export function itemBytesMin(item: Json, of: Schema): number {
  if (of.type !== 'struct') return VALUE_BYTES_MIN
  const { empty, other } = boundsOf(of)
  return isEmpty(item) ? empty : other
}

/**
 * Lower bounds for the items of one type. `empty` is for an item without any fields, which gets
 * every default. `other` is for any other item, whose fields may be shorter than their defaults.
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
 * Types whose zero value protobuf writes unless the field is a pointer. JSON also writes it, unless
 * `omit` says otherwise.
 */
const scalars: ReadonlySet<Schema['type']> = new Set([
  'string',
  'boolean',
  'int32',
  'int64',
  'float64',
])

/**
 * Returns a lower bound for the default of a field. Returns 0 if the field may be absent, or if a
 * feature gate decides whether it gets a default.
 */
function defaultBytes(
  { name, schema, isPointer, omit, default: published, gates = [] }: Field,
  { defaults }: Struct,
): number {
  if (gates.some(({ of }) => of.length === 0)) return 0
  const value = published ?? defaults?.fields[name]
  if (value !== undefined) return VALUE_BYTES_MIN + (typeof value === 'string' ? value.length : 0)
  if (omit === 'never' && !isPointer && scalars.has(schema.type)) return VALUE_BYTES_MIN
  // A struct that cannot be nil in Go gets its defaults even if it was not given.
  if (schema.type !== 'struct' || isPointer) return 0
  const { empty } = boundsOf(schema)
  return empty > VALUE_BYTES_MIN ? empty : 0
}

const isEmpty = (item: Json): boolean => isFields(item) && hasNoKeys(item)

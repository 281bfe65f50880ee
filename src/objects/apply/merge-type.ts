/**
 * Describes how values of a type are owned and merged: as atomic values, by field, by key, as
 * associative lists, or as sets. A merge type is derived once from the schema of each type.
 */
import type { Json } from '../../api/object.ts'
import type { Field, Schema, Struct, Topology } from '../schema/schema.ts'

export type MergeType = ScalarMerge | AnyMerge | ListMerge | MapMerge | StructMerge

export type ScalarMerge = {
  readonly form: 'scalar'
  readonly scalar: 'string' | 'numeric' | 'boolean' | 'untyped'
}

/**
 * A value whose type is unknown. A map is merged by key, unless `isWhole` is true. All other values
 * are atomic.
 */
export type AnyMerge = { readonly form: 'any'; readonly isWhole?: true }

/**
 * A list. `by` is `whole` for an atomic list, `value` for a set, and `keys` for an associative
 * list, in which the fields `keys` identify an item.
 */
export type ListMerge = {
  readonly form: 'list'
  readonly by: 'whole' | 'value' | 'keys'
  readonly keys: readonly ListKey[]
  readonly of: MergeType
}

export type ListKey = {
  readonly name: string
  /** The value that an item has if it omits the key. */
  readonly default: Json | undefined
  /**
   * Whether an item can omit the key without a default, if it has another key. Such an item differs
   * from the items that have the key.
   */
  readonly isOptional: boolean
}

export type MapMerge = { readonly form: 'map'; readonly isAtomic: boolean; readonly of: MergeType }

export type StructMerge = {
  readonly form: 'struct'
  readonly isAtomic: boolean
  readonly fields: ReadonlyMap<string, StructField>
  /**
   * Whether the struct can have other fields than the declared ones. The types of these are
   * unknown.
   */
  readonly isOpen?: boolean
  /** For the type of objects: whether errors about values are not used as format strings. */
  readonly isVerbatim?: boolean
}

/** A field of a struct. `element` is its path element in field sets. */
export type StructField = {
  readonly element: string
  readonly below: MergeType
  readonly isDeclared: true
}

export const structField = (name: string, below: MergeType): StructField => ({
  element: `f:${name}`,
  below,
  isDeclared: true,
})

/** Merge types by schema. */
const known = new WeakMap<Struct, StructMerge>()
const anything: AnyMerge = { form: 'any' }
/** Merge type of a RawExtension, which is atomic. */
const wholeAnything: AnyMerge = { form: 'any', isWhole: true }

export function mergeTypeOf(struct: Struct): StructMerge {
  const found = known.get(struct)
  if (found !== undefined) return found
  const fields = new Map<string, StructField>()
  const { isAtomic, hasPartialKeys: isVerbatim = false } = struct
  const made: StructMerge = { form: 'struct', isAtomic, fields, isVerbatim }
  // Cache the type before its fields are visited, because they can contain the type again.
  known.set(struct, made)
  for (const field of struct.fields) {
    const below = typeOf(field.schema, field.topology, struct.hasPartialKeys === true)
    fields.set(field.name, structField(field.name, below))
  }
  return made
}

function typeOf(
  schema: Schema,
  topology: Topology | undefined,
  hasPartialKeys: boolean,
): MergeType {
  switch (schema.type) {
    case 'struct': {
      const type = mergeTypeOf(schema)
      const isAtomic =
        topology?.type === 'atomic' || (type.isAtomic && topology?.type !== 'granular')
      return isAtomic === type.isAtomic ? type : { ...type, isAtomic }
    }
    case 'map':
      return {
        form: 'map',
        isAtomic: topology?.type === 'atomic',
        of: typeOf(schema.of, undefined, hasPartialKeys),
      }
    case 'list': {
      const of = typeOf(schema.of, undefined, hasPartialKeys)
      if (topology?.type === 'set') return { form: 'list', by: 'value', keys: [], of }
      if (topology?.type !== 'map') return { form: 'list', by: 'whole', keys: [], of }
      const keys = topology.keys.toSorted().map((name) => listKey(schema.of, name, hasPartialKeys))
      return { form: 'list', by: 'keys', keys, of }
    }
    case 'any':
      return anything
    case 'raw':
      return wholeAnything
    case 'string':
    case 'bytes':
      return { form: 'scalar', scalar: 'string' }
    case 'int32':
    case 'int64':
    case 'float64':
      return { form: 'scalar', scalar: 'numeric' }
    case 'boolean':
      return { form: 'scalar', scalar: 'boolean' }
    case 'time':
    case 'microTime':
    case 'quantity':
      return { form: 'scalar', scalar: 'untyped' }
    // The published OpenAPI schema of int-or-string has no `type`, so this step accepts any value.
    // Decoding rejects lists and maps later.
    case 'intOrString':
      return anything
  }
}

function listKey(item: Schema, name: string, isOptional: boolean): ListKey {
  const field = item.type === 'struct' ? item.byName.get(name) : undefined
  return {
    name,
    default: field === undefined ? undefined : (field.default ?? zeroOfKey(field, item)),
    isOptional,
  }
}

/**
 * Returns the zero value of a key, if the published schema contains it as the default. In built-in
 * kinds, this is the case for fields that are always serialized, and for `name` of
 * LocalObjectReference (imagePullSecrets).
 */
function zeroOfKey({ schema, isPointer, omit }: Field, item: Schema): Json | undefined {
  const isOptional =
    omit !== 'never' && !(item.type === 'struct' && item.name === 'LocalObjectReference')
  if (isPointer || isOptional) return undefined
  if (schema.type === 'string') return ''
  return schema.type === 'int32' || schema.type === 'int64' ? 0 : undefined
}

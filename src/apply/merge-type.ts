/**
 * How values of a type are owned and merged: as a whole, by field, by key, by the keys of items, by value. Made from the schema
 * once; everything in this folder reads only these.
 */
import type { Json } from '../api/object.ts'
import type { Field, Schema, Struct, Topology } from '../schema/schema.ts'

export type MergeType = ScalarMerge | AnyMerge | ListMerge | MapMerge | StructMerge

export type ScalarMerge = { readonly form: 'scalar'; readonly scalar: 'string' | 'numeric' | 'boolean' | 'untyped' }

/** Nothing is known: maps are merged by key, all else is owned as a whole. */
export type AnyMerge = { readonly form: 'any'; readonly isWhole?: true }

/** `whole`: the list is one value. `value`: a set. `keys`: items are found again by these fields. */
export type ListMerge = {
  readonly form: 'list'
  readonly by: 'whole' | 'value' | 'keys'
  readonly keys: readonly ListKey[]
  readonly of: MergeType
}

export type ListKey = {
  readonly name: string
  /** What an item without this key is taken to have; undefined: it must have it. */
  readonly default: Json | undefined
}

export type MapMerge = { readonly form: 'map'; readonly isAtomic: boolean; readonly of: MergeType }

export type StructMerge = {
  readonly form: 'struct'
  readonly isAtomic: boolean
  readonly fields: ReadonlyMap<string, StructField>
  /** Fields that are not declared may be there too; nothing is known of them. */
  readonly isOpen?: boolean
}

/** `element` is how sets of fields name it. */
export type StructField = { readonly element: string; readonly below: MergeType; readonly isDeclared: true }

export const structField = (name: string, below: MergeType): StructField => ({
  element: `f:${name}`,
  below,
  isDeclared: true,
})

/** Types depend on nothing but the schema, so what was made for it is kept beside it. */
const known = new WeakMap<Struct, StructMerge>()
const anything: AnyMerge = { form: 'any' }
/** Its text is one value. */
const wholeAnything: AnyMerge = { form: 'any', isWhole: true }

export function mergeTypeOf(struct: Struct): StructMerge {
  const found = known.get(struct)
  if (found !== undefined) return found
  const fields = new Map<string, StructField>()
  const made: StructMerge = { form: 'struct', isAtomic: struct.isAtomic, fields }
  // Before its fields: a type may contain itself.
  known.set(struct, made)
  for (const field of struct.fields) {
    fields.set(field.name, structField(field.name, typeOf(field.schema, field.topology)))
  }
  return made
}

function typeOf(schema: Schema, topology: Topology | undefined): MergeType {
  switch (schema.type) {
    case 'struct': {
      const type = mergeTypeOf(schema)
      const isAtomic = topology?.type === 'atomic' || (type.isAtomic && topology?.type !== 'granular')
      return isAtomic === type.isAtomic ? type : { ...type, isAtomic }
    }
    case 'map':
      return { form: 'map', isAtomic: topology?.type === 'atomic', of: typeOf(schema.of, undefined) }
    case 'list': {
      const of = typeOf(schema.of, undefined)
      if (topology?.type === 'set') return { form: 'list', by: 'value', keys: [], of }
      if (topology?.type !== 'map') return { form: 'list', by: 'whole', keys: [], of }
      const keys = topology.keys.toSorted().map((name) => listKey(schema.of, name))
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
    // Its published schema has no type: a list or a map fits, and is refused only where an object is made of it.
    case 'intOrString':
      return anything
  }
}

function listKey(item: Schema, name: string): ListKey {
  const field = item.type === 'struct' ? item.byName.get(name) : undefined
  return { name, default: field === undefined ? undefined : (field.default ?? zeroOfKey(field, item)) }
}

/** Published schemas of built-in kinds have the zero value as the default of what is always written, and of names of secrets to pull images with. */
function zeroOfKey({ schema, isPointer, omit }: Field, item: Schema): Json | undefined {
  const isOptional = omit !== 'never' && !(item.type === 'struct' && item.name === 'LocalObjectReference')
  if (isPointer || isOptional) return undefined
  if (schema.type === 'string') return ''
  return schema.type === 'int32' || schema.type === 'int64' ? 0 : undefined
}

/**
 * Derives merge types from the structural schema of a custom kind. Parts without a schema are
 * merged by key.
 */
import type { Structural } from '../schema/structural/structural.ts'
import {
  type ListKey,
  type MergeType,
  type ScalarMerge,
  type StructField,
  structField,
  type StructMerge,
} from './merge-type.ts'

/** Merge types of objects, keyed by their schema and by the merge type of their metadata. */
const known = new WeakMap<Structural, Map<MergeType, StructMerge>>()
const anything: MergeType = { form: 'any' }
const text: MergeType = { form: 'scalar', scalar: 'string' }

/**
 * Returns the merge type of a whole object. `metadata` is the merge type of the metadata of all
 * objects.
 */
export function objectMergeType(
  schema: Structural,
  metadata: MergeType,
  hasPartialKeys = false,
): StructMerge {
  const byMetadata = known.get(schema) ?? new Map<MergeType, StructMerge>()
  known.set(schema, byMetadata)
  const found = byMetadata.get(metadata)
  if (found !== undefined) return found
  const around = { metadata, hasPartialKeys, keepsUnknown: false }
  const made = {
    ...structOf({ ...schema, isEmbedded: true }, around),
    isVerbatim: hasPartialKeys,
  }
  byMetadata.set(metadata, made)
  return made
}

/**
 * Settings that a schema inherits from the schemas around it. `keepsUnknown` is
 * x-kubernetes-preserve-unknown-fields, which applies to all schemas inside.
 */
type EnclosingSchema = {
  readonly metadata: MergeType
  readonly hasPartialKeys: boolean
  readonly keepsUnknown: boolean
}

function typeOf(schema: Structural, around: EnclosingSchema): MergeType {
  const { types, items, checks } = schema
  const [type] = types
  // The published schema of int-or-string has no `type` but only anyOf, which is ignored here.
  if (type === undefined || types.length > 1) return anything
  if (type === 'object') return objectOf(schema, around)
  if (type === 'array')
    return listOf(
      schema,
      items === undefined ? anything : typeOf(items, inside(schema, around)),
      around.hasPartialKeys,
    )
  if (type === 'string' && checks?.format !== undefined && checks.format !== 'byte')
    return scalar('untyped')
  return type === 'string' || type === 'boolean' ? scalar(type) : scalar('numeric')
}

const inside = ({ keepsUnknown }: Structural, around: EnclosingSchema): EnclosingSchema =>
  keepsUnknown ? { ...around, keepsUnknown } : around

/** Returns the merge type of an object. An object without properties can have any field. */
function objectOf(schema: Structural, around: EnclosingSchema): MergeType {
  const { properties, additional, isAtomic, isEmbedded, keepsUnknown } = schema
  const hasFields = properties !== undefined && properties.size > 0
  if (hasFields || isEmbedded || additional === false) return structOf(schema, around)
  const of = typeof additional === 'object' && !keepsUnknown ? typeOf(additional, around) : anything
  return { form: 'map', isAtomic, of }
}

const scalar = (kind: ScalarMerge['scalar']): MergeType => ({ form: 'scalar', scalar: kind })

function structOf(schema: Structural, around: EnclosingSchema): StructMerge {
  const { properties, isAtomic, isEmbedded, additional } = schema
  const below = inside(schema, around)
  const fields = new Map<string, StructField>()
  for (const [name, property] of properties ?? []) {
    fields.set(name, structField(name, typeOf(property, below)))
  }
  if (isEmbedded) {
    for (const name of ['apiVersion', 'kind']) fields.set(name, structField(name, text))
    fields.set('metadata', structField('metadata', around.metadata))
  }
  // `additionalProperties: false` applies only to this object, not to the objects in it.
  const isOpen = additional === true || (below.keepsUnknown && additional !== false)
  return { form: 'struct', isAtomic, fields, isOpen }
}

function listOf({ list, items }: Structural, of: MergeType, isOptional: boolean): MergeType {
  if (list === undefined) return { form: 'list', by: 'whole', keys: [], of }
  if (list.by === 'value') return { form: 'list', by: 'value', keys: [], of }
  const keys = list.keys
    .toSorted()
    .map((name): ListKey => ({ name, default: items?.properties?.get(name)?.default, isOptional }))
  return { form: 'list', by: 'keys', keys, of }
}

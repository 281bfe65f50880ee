/**
 * Derives the merge type of whole objects: from the Go type for built-in kinds, and from the schema
 * in the CustomResourceDefinition for custom kinds.
 */
import type { Struct } from '../schema/schema.ts'
import { mergeTypeOf, type StructMerge } from './merge-type.ts'
import { objectMergeType } from './structural-merge-type.ts'

export function mergeTypeOfObjects(struct: Struct): StructMerge {
  const type = mergeTypeOf(struct)
  const metadata = type.fields.get('metadata')?.below
  return struct.open === undefined || metadata === undefined
    ? type
    : objectMergeType(struct.open(), metadata, struct.hasPartialKeys)
}

/** How objects are owned and merged: built-in ones by their type, custom ones by the schema of their definition. */
import type { Struct } from '../schema/schema.ts'
import { mergeTypeOf, type StructMerge } from './merge-type.ts'
import { objectMergeType } from './structural-merge-type.ts'

export function mergeTypeOfObjects(struct: Struct): StructMerge {
  const type = mergeTypeOf(struct)
  const metadata = type.fields.get('metadata')?.below
  return struct.open === undefined || metadata === undefined ? type : objectMergeType(struct.open(), metadata)
}

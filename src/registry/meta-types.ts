/** Types that every API has: errors, metadata alone, metadata of lists. */
import type { Struct } from '../schema/schema.ts'
import { typeOf } from './types.ts'

export const statusStruct = (): Struct => typeOf('meta/v1', 'Status')
export const listMetaStruct = (): Struct => typeOf('meta/v1', 'ListMeta')
export const partialStruct = (): Struct => typeOf('meta/v1', 'PartialObjectMetadata')

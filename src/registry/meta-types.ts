/** Types that all APIs share: Status, PartialObjectMetadata, ListMeta. */
import type { Struct } from '../objects/schema/schema.ts'
import { typeOf } from './types.ts'

export const statusStruct = (): Struct => typeOf('meta/v1', 'Status')
export const listMetaStruct = (): Struct => typeOf('meta/v1', 'ListMeta')
export const partialStruct = (): Struct => typeOf('meta/v1', 'PartialObjectMetadata')

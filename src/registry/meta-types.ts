/** Types that all APIs share: Status, PartialObjectMetadata, ListMeta. */
import type { Struct } from '../objects/schema/schema.ts'
import { commonType, typeOf } from './types.ts'

export const statusStruct = (): Struct => commonType('meta/v1', 'Status')
export const listMetaStruct = (): Struct => commonType('meta/v1', 'ListMeta')
export const partialStruct = (release: number): Struct =>
  typeOf('meta/v1', 'PartialObjectMetadata', release)

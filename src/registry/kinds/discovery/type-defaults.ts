/** Defaults of types of this group wherever they occur, besides those that OpenAPI publishes. */
import type { TypeDefaults } from '../../../objects/schema/schema.ts'

/** By package and name. `set` runs after the fixed values are set. */
export const typeDefaults: readonly (readonly [string, TypeDefaults])[] = [
  ['discovery/v1 EndpointPort', { fields: { name: '', protocol: 'TCP' } }],
]

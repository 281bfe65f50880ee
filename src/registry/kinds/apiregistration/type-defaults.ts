/**
 * Defaults of the types in this API group, in addition to the defaults in the OpenAPI documents.
 * They apply to a type wherever it occurs.
 */
import type { TypeDefaults } from '../../../objects/schema/schema.ts'

/**
 * Defaults, keyed by package and type name. `set` computes further defaults, after the fixed values
 * in `fields` are set.
 */
export const typeDefaults: readonly (readonly [string, TypeDefaults])[] = [
  ['apiregistration/v1 ServiceReference', { fields: { port: 443 } }],
]

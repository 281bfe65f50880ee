/**
 * Defaults of this group's types wherever they occur, in addition to those that OpenAPI publishes.
 */
import type { TypeDefaults } from '../../../objects/schema/schema.ts'

/** Defaults by package and type name. `set` runs after the fixed values are set. */
export const typeDefaults: readonly (readonly [string, TypeDefaults])[] = [
  ['scheduling/v1 PriorityClass', { fields: { preemptionPolicy: 'PreemptLowerPriority' } }],
]

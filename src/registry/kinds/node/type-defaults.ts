import type { TypeDefaults } from '../../../objects/schema/schema.ts'

/** Defaults, keyed by package and type name. */
export const typeDefaults: readonly (readonly [string, TypeDefaults])[] = [
  ['node/v1 Overhead', { fields: {}, keepsAmounts: true }],
]

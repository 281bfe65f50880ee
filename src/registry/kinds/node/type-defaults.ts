import type { TypeDefaults } from '../../../objects/schema/schema.ts'

/** By package and name. */
export const typeDefaults: readonly (readonly [string, TypeDefaults])[] = [
  ['node/v1 Overhead', { fields: {}, keepsAmounts: true }],
]

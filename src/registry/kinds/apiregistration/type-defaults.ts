/** What types of this group get wherever they occur, besides the published defaults. */
import type { TypeDefaults } from '../../../schema/schema.ts'

/** By package and name. `set` sees what the fixed values have filled in. */
export const typeDefaults: readonly (readonly [string, TypeDefaults])[] = [
  ['apiregistration/v1 ServiceReference', { fields: { port: 443 } }],
]

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
  ['flowcontrol/v1 FlowSchemaSpec', { fields: { matchingPrecedence: 1000 } }],
  [
    'flowcontrol/v1 LimitedPriorityLevelConfiguration',
    { fields: { nominalConcurrencyShares: 30, lendablePercent: 0 } },
  ],
  [
    'flowcontrol/v1 ExemptPriorityLevelConfiguration',
    { fields: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  ],
  [
    'flowcontrol/v1 QueuingConfiguration',
    { fields: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
  ],
]

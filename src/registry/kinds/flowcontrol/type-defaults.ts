/**
 * Defaults of this group's types wherever they occur, in addition to those that OpenAPI publishes.
 */
import type { TypeDefaults } from '../../../objects/schema/schema.ts'

/** Defaults by package and type name. `set` runs after the fixed values are set. */
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

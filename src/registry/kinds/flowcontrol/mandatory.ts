/**
 * The mandatory FlowSchemas and PriorityLevelConfigurations of API Priority and Fairness: for
 * exempt requests, and for requests that no other FlowSchema matches.
 */
import type { Fields } from '../../../api/object.ts'

const everything: Fields = {
  resourceRules: [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
  ],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}

const ofGroup = (name: string): Fields => ({ kind: 'Group', group: { name } })

/** Specs of the mandatory FlowSchemas, keyed by name. */
export const mandatoryFlowSchemas: ReadonlyMap<string, Fields> = new Map([
  [
    'exempt',
    {
      priorityLevelConfiguration: { name: 'exempt' },
      matchingPrecedence: 1,
      rules: [{ subjects: [ofGroup('system:masters')], ...everything }],
    },
  ],
  [
    'catch-all',
    {
      priorityLevelConfiguration: { name: 'catch-all' },
      matchingPrecedence: 10_000,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: [ofGroup('system:unauthenticated'), ofGroup('system:authenticated')],
          ...everything,
        },
      ],
    },
  ],
])

export const mandatoryPriorityLevels: ReadonlyMap<string, Fields> = new Map([
  ['exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }],
  [
    'catch-all',
    {
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: 5,
        limitResponse: { type: 'Reject' },
        lendablePercent: 0,
      },
    },
  ],
])

import type { Clock } from '../../lib/time/clock.ts'
import type { ConvertByWebhook } from '../match/versions.ts'
import type { Objects } from '../../api/object-access.ts'
import type { ValidatingPoliciesParts } from '../policies/validating-policies.ts'
import type { ConditionMetrics } from '../match/condition-metrics.ts'
import type { HookMetrics } from './metrics.ts'

/** What both types of webhooks need. */
export type HookParts = Pick<ValidatingPoliciesParts, 'authorizerOf' | 'answerPattern'> & {
  readonly objects: Pick<Objects, 'get'>
  readonly convertByWebhook: ConvertByWebhook
  /** A new unique id. */
  readonly newId: () => string
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly metrics: HookMetrics
  readonly conditionMetrics: Pick<ConditionMetrics, 'observeHook'>
  readonly convertYaml: (bytes: Buffer) => Promise<{ readonly json: Buffer }>
}

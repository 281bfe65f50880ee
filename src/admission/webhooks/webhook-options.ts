import type { Clock } from '../../lib/time/clock.ts'
import type { ConvertByWebhook } from '../match/versions.ts'
import type { Objects } from '../../api/object-access.ts'
import type { ValidatingPoliciesOptions } from '../policies/validating-policies.ts'
import type { ConditionMetrics } from '../match/condition-metrics.ts'
import type { WebhookMetrics } from './metrics.ts'

/** Options of both webhook plugins. */
export type WebhookOptions = Pick<ValidatingPoliciesOptions, 'authorizerOf' | 'answerPattern'> & {
  readonly objects: Pick<Objects, 'get'>
  readonly convertByWebhook: ConvertByWebhook
  /** Returns a new unique id. */
  readonly newId: () => string
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly metrics: WebhookMetrics
  readonly conditionMetrics: Pick<ConditionMetrics, 'observeWebhook'>
  readonly convertYaml: (bytes: Buffer) => Promise<{ readonly json: Buffer }>
}

/** Whether a webhook whose rules match is to be called: its selectors, then its conditions. */
import { matchesObjectSelector } from '../match/criteria.ts'
import { matchesNamespaceSelector } from '../match/namespaces.ts'
import { type ConditionInput, matchesConditions } from './conditions.ts'
import type { AdmissionWebhook } from './webhook.ts'
import type { WebhookOptions } from './webhook-options.ts'

/** A namespace that does not exist fails only what the webhook would see otherwise. */
export async function isToBeCalled(
  webhook: AdmissionWebhook,
  asked: ConditionInput,
  options: WebhookOptions,
): Promise<boolean> {
  const { attributes } = asked
  if (!matchesObjectSelector(webhook.criteria, attributes)) return false
  if (!(await matchesNamespaceSelector(webhook.criteria, attributes, options.objects))) return false
  return matchesConditions(webhook, asked, options)
}

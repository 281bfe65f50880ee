/**
 * Decides whether to call a webhook whose rules match. Evaluates the selectors first, and then the
 * match conditions.
 */
import { matchesObjectSelector } from '../match/criteria.ts'
import { matchesNamespaceSelector } from '../match/namespaces.ts'
import { type ConditionInput, matchesConditions } from './conditions.ts'
import type { AdmissionWebhook } from './webhook.ts'
import type { WebhookOptions } from './webhook-options.ts'

/**
 * Resolves to whether to call the webhook. The object selector is evaluated first. Thus a missing
 * namespace causes an error only for requests that the webhook could receive.
 */
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

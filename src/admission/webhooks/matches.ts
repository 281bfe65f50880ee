/**
 * Decides whether a webhook whose rules match is called: by its selectors, then by its conditions.
 */
import { matchesObjectSelector } from '../match/criteria.ts'
import { matchesNamespaceSelector } from '../match/namespaces.ts'
import { type ConditionInput, matchesConditions } from './conditions.ts'
import type { AdmissionWebhook } from './webhook.ts'
import type { WebhookOptions } from './webhook-options.ts'

/**
 * Resolves to whether to call the webhook. The object selector comes first, so that a missing
 * namespace fails only requests that the webhook would otherwise see.
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

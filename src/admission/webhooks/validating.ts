/**
 * ValidatingAdmissionWebhook: calls all matching webhooks in parallel. The client gets the first
 * refusal that arrives.
 */
import type { Attributes, Plugin } from '../admission.ts'
import { isExemptFromWebhooks } from '../match/exempt.ts'
import type { Candidate } from '../match/match-index.ts'
import { SelectorIndex } from '../match/selected.ts'
import { callWebhook, WebhookCallError, refusalOf } from './call-webhook.ts'
import type { AdmissionWebhook } from './webhook.ts'
import type { WebhookList, ListedWebhook } from './webhook-list.ts'
import { isToBeCalled } from './matches.ts'
import type { WebhookOptions } from './webhook-options.ts'
import type { ReviewInput } from './review.ts'
import { Versions } from './versioned.ts'

const FAILED_OPEN = 'failed-open.validating.webhook.admission.k8s.io/'

export function createValidatingWebhooks(webhooks: WebhookList, options: WebhookOptions): Plugin {
  const selected = new SelectorIndex<ListedWebhook>(options.objects)
  return {
    name: 'ValidatingAdmissionWebhook',
    validate: (attributes) => {
      if (isExemptFromWebhooks(attributes)) return undefined
      const candidates = selected.of(webhooks.candidates(attributes), attributes)
      return candidates.length === 0 ? undefined : validate(candidates, attributes, options)
    },
  }
}

async function validate(
  candidates: readonly Candidate<ListedWebhook>[],
  attributes: Attributes,
  options: WebhookOptions,
): Promise<void> {
  const versions = new Versions(attributes, options.convertByWebhook)
  const calls: { readonly hook: AdmissionWebhook; readonly reviewed: ReviewInput }[] = []
  for (const { entry, resource } of candidates) {
    const { hook: webhook } = entry
    if (!(await isToBeCalled(webhook, { attributes, resource, type: 'validating' }, options)))
      continue
    calls.push({
      hook: webhook,
      reviewed: { attributes, resource, versioned: await versions.in(resource) },
    })
  }
  const refusals: unknown[] = []
  await Promise.all(
    calls.map(({ hook: webhook, reviewed }, at) =>
      validateBy(webhook, reviewed, { at, options }).catch((error: unknown) =>
        refusals.push(error),
      ),
    ),
  )
  if (refusals.length > 0) throw refusals[0]
}

async function validateBy(
  webhook: AdmissionWebhook,
  reviewed: ReviewInput,
  { at, options }: { readonly at: number; readonly options: WebhookOptions },
): Promise<void> {
  try {
    await callWebhook(webhook, reviewed, { isMutating: false, options })
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error
    const refusal = refusalOf(error, webhook)
    if (refusal !== undefined) throw refusal
    reviewed.attributes.context.annotate(`${FAILED_OPEN}round_0_index_${at}`, webhook.name)
  }
}

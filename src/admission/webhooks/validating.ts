/** ValidatingAdmissionWebhook: asks all webhooks that match at the same time. The first refusal in time is the one that the client gets. */
import type { Attributes, Plugin } from '../admission.ts'
import { isExemptFromWebhooks } from '../match/exempt.ts'
import type { Candidate } from '../match/match-index.ts'
import { Selected } from '../match/selected.ts'
import { callHook, HookCallError, refusalOf } from './call-hook.ts'
import type { Hook } from './hook.ts'
import type { HookList, ListedHook } from './hook-list.ts'
import { isToBeCalled } from './matches.ts'
import type { HookParts } from './parts.ts'
import type { Reviewed } from './review.ts'
import { Versions } from './versioned.ts'

const FAILED_OPEN = 'failed-open.validating.webhook.admission.k8s.io/'

export function createValidatingWebhooks(hooks: HookList, parts: HookParts): Plugin {
  const selected = new Selected<ListedHook>(parts.objects)
  return {
    name: 'ValidatingAdmissionWebhook',
    validate: (attributes) => {
      if (isExemptFromWebhooks(attributes)) return undefined
      const candidates = selected.of(hooks.candidates(attributes), attributes)
      return candidates.length === 0 ? undefined : validate(candidates, attributes, parts)
    },
  }
}

async function validate(
  candidates: readonly Candidate<ListedHook>[],
  attributes: Attributes,
  parts: HookParts,
): Promise<void> {
  const versions = new Versions(attributes, parts.convertByWebhook)
  const calls: { readonly hook: Hook; readonly reviewed: Reviewed }[] = []
  for (const { entry, resource } of candidates) {
    const { hook } = entry
    if (!(await isToBeCalled(hook, { attributes, resource, type: 'validating' }, parts))) continue
    calls.push({ hook, reviewed: { attributes, resource, versioned: await versions.in(resource) } })
  }
  const refusals: unknown[] = []
  await Promise.all(
    calls.map(({ hook, reviewed }, at) =>
      validateBy(hook, reviewed, { at, parts }).catch((error: unknown) => refusals.push(error)),
    ),
  )
  if (refusals.length > 0) throw refusals[0]
}

async function validateBy(
  hook: Hook,
  reviewed: Reviewed,
  { at, parts }: { readonly at: number; readonly parts: HookParts },
): Promise<void> {
  try {
    await callHook(hook, reviewed, { isMutating: false, parts })
  } catch (error) {
    if (!(error instanceof HookCallError)) throw error
    const refusal = refusalOf(error, hook)
    if (refusal !== undefined) throw refusal
    reviewed.attributes.context.annotate(`${FAILED_OPEN}round_0_index_${at}`, hook.name)
  }
}

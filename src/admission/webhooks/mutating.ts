/**
 * MutatingAdmissionWebhook: calls the matching webhooks one after another. Each webhook gets the
 * object that the previous one returned. After a change, all mutating plugins run once more.
 * Webhooks with reinvocationPolicy IfNeeded are called again if they were called before the change.
 */
import { internalError } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import type { Resource } from '../../registry/resource.ts'
import { printOrdered } from '../../objects/codec/json.ts'
import { isSame } from '../../objects/schema/equal.ts'
import type { Attributes, Plugin, Rounds } from '../admission.ts'
import { isExemptFromWebhooks } from '../match/exempt.ts'
import type { Candidate } from '../match/match-index.ts'
import { convertTo, kindAt } from '../match/versions.ts'
import { SelectorIndex } from '../match/selected.ts'
import { Reinvocations } from '../reinvocations.ts'
import { callWebhook, WebhookCallError, refusalOf } from './call-webhook.ts'
import type { WebhookList, ListedWebhook } from './webhook-list.ts'
import { isToBeCalled } from './matches.ts'
import type { AdmissionWebhook } from './webhook.ts'
import type { WebhookOptions } from './webhook-options.ts'
import { patchAnnotation } from './patch-annotation.ts'
import { type Patched, patched, UndecodablePatch } from './patched.ts'
import { Versions } from './versioned.ts'

const MUTATION = 'mutation.webhook.admission.k8s.io/'
const FAILED_OPEN = `failed-open.${MUTATION}`
const PATCH = 'patch.webhook.admission.k8s.io/'

export function createMutatingWebhooks(webhooks: WebhookList, options: WebhookOptions): Plugin {
  const selected = new SelectorIndex<ListedWebhook>(options.objects)
  const reinvocations = new WeakMap<Rounds, Reinvocations>()
  return {
    name: 'MutatingAdmissionWebhook',
    mutate: (attributes, rounds) => {
      if (isExemptFromWebhooks(attributes)) return attributes.object
      const candidates = webhooks.candidates(attributes)
      const select = (current: Attributes): readonly Candidate<ListedWebhook>[] =>
        selected.of(candidates, current)
      const first = select(attributes)
      if (first.length === 0) return attributes.object
      const known = reinvocations.get(rounds) ?? new Reinvocations()
      reinvocations.set(rounds, known)
      return mutate(first, attributes, { select, rounds, reinvocations: known, options })
    },
  }
}

type Mutating = {
  /**
   * Returns the webhooks whose selectors match, in order. Called again after a webhook has changed
   * the object, because other webhooks may select its new labels.
   */
  readonly select: (attributes: Attributes) => readonly Candidate<ListedWebhook>[]
  readonly rounds: Rounds
  readonly reinvocations: Reinvocations
  readonly options: WebhookOptions
}

async function mutate(
  first: readonly Candidate<ListedWebhook>[],
  attributes: Attributes,
  { select, rounds, reinvocations, options }: Mutating,
): Promise<KubeObject | undefined> {
  // If the object differs from the last result of the webhooks, another plugin has changed it in
  // the meantime. Webhooks with reinvocationPolicy IfNeeded then have to be called again.
  if (rounds.isSecond && !isSame(reinvocations.lastOutput, attributes.object))
    reinvocations.require()
  let current = attributes
  let versions = new Versions(current, options.convertByWebhook)
  const left = [...first]
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const { entry, resource } = next
    const { hook: webhook, position } = entry
    const matching = { attributes: current, resource, versions, type: 'admit' } as const
    if (!(await isToBeCalled(webhook, matching, options))) continue
    if (rounds.isSecond && !reinvocations.isRequired(webhook.id)) continue
    const label = `round_${rounds.isSecond ? 1 : 0}_index_${position}`
    const mutated = await mutateBy(entry, matching, { label, options })
    if (mutated !== undefined) {
      const { object } = mutated
      // A patch that leaves the object equal does not count as a change.
      if (mutated.isChanged) {
        reinvocations.require()
        rounds.needsSecond = true
      }
      current = { ...current, object }
      versions = new Versions(current, options.convertByWebhook)
      // The call may have taken seconds, so read the namespace again.
      const selectedNow = select({ ...current, known: {} })
      // Bounded: the list has only the webhooks that administrators have configured.
      left.splice(0, left.length, ...selectedNow.filter((other) => other.entry.position > position))
    }
    if (webhook.isReinvoked) reinvocations.invoked(webhook.id)
  }
  reinvocations.lastOutput = current.object
  return current.object
}

type Matching = {
  readonly attributes: Attributes
  readonly resource: Candidate<ListedWebhook>['resource']
  readonly versions: Versions
}

/**
 * Resolves to the patched object, in the version of the request. Resolves to undefined if the
 * webhook did not return a patch.
 */
async function mutateBy(
  { hook }: ListedWebhook,
  { attributes, resource, versions }: Matching,
  { label, options }: { readonly label: string; readonly options: WebhookOptions },
): Promise<Patched | undefined> {
  const { context, resource: own, subresource } = attributes
  const { configuration, name: webhook } = hook
  let isMutated = false
  try {
    const versioned = await versions.in(resource)
    const reviewed = { attributes, resource, versioned }
    const { patch, patchType } = await callWebhook(hook, reviewed, { isMutating: true, options })
    if (patch === '') return undefined
    if (patchType !== 'JSONPatch') {
      throw new WebhookCallError(
        `failed calling webhook ${quote(webhook)}: unsupported patch type ${quote(patchType)}`,
      )
    }
    const { object: known } = versioned
    const document = (): string => {
      if (known !== undefined) return known.text
      const why = `admission webhook ${quote(webhook)} attempted to modify the object, which is not supported for this operation`
      throw internalError(why)
    }
    const result = await patched(patch, document, {
      ...kindAt(resource, subresource),
      shape: versioned.shape,
      release: own.release,
    })
    if (result === undefined) return undefined
    const { object, isChanged } = result
    const back = await convertTo(
      object,
      { from: resource, to: own, subresource },
      options.convertByWebhook,
    )
    isMutated = isChanged
    if (context.audited?.wantsRequest === true) {
      context.annotate(`${PATCH}${label}`, patchAnnotation({ configuration, webhook, patch }))
    }
    return { object: back, isChanged }
  } catch (error) {
    const failure = error instanceof UndecodablePatch ? undecodable(error, hook, own) : error
    if (!(failure instanceof WebhookCallError)) throw failure
    const refusal = refusalOf(failure, hook)
    if (refusal !== undefined) throw refusal
    context.annotate(`${FAILED_OPEN}${label}`, webhook)
    return undefined
  } finally {
    context.annotate(
      `${MUTATION}${label}`,
      printOrdered({ configuration, webhook, mutated: isMutated }),
    )
  }
}

/** The first release in which the failurePolicy applies to patches that cannot be decoded. */
const PATCH_FAILS_SINCE = 34

function undecodable(
  error: UndecodablePatch,
  { name }: AdmissionWebhook,
  { release }: Pick<Resource, 'release'>,
): Error {
  if (release < PATCH_FAILS_SINCE) return internalError(error.message, error)
  const why = `received undecodable patch in webhook response: ${error.message}`
  return new WebhookCallError(`failed calling webhook ${quote(name)}: ${why}`, {
    cause: error,
    code: 503,
  })
}

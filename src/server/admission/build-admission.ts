/**
 * Builds the admission of a control plane: the plugins, and the policies and webhooks that they
 * evaluate.
 */
import type { Authorize } from '../../access/authorization/authorizer.ts'
import { celAuthorizer } from '../../access/authorization/cel-authorizer.ts'
import { type Admission, admissionGroup } from '../../admission/admission.ts'
import { createNamespaceBy } from '../../admission/namespace-auto-provision.ts'
import type { AdmissionPluginsOptions } from '../../admission/plugins.ts'
import { OpenCharges } from '../../admission/resource-quota/open-charges.ts'
import { WebhooksInformer } from '../../admission/webhooks/webhooks-informer.ts'
import { assert } from '../../lib/errors.ts'
import { named } from '../../lib/telemetry/log.ts'
import { credentialsByHost } from '../../net/outbound/credentials-by-host.ts'
import type { PlaneCore } from '../plane-core.ts'
import { createAdmission, createImageReviewer } from './admission-chain.ts'
import { createPolicies, type Policies } from './policies.ts'

export type AdmissionSubsystem = AsyncDisposable & {
  readonly admission: Admission
  readonly policies: Policies
  readonly webhooks: WebhooksInformer
  /** Writes that were charged to quotas and have not finished. */
  readonly openCharges: OpenCharges
  /**
   * Resolves when all policies and webhooks have been read. Before that, some policies and webhooks
   * are not applied to writes.
   */
  readonly start: () => Promise<void>
}

export function buildAdmission(core: PlaneCore, authorize: Authorize): AdmissionSubsystem {
  const { config, environment, registry, objects, metrics } = core
  const policies = createPolicies(config, {
    registry,
    accessIn: (group, version) => core.accessIn(group, version),
    policyMetrics: metrics.policies,
    conditionMetrics: metrics.conditions,
    log: environment.log,
  })
  const webhooks = createWebhooks(core)
  const imageReviewer = createImageReviewer(config)
  const openCharges = new OpenCharges()
  const expressions = expressionOptions(core, authorize)
  const admission = createAdmission(config, {
    registry,
    authorize,
    objects,
    createNamespace: createNamespaceBy(core.handle),
    metrics: metrics.admission,
    policies: {
      ...expressions,
      validating: policies.validating,
      mutating: policies.mutating,
      registry,
      metrics: metrics.policies,
      conditionMetrics: metrics.conditions,
    },
    webhooks: {
      mutating: webhooks.mutating,
      validating: webhooks.validating,
      options: {
        ...expressions,
        objects,
        newId: environment.ids.uid,
        clock: environment.clock,
        metrics: metrics.webhooks,
        conditionMetrics: metrics.conditions,
        convertYaml: (bytes) => core.yaml.convert(bytes),
      },
    },
    podSecurityMetrics: metrics.podSecurity,
    imageReviewer,
    openCharges,
    environment,
  })
  const informers = [...policies.informers, webhooks]
  const owned = new AsyncDisposableStack()
  for (const one of [imageReviewer, ...informers]) owned.use(one)
  return {
    admission,
    policies,
    webhooks,
    openCharges,
    start: async () => void (await Promise.all(informers.map((one) => one.start()))),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function createWebhooks(core: PlaneCore): WebhooksInformer {
  const { config, environment, registry, calls, metrics } = core
  const { mutatingWebhookUsers, validatingWebhookUsers } = config.admission
  const { clock, log } = environment
  return new WebhooksInformer({
    registry,
    accessOf: core.accessIn(admissionGroup),
    calls,
    mutatingCredentials:
      mutatingWebhookUsers === null ? undefined : credentialsByHost(mutatingWebhookUsers, clock),
    validatingCredentials:
      validatingWebhookUsers === null
        ? undefined
        : credentialsByHost(validatingWebhookUsers, clock),
    onGone: (name, type) => {
      metrics.webhooks.forget(name, type)
      metrics.conditions.forgetWebhook(name, type)
    },
    log: named(log, 'webhooks'),
  })
}

/** Options for the CEL expressions of policies and webhooks. */
type ExpressionOptions = Pick<
  AdmissionPluginsOptions['policies'],
  'convertByWebhook' | 'authorizerOf' | 'answerPattern'
>

const expressionOptions = (
  { accessOf, patterns }: PlaneCore,
  authorize: Authorize,
): ExpressionOptions => ({
  convertByWebhook: async (object, from, to) => {
    const [converted] = (await accessOf(from).versions.convertTo?.([object], { from, to })) ?? []
    assert(converted !== undefined, 'a webhook converts every object, or fails')
    return converted
  },
  authorizerOf: (context, requestResource) => ({
    ...celAuthorizer({ authorize, user: context.user, requestResource, waiting: context }),
  }),
  answerPattern: (question) => patterns.answer(question),
})

/**
 * Creates the built-in plugins. They run in the same order as in kube-apiserver
 * (config/admission-plugins.ts).
 */
import type { Gates } from '../api/gates.ts'
import type { AdmissionConfig } from '../config/admission.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { systemTime } from '../lib/time/timers.ts'
import type { Plugin } from './admission.ts'
import { alwaysAdmit } from './always-admit.ts'
import { alwaysDeny } from './always-deny.ts'
import { alwaysPullImages } from './always-pull-images.ts'
import type { AskAuthorizer } from './ask-authorizer.ts'
import {
  certificateSubjectRestriction,
  createCertificateApproval,
  createCertificateSigning,
  createClusterTrustBundleAttest,
  type MayDo,
} from './certificates.ts'
import { createDefaultIngressClass } from './default-ingress-class.ts'
import { createDefaultTolerationSeconds } from './default-toleration-seconds.ts'
import { denyServiceExternalIps } from './deny-service-external-ips.ts'
import { createEventRateLimit } from './event-rate-limit.ts'
import { extendedResourceToleration } from './extended-resource-toleration.ts'
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts'
import { createImagePolicyWebhook, type ImagePolicyOptions } from './image-policy-webhook.ts'
import { createLimitRanger } from './limit-ranger.ts'
import { type CreateNamespace, createNamespaceAutoProvision } from './namespace-auto-provision.ts'
import { createNamespaceExists } from './namespace-exists.ts'
import { createNamespaceLifecycle } from './namespace-lifecycle.ts'
import { createNamespaceRules } from './namespace-rules.ts'
import { createNodeRestriction } from './node-restriction/plugin.ts'
import type { Objects, ResourceId } from '../api/object-access.ts'
import {
  createOwnerReferencesPermission,
  type OwnerReferencesOptions,
} from './owner-references-permission.ts'
import { createPodNodeSelector } from './pod-node-selector.ts'
import { createPodTolerationRestriction } from './pod-toleration-restriction.ts'
import { createNodeDeclaredFeatures } from './node-declared-features.ts'
import { createPodTopologyLabels } from './pod-topology-labels.ts'
import { createPodSecurity } from './pod-security/plugin.ts'
import type { PodSecurityMetrics } from './pod-security/metrics.ts'
import { createPriority } from './priority.ts'
import { createResourceQuota } from './resource-quota/plugin.ts'
import type { OpenCharges } from './resource-quota/open-charges.ts'
import { resourceQuotas } from './resource-quota/ledger.ts'
import { createRuntimeClass } from './runtime-class.ts'
import { createServiceAccount } from './service-account/plugin.ts'
import { createDefaultStorageClass, createPersistentVolumeClaimResize } from './storage-class.ts'
import { createStorageObjectInUseProtection } from './storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'
import {
  createMutatingPolicies,
  type MutatingPoliciesOptions,
} from './policies/mutating-policies.ts'
import type { PolicyRequestOptions } from './policies/policy-request.ts'
import {
  createValidatingPolicies,
  type ValidatingPoliciesOptions,
} from './policies/validating-policies.ts'
import { unenforcedMutatingPolicies } from './unenforced.ts'
import type { WebhooksInformer } from './webhooks/webhooks-informer.ts'
import { createMutatingWebhooks } from './webhooks/mutating.ts'
import type { WebhookOptions } from './webhooks/webhook-options.ts'
import { createValidatingWebhooks } from './webhooks/validating.ts'

export type AdmissionPluginsOptions = {
  readonly objects: Objects
  readonly clock: Clock
  /** Returns the random suffix of a generated name. */
  readonly nameSuffix: () => string
  readonly authorize: AskAuthorizer
  readonly createNamespace: CreateNamespace
  readonly resourcesOf: OwnerReferencesOptions['resourcesOf']
  readonly gates: Gates
  readonly policies: Omit<PolicyRequestOptions, 'objects' | 'resourcesOf' | 'clock'> & {
    readonly validating: ValidatingPoliciesOptions['index']
    readonly mutating: MutatingPoliciesOptions['index']
    readonly metrics: ValidatingPoliciesOptions['metrics']
  }
  readonly webhooks: Pick<WebhooksInformer, 'mutating' | 'validating'> & {
    readonly options: WebhookOptions
  }
  readonly configured: AdmissionConfig
  readonly openCharges: OpenCharges
  readonly podSecurityMetrics: PodSecurityMetrics
  /**
   * Client of the image policy webhook. Undefined if the ImagePolicyWebhook plugin is not enabled.
   */
  readonly imageReviewer: ImagePolicyOptions['client'] | undefined
  readonly random: () => number
  readonly log: Log
}

const core = (plural: string): ResourceId => ({ group: '', version: 'v1', plural })

export function createPlugins(parts: AdmissionPluginsOptions): readonly Plugin[] {
  const { objects, clock, nameSuffix, authorize, resourcesOf, gates, webhooks, configured } = parts
  const namespaces = core('namespaces')
  const policies = createPolicies(parts)
  const mayDo = createMayDo(authorize)
  return [
    alwaysAdmit,
    createNamespaceAutoProvision(objects, parts.createNamespace),
    createNamespaceLifecycle({
      readNamespace: (name, at) => objects.get(namespaces, { namespace: '', name }, at),
      clock,
    }),
    createNamespaceExists(objects),
    limitPodHardAntiAffinityTopology,
    createLimitRanger(createNamespaceRules(objects, core('limitranges'), clock), gates),
    createServiceAccount({ objects, nameSuffix }),
    createNodeRestriction({ objects, authorize, gates }),
    taintNodesByCondition,
    alwaysPullImages,
    ...imagePolicyPlugins(parts),
    createPodSecurity({
      objects,
      configuration: configured.podSecurity,
      gates,
      metrics: parts.podSecurityMetrics,
      clock,
    }),
    createPodNodeSelector(objects, configured.podNodeSelectors),
    createPriority(objects),
    createDefaultTolerationSeconds(configured.tolerationSeconds),
    createPodTolerationRestriction({ objects, configuration: configured.podTolerations, gates }),
    createEventRateLimit(configured.eventLimits, clock),
    extendedResourceToleration,
    createDefaultStorageClass(objects),
    createStorageObjectInUseProtection(gates),
    createOwnerReferencesPermission({ authorize, resourcesOf }),
    createPersistentVolumeClaimResize(objects),
    createRuntimeClass(objects),
    createCertificateApproval(mayDo),
    createCertificateSigning(mayDo),
    createClusterTrustBundleAttest(mayDo),
    certificateSubjectRestriction,
    createDefaultIngressClass(objects),
    denyServiceExternalIps,
    ...(gates.isOn('PodTopologyLabelsAdmission') ? [createPodTopologyLabels(objects, gates)] : []),
    ...(gates.isOn('NodeDeclaredFeatures') ? [createNodeDeclaredFeatures(objects, gates)] : []),
    policies.mutating,
    createMutatingWebhooks(webhooks.mutating, webhooks.options),
    policies.validating,
    createValidatingWebhooks(webhooks.validating, webhooks.options),
    createResourceQuota(objects, createNamespaceRules(objects, resourceQuotas, clock), {
      gates,
      clock,
      limitedResources: configured.limitedResources,
      openCharges: parts.openCharges,
    }),
    alwaysDeny,
  ]
}

/**
 * Returns a function that checks whether a user has access to a cluster-scoped resource, in any
 * version.
 */
function createMayDo(authorize: AskAuthorizer): MayDo {
  return async (context, action) => {
    const attributes = {
      kind: 'resource',
      version: '*',
      subresource: '',
      namespace: '',
      ...action,
    } as const
    return (await authorize(context.user, attributes, context)).verdict === 'allow'
  }
}

function createPolicies({ objects, resourcesOf, clock, gates, policies }: AdmissionPluginsOptions) {
  const options = { ...policies, objects, resourcesOf, clock }
  return {
    mutating: gates.isOn('MutatingAdmissionPolicy')
      ? createMutatingPolicies({ ...options, index: policies.mutating })
      : unenforcedMutatingPolicies,
    validating: createValidatingPolicies({ ...options, index: policies.validating }),
  }
}

function imagePolicyPlugins({
  configured,
  imageReviewer: client,
  gates: { release },
  random,
  log,
}: AdmissionPluginsOptions): readonly Plugin[] {
  const { imagePolicyWebhook: configuration } = configured
  if (configuration === null || client === undefined) return []
  const time = systemTime
  return [createImagePolicyWebhook({ configuration, release, client, time, random, log })]
}

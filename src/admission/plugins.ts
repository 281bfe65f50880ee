/** The built-in plugins, in upstream's order, which no flag can change. */
import type { Gates } from '../api/gates.ts'
import type { Clock } from '../lib/clock.ts'
import type { Plugin } from './admission.ts'
import type { AskAuthorizer } from './ask-authorizer.ts'
import {
  certificateSubjectRestriction,
  createCertificateApproval,
  createCertificateSigning,
  createClusterTrustBundleAttest,
  type MayDo,
} from './certificates.ts'
import { createDefaultIngressClass } from './default-ingress-class.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { createLimitRanger } from './limit-ranger.ts'
import { createNamespaceLifecycle } from './namespace-lifecycle.ts'
import { createNamespaceRules } from './namespace-rules.ts'
import { createNodeRestriction } from './node-restriction.ts'
import type { Objects, ResourceId } from './objects.ts'
import { createOwnerReferencesPermission, type OwnerParts } from './owner-references-permission.ts'
import { createPodTopologyLabels } from './pod-topology-labels.ts'
import { createPodSecurity, noExemptions } from './pod-security.ts'
import { createPriority } from './priority.ts'
import { createResourceQuota } from './resource-quota.ts'
import { resourceQuotas } from './resource-quota/ledger.ts'
import { createRuntimeClass } from './runtime-class.ts'
import { createServiceAccount } from './service-account.ts'
import { createDefaultStorageClass, createPersistentVolumeClaimResize } from './storage-class.ts'
import { createStorageObjectInUseProtection } from './storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'
import { createValidatingPolicies, type ValidatingPoliciesParts } from './policies/validating-policies.ts'
import { unenforcedPlugins } from './unenforced.ts'
import type { FollowedHooks } from './webhooks/followed-hooks.ts'
import { createMutatingWebhooks } from './webhooks/mutating.ts'
import type { HookParts } from './webhooks/parts.ts'
import { createValidatingWebhooks } from './webhooks/validating.ts'

export type PluginParts = {
  readonly objects: Objects
  readonly clock: Clock
  /** The random suffix of a generated name. */
  readonly nameSuffix: () => string
  readonly authorize: AskAuthorizer
  readonly resourcesOf: OwnerParts['resourcesOf']
  readonly gates: Gates
  readonly policies: Omit<ValidatingPoliciesParts, 'objects' | 'resourcesOf' | 'clock'>
  readonly hooks: Pick<FollowedHooks, 'mutating' | 'validating'>
  readonly hookParts: HookParts
}

const core = (plural: string): ResourceId => ({ group: '', version: 'v1', plural })

export function createPlugins(parts: PluginParts): readonly Plugin[] {
  const { objects, clock, nameSuffix, authorize, resourcesOf, gates, policies, hooks, hookParts } = parts
  const namespaces = core('namespaces')
  const mayDo: MayDo = async (context, action) => {
    const asked = { kind: 'resource', version: '*', subresource: '', namespace: '', ...action } as const
    return (await authorize(context.user, asked, context)).verdict === 'allow'
  }
  return [
    createNamespaceLifecycle({
      readNamespace: (name, at) => objects.get(namespaces, { namespace: '', name }, at),
      clock,
    }),
    createLimitRanger(createNamespaceRules(objects, core('limitranges'), clock), gates),
    createServiceAccount({ objects, nameSuffix }),
    createNodeRestriction({ objects, authorize, gates }),
    taintNodesByCondition,
    createPodSecurity(objects, noExemptions, gates),
    createPriority(objects),
    defaultTolerationSeconds,
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
    ...(gates.isOn('PodTopologyLabelsAdmission') ? [createPodTopologyLabels(objects)] : []),
    ...unenforcedPlugins,
    createMutatingWebhooks(hooks.mutating, hookParts),
    createValidatingPolicies({ ...policies, objects, resourcesOf, clock }),
    createValidatingWebhooks(hooks.validating, hookParts),
    createResourceQuota(objects, createNamespaceRules(objects, resourceQuotas, clock), { gates, clock }),
  ]
}

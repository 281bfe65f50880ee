/** The configured admission plugins, in the order in which they run. */
import { Admission } from '../../admission/admission.ts'
import { IMAGE_REVIEW_MS_MAX } from '../../admission/image-policy-webhook.ts'
import type { AdmissionMetrics } from '../../admission/metrics.ts'
import type { Objects } from '../../api/object-access.ts'
import { createPlugins, type AdmissionPluginsOptions } from '../../admission/plugins.ts'
import type { PodSecurityMetrics } from '../../admission/pod-security/metrics.ts'
import { createParamAccess } from '../../admission/policies/param-access.ts'
import type { OpenCharges } from '../../admission/resource-quota/open-charges.ts'
import type { Ids } from '../../api/ids.ts'
import type { Authorize } from '../../access/authorization/authorizer.ts'
import type { Config } from '../../config/config.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Registry } from '../../registry/registry.ts'
import type { Resource } from '../../registry/resource.ts'
import { KubeconfigClient } from '../../net/outbound/kubeconfig-client.ts'

export type AdmissionChainOptions = {
  readonly registry: Registry
  readonly authorize: Authorize
  readonly objects: Objects
  readonly createNamespace: AdmissionPluginsOptions['createNamespace']
  readonly metrics: AdmissionMetrics
  readonly policies: AdmissionPluginsOptions['policies']
  readonly webhooks: AdmissionPluginsOptions['webhooks']
  readonly podSecurityMetrics: PodSecurityMetrics
  readonly imageReviewer: KubeconfigClient | undefined
  readonly openCharges: OpenCharges
  readonly environment: {
    readonly clock: Clock
    readonly ids: Ids
    readonly log: Log
    readonly random: () => number
  }
}

/**
 * Creates the client for the image policy webhook. Returns undefined if the ImagePolicyWebhook
 * plugin is not enabled.
 */
export function createImageReviewer({
  admission: { imagePolicyWebhook },
}: Config): KubeconfigClient | undefined {
  if (imagePolicyWebhook === null) return undefined
  return new KubeconfigClient(imagePolicyWebhook.kubeconfig, { timeoutMs: IMAGE_REVIEW_MS_MAX })
}

export function createAdmission(
  { admission, featureGates: gates }: Config,
  { registry, environment: { clock, ids, random, log }, ...parts }: AdmissionChainOptions,
): Admission {
  const resourcesOf = (apiVersion: string, kind: string): readonly Resource[] => {
    const [version = '', group = ''] = apiVersion.split('/').toReversed()
    return registry.inGroupVersion(group, version).filter((resource) => resource.kind === kind)
  }
  const { nameSuffix } = ids
  const plugins = createPlugins({
    ...parts,
    configured: admission,
    clock,
    random,
    log,
    nameSuffix,
    resourcesOf,
    gates,
  })
  const byName = new Map(plugins.map((plugin) => [plugin.name, plugin]))
  // The plugin that checks access to parameters is always added, because it cannot be disabled.
  const paramAccess = createParamAccess({ ...parts, resourcesOf })
  return new Admission(
    [paramAccess, ...admission.running.flatMap((name) => byName.get(name) ?? [])],
    {
      running: admission.running,
      metrics: parts.metrics,
      monotonicMs: clock.monotonicMs,
    },
  )
}

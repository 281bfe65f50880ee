/**
 * Reads `--admission-control-config-file` and the configurations of the plugins that run. Error
 * messages are those of kube-apiserver.
 */
import { quote } from '../api/quote.ts'
import type { AdmissionPlugins } from './admission-plugins.ts'
import { type PluginConfigurations, readAdmissionConfiguration } from './files/admission.ts'
import type { FileRead } from './files/config-file.ts'
import { type EventLimit, noEventLimits, readEventLimits } from './files/event-rate-limit.ts'
import { type ImagePolicyWebhook, readImagePolicyWebhook } from './files/image-policy-webhook.ts'
import type { KubeconfigUsers } from '../net/outbound/kubeconfig.ts'
import {
  noNodeSelectors,
  type PodNodeSelectors,
  readPodNodeSelectors,
} from './files/pod-node-selector.ts'
import {
  defaultPodSecurity,
  type PodSecurityConfiguration,
  readPodSecurity,
} from './files/pod-security.ts'
import {
  noPodTolerations,
  type PodTolerations,
  readPodTolerations,
} from './files/pod-toleration-restriction.ts'
import { type LimitedResource, readLimitedResources } from './files/resource-quota.ts'
import { readWebhookUsers } from './files/webhook-admission.ts'

/** How long pods tolerate, by default, that their node is unreachable or is not ready. */
export type TolerationSeconds = { readonly notReady: number; readonly unreachable: number }

/**
 * The configurations of all plugins. A plugin that is not enabled has its default configuration.
 */
export type AdmissionConfig = {
  readonly podSecurity: PodSecurityConfiguration
  readonly limitedResources: readonly LimitedResource[]
  readonly eventLimits: readonly EventLimit[]
  /**
   * Configuration of the image policy webhook. If null, the plugin ImagePolicyWebhook is not
   * enabled.
   */
  readonly imagePolicyWebhook: ImagePolicyWebhook | null
  readonly podNodeSelectors: PodNodeSelectors
  readonly podTolerations: PodTolerations
  readonly tolerationSeconds: TolerationSeconds
  /** Credentials for webhooks. If null, no credentials are sent. */
  readonly mutatingWebhookUsers: KubeconfigUsers | null
  readonly validatingWebhookUsers: KubeconfigUsers | null
}

type Reader = {
  readonly string: (name: 'admission-control-config-file') => string
  readonly plainInteger: (
    name: 'default-not-ready-toleration-seconds' | 'default-unreachable-toleration-seconds',
  ) => number
  readonly fault: (text: string) => void
}

export function readAdmissionFiles(
  values: Reader,
  { isOn, isKnown }: AdmissionPlugins,
  warn: (text: string) => void,
): AdmissionConfig {
  const refuse = (why: string): void => values.fault(`failed to apply admission: ${why}`)
  const flag = 'admission-control-config-file'
  const configurations = readConfigurations(values.string(flag), refuse)
  for (const name of configurations?.names ?? []) {
    if (!isKnown(name))
      warn(`${flag}: plugin ${quote(name)} is unknown, so its configuration is not used`)
  }
  const read = <T>(plugin: string, { of, absent }: PluginFile<T>, otherwise: T): T => {
    const given = isOn(plugin) ? configurations?.of(plugin) : undefined
    if (given === undefined) {
      if (isOn(plugin) && configurations !== undefined && absent !== undefined)
        refuse(couldNot(plugin, absent))
      return otherwise
    }
    if ('fault' in given) {
      refuse(`couldn't open the configuration of admission plugin "${plugin}": ${given.fault}`)
      return otherwise
    }
    const result = of(given.bytes)
    if (!('fault' in result)) return result.value
    const isLate = plugin === 'PodSecurity' && !('stage' in result)
    refuse(
      isLate
        ? `failed to initialize admission plugin "${plugin}": ${result.fault}`
        : couldNot(plugin, result.fault),
    )
    return otherwise
  }
  return {
    imagePolicyWebhook: read('ImagePolicyWebhook', imagePolicyFile, null),
    podSecurity: read('PodSecurity', { of: readPodSecurity }, defaultPodSecurity),
    podNodeSelectors: read('PodNodeSelector', { of: readPodNodeSelectors }, noNodeSelectors),
    podTolerations: read('PodTolerationRestriction', { of: readPodTolerations }, noPodTolerations),
    tolerationSeconds: {
      notReady: values.plainInteger('default-not-ready-toleration-seconds'),
      unreachable: values.plainInteger('default-unreachable-toleration-seconds'),
    },
    eventLimits: read('EventRateLimit', { of: readEventLimits, absent: noEventLimits }, []),
    mutatingWebhookUsers: read('MutatingAdmissionWebhook', webhookFile, null),
    validatingWebhookUsers: read('ValidatingAdmissionWebhook', webhookFile, null),
    limitedResources: read('ResourceQuota', { of: readLimitedResources }, []),
  }
}

type PluginFile<T> = {
  readonly of: (bytes: Buffer) => FileRead<T>
  /**
   * The error message if the plugin has no configuration. Absent for a plugin that does not need
   * one.
   */
  readonly absent?: string
}

const imagePolicyFile: PluginFile<ImagePolicyWebhook | null> = {
  of: readImagePolicyWebhook,
  absent: 'no config specified',
}
const webhookFile: PluginFile<KubeconfigUsers | null> = { of: readWebhookUsers }

const couldNot = (plugin: string, why: string): string =>
  `couldn't init admission plugin "${plugin}": ${why}`

/** Reads the configurations. Returns undefined and reports an error if the file cannot be used. */
function readConfigurations(
  path: string,
  refuse: (why: string) => void,
): PluginConfigurations | undefined {
  if (path === '') return { of: () => undefined, names: [] }
  const read = readAdmissionConfiguration(path)
  if (!('fault' in read)) return read.value
  refuse(`failed to read plugin config: ${read.fault}`)
  return undefined
}

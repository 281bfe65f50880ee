/** `--enable-admission-plugins` and `--disable-admission-plugins`. Errors have upstream's texts. */
import { quote } from '../api/quote.ts'

/**
 * `on`: runs by default. `optional`: runs if it is enabled. `absent`: runs by default in kube-apiserver, but is not implemented. `off`: off
 * by default in kube-apiserver, and not implemented.
 */
type State = 'on' | 'optional' | 'absent' | 'off'

const plugins: ReadonlyMap<string, State> = new Map([
  ...names('on', [
    'CertificateApproval',
    'CertificateSigning',
    'CertificateSubjectRestriction',
    'ClusterTrustBundleAttest',
    'DefaultIngressClass',
    'DefaultStorageClass',
    'DefaultTolerationSeconds',
    'LimitRanger',
    'NamespaceLifecycle',
    'PersistentVolumeClaimResize',
    'PodSecurity',
    'PodTopologyLabels',
    'Priority',
    'ResourceQuota',
    'RuntimeClass',
    'ServiceAccount',
    'StorageObjectInUseProtection',
    'TaintNodesByCondition',
  ]),
  ...names('optional', ['NodeRestriction', 'OwnerReferencesPermissionEnforcement']),
  ...names('absent', [
    'MutatingAdmissionPolicy',
    'MutatingAdmissionWebhook',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionWebhook',
  ]),
  ...names('off', [
    'AlwaysAdmit',
    'AlwaysDeny',
    'AlwaysPullImages',
    'DenyServiceExternalIPs',
    'EventRateLimit',
    'ExtendedResourceToleration',
    'ImagePolicyWebhook',
    'LimitPodHardAntiAffinityTopology',
    'NamespaceAutoProvision',
    'NamespaceExists',
    'PodNodeSelector',
    'PodTolerationRestriction',
  ]),
])

function names(state: State, list: readonly string[]): [string, State][] {
  return list.map((name) => [name, state])
}

/** Whether the plugin is on. For one that is not implemented: whether kube-apiserver would run it. */
export type AdmissionPlugins = { readonly isOn: (name: string) => boolean }

export function parseAdmissionPlugins(
  enabled: readonly string[],
  disabled: readonly string[],
): { readonly plugins: AdmissionPlugins; readonly faults: readonly string[] } {
  const off = new Set(disabled)
  const both = [...new Set(enabled)].filter((name) => off.has(name)).toSorted()
  const unsupported = enabled.filter((name) => ['absent', 'off'].includes(plugins.get(name) ?? ''))
  const on = new Set(
    [...plugins].filter(([name, state]) => isOnBy(state, enabled.includes(name))).map(([name]) => name),
  )
  return {
    plugins: { isOn: (name) => on.has(name) && !off.has(name) },
    faults: [
      ...unknown('enable-admission-plugins', enabled),
      ...unknown('disable-admission-plugins', disabled),
      ...(both.length === 0
        ? []
        : [`[${both.join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`]),
      ...unsupported.map((name) => `--enable-admission-plugins ${name} is not supported yet: leave it out`),
    ],
  }
}

const isOnBy = (state: State, isEnabled: boolean): boolean => (state === 'optional' ? isEnabled : state !== 'off')

const unknown = (flag: string, given: readonly string[]): string[] =>
  given.filter((name) => !plugins.has(name)).map((name) => `${flag} plugin ${quote(name)} is unknown`)

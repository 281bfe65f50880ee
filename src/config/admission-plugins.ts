/** `--enable-admission-plugins` and `--disable-admission-plugins`. Errors have upstream's texts. */
import { quote } from '../api/quote.ts'

/**
 * `on`: runs by default. `absent`: runs by default in kube-apiserver, but is not implemented. `off`: off by default in kube-apiserver, and
 * not implemented.
 */
type State = 'on' | 'absent' | 'off'

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
    'NodeRestriction',
    'OwnerReferencesPermissionEnforcement',
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
  const unsupported = enabled.filter((name) => plugins.has(name) && plugins.get(name) !== 'on')
  return {
    plugins: { isOn: (name) => plugins.has(name) && plugins.get(name) !== 'off' && !off.has(name) },
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

const unknown = (flag: string, given: readonly string[]): string[] =>
  given.filter((name) => !plugins.has(name)).map((name) => `${flag} plugin ${quote(name)} is unknown`)

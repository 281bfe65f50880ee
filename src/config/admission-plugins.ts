/** `--enable-admission-plugins` and `--disable-admission-plugins`. Faults are in upstream's words. */
import { quote } from '../api/quote.ts'

/** The plugins that kube-apiserver has and whether they are on unless somebody says otherwise. */
const plugins: ReadonlyMap<string, 'on' | 'off'> = new Map([
  ...names('on', [
    'CertificateApproval',
    'CertificateSigning',
    'CertificateSubjectRestriction',
    'ClusterTrustBundleAttest',
    'DefaultIngressClass',
    'DefaultStorageClass',
    'DefaultTolerationSeconds',
    'LimitRanger',
    'MutatingAdmissionPolicy',
    'MutatingAdmissionWebhook',
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

function names(state: 'on' | 'off', list: readonly string[]): [string, 'on' | 'off'][] {
  return list.map((name) => [name, state])
}

export type AdmissionPlugins = { readonly isOn: (name: string) => boolean }

export function parseAdmissionPlugins(
  enabled: readonly string[],
  disabled: readonly string[],
): { readonly plugins: AdmissionPlugins; readonly faults: readonly string[] } {
  const off = new Set(disabled)
  const both = [...new Set(enabled)].filter((name) => off.has(name)).toSorted()
  const unsupported = enabled.filter((name) => plugins.get(name) === 'off')
  return {
    plugins: { isOn: (name) => plugins.get(name) === 'on' && !off.has(name) },
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

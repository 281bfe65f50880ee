/**
 * Reads `--enable-admission-plugins`, `--disable-admission-plugins`, and the deprecated
 * `--admission-control`, which is the complete list of plugins to run. Errors and warnings are
 * those of kube-apiserver.
 */
import { quote } from '../api/quote.ts'
import { suggestValue } from '../lib/text/suggest.ts'

/**
 * An admission plugin. `absent` means that kube-apiserver has the plugin, but Keelson does not
 * implement it yet.
 */
type Row = readonly [name: string, byDefault: 'on' | 'off', state?: 'absent']

/** All plugins of v1.33, in the order in which they run. Flags cannot change this order. */
const rows: readonly Row[] = [
  ['AlwaysAdmit', 'off'],
  ['NamespaceAutoProvision', 'off'],
  ['NamespaceLifecycle', 'on'],
  ['NamespaceExists', 'off'],
  ['LimitPodHardAntiAffinityTopology', 'off'],
  ['LimitRanger', 'on'],
  ['ServiceAccount', 'on'],
  ['NodeRestriction', 'off'],
  ['TaintNodesByCondition', 'on'],
  ['AlwaysPullImages', 'off'],
  ['ImagePolicyWebhook', 'off'],
  ['PodSecurity', 'on'],
  ['PodNodeSelector', 'off'],
  ['Priority', 'on'],
  ['DefaultTolerationSeconds', 'on'],
  ['PodTolerationRestriction', 'off'],
  ['EventRateLimit', 'off'],
  ['ExtendedResourceToleration', 'off'],
  ['DefaultStorageClass', 'on'],
  ['StorageObjectInUseProtection', 'on'],
  ['OwnerReferencesPermissionEnforcement', 'off'],
  ['PersistentVolumeClaimResize', 'on'],
  ['RuntimeClass', 'on'],
  ['CertificateApproval', 'on'],
  ['CertificateSigning', 'on'],
  ['ClusterTrustBundleAttest', 'on'],
  ['CertificateSubjectRestriction', 'on'],
  ['DefaultIngressClass', 'on'],
  ['DenyServiceExternalIPs', 'off'],
  ['PodTopologyLabels', 'on'],
  ['MutatingAdmissionPolicy', 'on'],
  ['MutatingAdmissionWebhook', 'on'],
  ['ValidatingAdmissionPolicy', 'on'],
  ['ValidatingAdmissionWebhook', 'on'],
  ['ResourceQuota', 'on'],
  ['AlwaysDeny', 'off'],
]

export const pluginOrder: readonly string[] = rows.map(([name]) => name)

/**
 * Plugin lists that the help texts of the flags show: those enabled by default, and all by name.
 */
export const pluginsOnByDefault: string = rows
  .flatMap(([name, byDefault]) => (byDefault === 'on' ? name : []))
  .join(', ')
export const pluginsByName: string = pluginOrder.toSorted().join(', ')

const known: ReadonlySet<string> = new Set(pluginOrder)

export const isPlugin = (name: string): boolean => known.has(name)

const absent: ReadonlySet<string> = new Set(
  rows.flatMap(([name, , state]) => (state === 'absent' ? name : [])),
)
const deprecated: ReadonlySet<string> = new Set(['AlwaysAdmit', 'AlwaysDeny'])

/**
 * The enabled plugins. They include plugins that kube-apiserver would run with these flags but that
 * Keelson does not implement.
 */
export type AdmissionPlugins = {
  readonly isOn: (name: string) => boolean
  /** The names of the plugins that run, in the order in which they run. */
  readonly running: readonly string[]
}

/**
 * The values of the flags. Undefined means that a flag is not set. This differs from an empty
 * value, because an empty `--admission-control` disables all plugins.
 */
export type PluginFlags = {
  readonly enabled: readonly string[] | undefined
  readonly disabled: readonly string[] | undefined
  readonly exactly: readonly string[] | undefined
}

export function parseAdmissionPlugins({ enabled, disabled, exactly }: PluginFlags): {
  readonly plugins: AdmissionPlugins
  readonly faults: readonly string[]
  readonly hints: readonly string[]
  readonly warnings: readonly string[]
} {
  const on = new Set(exactly ?? enabled)
  const off = new Set(disabled)
  const runs = ([name, byDefault]: Row): boolean =>
    on.has(name) || (exactly === undefined && byDefault === 'on' && !off.has(name))
  const running = rows.filter(runs).map(([name]) => name)
  const both = [...new Set(enabled)].filter((name) => off.has(name)).toSorted()
  return {
    plugins: { running, isOn: (name) => running.includes(name) },
    faults: [
      ...(exactly !== undefined && (enabled ?? disabled) !== undefined
        ? [
            'admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive',
          ]
        : []),
      ...unknown('admission-control', exactly),
      ...unknown('enable-admission-plugins', enabled),
      ...unknown('disable-admission-plugins', disabled),
      ...(both.length === 0
        ? []
        : [
            `[${both.join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`,
          ]),
      ...notSupported('admission-control', exactly),
      ...notSupported('enable-admission-plugins', enabled),
    ],
    hints: [
      ...suggestions('admission-control', exactly),
      ...suggestions('enable-admission-plugins', enabled),
      ...suggestions('disable-admission-plugins', disabled),
    ],
    warnings: [
      ...(exactly === undefined
        ? []
        : [
            'Flag --admission-control has been deprecated, Use --enable-admission-plugins or --disable-admission-plugins instead. Will be removed in a future version.',
          ]),
      ...running
        .filter((name) => deprecated.has(name))
        .map(
          (name) =>
            `${name} admission controller is deprecated. Please remove this controller from your configuration files and scripts.`,
        ),
    ],
  }
}

const unknown = (flag: string, given: readonly string[] = []): string[] =>
  given.filter((name) => !known.has(name)).map((name) => `${flag} plugin ${quote(name)} is unknown`)

const suggestions = (flag: string, given: readonly string[] = []): string[] =>
  given.filter((name) => !known.has(name)).flatMap((name) => suggestValue(flag, name, known))

const notSupported = (flag: string, given: readonly string[] = []): string[] =>
  given
    .filter((name) => absent.has(name))
    .map((name) => `--${flag} ${name} is not supported yet: leave it out`)

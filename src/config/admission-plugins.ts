/**
 * Reads `--enable-admission-plugins`, `--disable-admission-plugins`, and the deprecated
 * `--admission-control`, which is the complete list of plugins to run. Errors and warnings are
 * those of kube-apiserver.
 */
import { quote } from '../api/quote.ts'
import { defaultMinor } from '../api/releases.ts'
import { suggestValue } from '../lib/text/suggest.ts'

/**
 * An admission plugin, whether it is enabled by default, and the releases that have it, such as
 * `36-36` or `35-`. Without a range, all releases have it.
 */
type Row = readonly [name: string, byDefault: 'on' | 'off', releases?: string]

/**
 * All plugins, in the order in which they run. Flags cannot change this order. Plugins that Keelson
 * does not implement yet do nothing.
 */
const table: readonly Row[] = [
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
  ['PodGroupProtection', 'on', '36-'],
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
  ['PodGroupWorkloadExists', 'on', '36-36'],
  ['NodeDeclaredFeatureValidator', 'on', '35-'],
  ['JobValidation', 'on', '36-36'],
  ['PodResizeValidator', 'on', '36-'],
  ['MutatingAdmissionPolicy', 'on'],
  ['MutatingAdmissionWebhook', 'on'],
  ['ValidatingAdmissionPolicy', 'on'],
  ['ValidatingAdmissionWebhook', 'on'],
  ['ResourceQuota', 'on'],
  ['AlwaysDeny', 'off'],
]

const rowsOf = (release: number): readonly Row[] =>
  table.filter(([, , releases = '']) => {
    const [first = '', last = ''] = releases.split('-')
    return release >= Number(first) && (last === '' || release <= Number(last))
  })

/** Returns the names of the plugins of a release, in the order in which they run. */
export const pluginOrderOf = (release: number): readonly string[] =>
  rowsOf(release).map(([name]) => name)

export const pluginOrder: readonly string[] = pluginOrderOf(defaultMinor)

/**
 * The lists of plugins in the help texts of the flags: the plugins that are enabled by default, and
 * all plugins, sorted by name.
 */
export const pluginsOnByDefault: string = rowsOf(defaultMinor)
  .flatMap(([name, byDefault]) => (byDefault === 'on' ? name : []))
  .join(', ')
export const pluginsByName: string = pluginOrder.toSorted().join(', ')

const deprecated: ReadonlySet<string> = new Set(['AlwaysAdmit', 'AlwaysDeny'])

/**
 * The enabled plugins. Also contains the plugins that these flags would enable in kube-apiserver,
 * but that Keelson does not implement.
 */
export type AdmissionPlugins = {
  readonly isOn: (name: string) => boolean
  /** Returns whether the release has a plugin with this name. */
  readonly isKnown: (name: string) => boolean
  /** The names of the enabled plugins, in the order in which they run. */
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

export function parseAdmissionPlugins(
  { enabled, disabled, exactly }: PluginFlags,
  release = defaultMinor,
): {
  readonly plugins: AdmissionPlugins
  readonly faults: readonly string[]
  readonly hints: readonly string[]
  readonly warnings: readonly string[]
} {
  const on = new Set(exactly ?? enabled)
  const off = new Set(disabled)
  const runs = ([name, byDefault]: Row): boolean =>
    on.has(name) || (exactly === undefined && byDefault === 'on' && !off.has(name))
  const rows = rowsOf(release)
  const known = new Set(rows.map(([name]) => name))
  const running = rows.filter(runs).map(([name]) => name)
  const both = [...new Set(enabled)].filter((name) => off.has(name)).toSorted()
  return {
    plugins: {
      running,
      isOn: (name) => running.includes(name),
      isKnown: (name) => known.has(name),
    },
    faults: [
      ...(exactly !== undefined && (enabled ?? disabled) !== undefined
        ? [
            'admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive',
          ]
        : []),
      ...unknown(known, 'admission-control', exactly),
      ...unknown(known, 'enable-admission-plugins', enabled),
      ...unknown(known, 'disable-admission-plugins', disabled),
      ...(both.length === 0
        ? []
        : [
            `[${both.join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`,
          ]),
    ],
    hints: [
      ...suggestions(known, 'admission-control', exactly),
      ...suggestions(known, 'enable-admission-plugins', enabled),
      ...suggestions(known, 'disable-admission-plugins', disabled),
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

type Names = ReadonlySet<string>

const unknown = (known: Names, flag: string, given: readonly string[] = []): string[] =>
  given.filter((name) => !known.has(name)).map((name) => `${flag} plugin ${quote(name)} is unknown`)

const suggestions = (known: Names, flag: string, given: readonly string[] = []): string[] =>
  given.filter((name) => !known.has(name)).flatMap((name) => suggestValue(flag, name, known))

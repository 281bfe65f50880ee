/** Reads `--feature-gates`. Error messages are those of kube-apiserver. */
import {
  type Gates,
  gatesOf,
  type GateStage,
  type GateState,
  dependenciesOf,
  startsOn,
} from '../api/gates.ts'
import { parseGoBoolean } from '../lib/text/go-literals.ts'
import { suggestValue } from '../lib/text/suggest.ts'
import { type Emulation, noEmulation } from './emulation.ts'

export type FeatureGates = Gates & {
  /** All gates with their stages and values. The metric kubernetes_feature_enabled reports them. */
  readonly all: readonly {
    readonly name: string
    readonly stage: GateStage
    readonly isOn: boolean
  }[]
}

export type ParsedGates = {
  readonly gates: FeatureGates
  readonly faults: readonly string[]
  readonly hints: readonly string[]
  readonly warnings: readonly string[]
}

/**
 * Feature gates that Keelson supports, of all releases that it can serve. docs/gates.md explains
 * the gates of the default release that are not listed here.
 *
 * Two of the listed gates have no effect: Keelson always behaves as if ListFromCacheSnapshot were
 * on, and InPlacePodVerticalScalingAllocatedStatus affects only the kubelet.
 */
export const gatesActedOn: readonly string[] = [
  'APIResponseCompression',
  'APIServerIdentity',
  'APIServerTracing',
  'AggregatedDiscoveryRemoveBetaType',
  'AllAlpha',
  'AllBeta',
  'AllowInsecureKubeletCertificateSigningRequests',
  'AllowParsingUserUIDFromCertAuth',
  'AllowUnsafeMalformedObjectDeletion',
  'AnonymousAuthConfigurableEndpoints',
  'AuthorizeNodeWithSelectors',
  'AuthorizePodWebsocketUpgradeCreatePermission',
  'AuthorizeWithSelectors',
  'CBORServingAndStorage',
  'CRDObservedGenerationTracking',
  'CSIServiceAccountTokenSecrets',
  'ClearingNominatedNodeNameAfterBinding',
  'ClusterTrustBundle',
  'ClusterTrustBundleProjection',
  'ComponentFlagz',
  'ComponentStatusz',
  'ContainerRestartRules',
  'ContainerStopSignals',
  'CoordinatedLeaderElection',
  'CrossNamespaceVolumeDataSource',
  'CustomResourceFieldSelectors',
  'DRAAdminAccess',
  'DRAConsumableCapacity',
  'DRADeviceBindingConditions',
  'DRADeviceTaintRules',
  'DRADeviceTaints',
  'DRAExtendedResource',
  'DRAPartitionableDevices',
  'DRAPrioritizedList',
  'DRAResourceClaimDeviceStatus',
  'DeclarativeValidation',
  'DeclarativeValidationTakeover',
  'DeploymentReplicaSetTerminatingReplicas',
  'DisableAllocatorDualWrite',
  'DynamicResourceAllocation',
  'EnvFiles',
  'ExternalServiceAccountTokenSigner',
  'GenericWorkload',
  'GitRepoVolumeDriver',
  'HPAConfigurableTolerance',
  'HPAScaleToZero',
  'HostnameOverride',
  'ImageVolume',
  'InPlacePodLevelResourcesVerticalScaling',
  'InPlacePodVerticalScaling',
  'InPlacePodVerticalScalingAllocatedStatus',
  'JobBackoffLimitPerIndex',
  'JobManagedBy',
  'JobPodReplacementPolicy',
  'JobSuccessPolicy',
  'KMSv1',
  'KubeletFineGrainedAuthz',
  'KubeletServiceAccountTokenForCredentialProviders',
  'ListFromCacheSnapshot',
  'LoadBalancerIPMode',
  'LoggingBetaOptions',
  'MatchLabelKeysInPodTopologySpread',
  'MatchLabelKeysInPodTopologySpreadSelectorMerge',
  'MaxUnavailableStatefulSet',
  'MultiCIDRServiceAllocator',
  'MutableCSINodeAllocatableCount',
  'MutablePVNodeAffinity',
  'MutablePodResourcesForSuspendedJobs',
  'MutableSchedulingDirectivesForSuspendedJobs',
  'MutatingAdmissionPolicy',
  'NodeDeclaredFeatures',
  'OpenAPIEnums',
  'OrderedNamespaceDeletion',
  'PodCertificateRequest',
  'PodDeletionCost',
  'PodLevelResources',
  'PodLifecycleSleepAction',
  'PodLifecycleSleepActionAllowZero',
  'PodLogsQuerySplitStreams',
  'PodObservedGenerationTracking',
  'PodTopologyLabelsAdmission',
  'PreferSameTrafficDistribution',
  'ProbeHostPodSecurityStandards',
  'ProcMountType',
  'RecoverVolumeExpansionFailure',
  'RelaxedDNSSearchValidation',
  'RelaxedEnvironmentVariableValidation',
  'RelaxedServiceNameValidation',
  'RemoteRequestHeaderUID',
  'ResourceHealthStatus',
  'RestartAllContainersOnContainerExits',
  'SELinuxChangePolicy',
  'SELinuxMount',
  'SELinuxMountReadWriteOncePod',
  'ServiceAccountNodeAudienceRestriction',
  'ServiceTrafficDistribution',
  'StorageVersionHash',
  'StorageVersionMigrator',
  'StrictIPCIDRValidation',
  'StructuredAuthenticationConfiguration',
  'StructuredAuthorizationConfiguration',
  'SupplementalGroupsPolicy',
  'TaintTolerationComparisonOperators',
  'TokenRequestServiceAccountUIDValidation',
  'UnauthenticatedHTTP2DOSMitigation',
  'UserNamespacesHostNetworkSupport',
  'UserNamespacesPodSecurityStandards',
  'UserNamespacesSupport',
  'VolumeAttributesClass',
  'WatchList',
]

/**
 * Returns the supported gates that are not locked, with stage and default, in the format of
 * kube-apiserver's help text.
 */
export const gateHelp = (release: number): string[] =>
  settableGates(release)
    .map(
      ([name, { stage, isOnByDefault }]) =>
        `kube:${name}=true|false (${stage} - default=${isOnByDefault})`,
    )
    .toSorted()

/** Returns all values that --feature-gates can have if it sets a single supported gate. */
export const gateChoices = (release: number): string[] =>
  settableGates(release)
    .flatMap(([name]) => [`${name}=false`, `${name}=true`])
    .toSorted()

const settableGates = (release: number): [string, GateState][] =>
  [...gatesOf(release).states].filter(
    ([name, { isLocked }]) => !isLocked && gatesActedOn.includes(name),
  )

/**
 * Gates of features that Keelson does not have. It is an error to enable such a gate, and AllAlpha
 * does not enable it.
 */
export const unsupportedGates: ReadonlySet<string> = new Set([
  'LoggingAlphaOptions',
  'StorageVersionAPI',
  'UnknownVersionInteroperabilityProxy',
])

/**
 * Gates that are on by default, but whose features Keelson does not have. Both values are accepted,
 * and the gates stay off.
 */
const absentGates: ReadonlySet<string> = new Set([
  'ContextualLogging',
  'PortForwardWebsockets',
  'TranslateStreamCloseWebsocketRequests',
])

/**
 * Gates that set all gates of a stage at once. A gate that --feature-gates also sets individually
 * keeps its own value.
 */
const stageGates: ReadonlyMap<string, GateStage> = new Map([
  ['AllAlpha', 'ALPHA'],
  ['AllBeta', 'BETA'],
])

type EmulatedVersions = Pick<Emulation, 'release' | 'minor' | 'minCompatibility'>

/**
 * Parses entries of the form `Name=bool`. If a name is repeated, the last entry is used. Only the
 * gates that the emulated version has can be set.
 */
export function parseFeatureGates(
  entries: readonly string[],
  { release, minor, minCompatibility }: EmulatedVersions = noEmulation,
): ParsedGates {
  const ofRelease = gatesOf(release, { emulated: minor, minCompatibility })
  const { states: known, absent } = ofRelease
  const set = new Map<string, boolean>()
  const faults: string[] = []
  const hints: string[] = []
  const warnings: string[] = []
  for (const entry of entries) {
    const { name, value } = splitEntry(entry)
    const gate = known.get(name)
    if (gate === undefined && !absent.has(name))
      hints.push(...suggestValue('feature-gates', name, known.keys()))
    const fault =
      value === undefined
        ? `missing bool value for ${name}`
        : faultOf({ name, value, entry, gate, ...(absent.has(name) ? { absentIn: minor } : {}) })
    if (fault !== undefined || value === undefined) {
      faults.push(fault ?? '')
      continue
    }
    set.set(name, parseGoBoolean(value) === true)
    if (gate?.stage === 'GA') warnings.push(`Setting GA feature gate ${name}=${value}. ${removal}`)
    if (gate?.stage === 'DEPRECATED')
      warnings.push(`Setting deprecated feature gate ${name}=${value}. ${removal}`)
  }
  for (const [name, isOn] of gatesOfStages(known, set)) set.set(name, isOn)
  const isEnabled = (name: string): boolean => set.get(name) ?? startsOn(ofRelease, name)
  if (faults.length === 0) faults.push(...dependencyFaults(release, isEnabled))
  const isOn = (name: string): boolean => !absentGates.has(name) && isEnabled(name)
  const all = [...known].map(([name, { stage }]) => ({ name, stage, isOn: isOn(name) }))
  return {
    gates: { release, minCompatibility, emulated: minor, isOn, all },
    faults,
    hints,
    warnings,
  }
}

/** Returns errors about gates that are on although they depend on gates that are off. */
function dependencyFaults(release: number, isEnabled: (name: string) => boolean): string[] {
  return dependenciesOf(release).flatMap(({ name, needs }) => {
    const off = needs.filter((gate) => !isEnabled(gate))
    return isEnabled(name) && off.length > 0
      ? [`${name} is enabled, but depends on features that are disabled: [${off.join(' ')}]`]
      : []
  })
}

/**
 * Returns the gates that AllAlpha and AllBeta set, with their values. Gates that --feature-gates
 * sets individually are left out.
 */
function gatesOfStages(
  known: ReadonlyMap<string, GateState>,
  given: ReadonlyMap<string, boolean>,
): (readonly [string, boolean])[] {
  return [...stageGates].flatMap(([stageGate, stage]) => {
    const isOn = given.get(stageGate)
    if (isOn === undefined) return []
    return [...known]
      .filter(
        ([name, gate]) =>
          gate.stage === stage && !gate.isLocked && !stageGates.has(name) && !given.has(name),
      )
      .filter(([name]) => !isOn || !unsupportedGates.has(name))
      .map(([name]) => [name, isOn] as const)
  })
}

const removal = 'It will be removed in a future release.'

/**
 * Splits an entry of --feature-gates into the name of a gate and its value. The name can be
 * prefixed by a component, as in `kube:WatchList=true`. The only valid component is `kube`.
 */
function splitEntry(entry: string): { name: string; value: string | undefined } {
  const [left = '', ...right] = entry.split('=')
  const name = left.trim().replace(/^kube:/, '')
  return { name, value: right.length === 0 ? undefined : right.join('=').trim() }
}

type Setting = {
  readonly name: string
  readonly value: string
  readonly entry: string
  readonly gate: GateState | undefined
  /** The emulated minor version, if the gate did not exist in that version. Otherwise undefined. */
  readonly absentIn?: number
}

function faultOf({ name, value, gate, absentIn }: Setting): string | undefined {
  const [component] = name.split(':')
  if (name.includes(':')) return `component not registered: ${component}`
  const isOn = parseGoBoolean(value)
  if (isOn === undefined) {
    return `invalid value of ${name}=${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`
  }
  if (absentIn !== undefined) {
    return `cannot set feature gate ${name} to ${isOn}, feature is PreAlpha at emulated version 1.${absentIn}`
  }
  if (gate === undefined) return `unrecognized feature gate: ${name}`
  if (gate.isLocked && isOn !== gate.isOnByDefault) {
    return `cannot set feature gate ${name} to ${isOn}, feature is locked to ${gate.isOnByDefault}`
  }
  if (isOn && unsupportedGates.has(name))
    return `--feature-gates: ${name}=true is not supported: leave it out`
  return undefined
}

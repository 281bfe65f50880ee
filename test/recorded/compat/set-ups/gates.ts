/** Set-ups with non-default API versions and feature gates. */
import type { SetUp, SetUps } from '../set-ups.ts'

/** Feature gates of fields, kinds and rules of the API that are off by default. */
const offByDefault = `
  ClusterTrustBundleProjection ContainerStopSignals CoordinatedLeaderElection 
  DeploymentReplicaSetTerminatingReplicas DynamicResourceAllocation HPAConfigurableTolerance
  HPAScaleToZero ImageVolume MaxUnavailableStatefulSet MutableCSINodeAllocatableCount 
  PodObservedGenerationTracking PreferSameTrafficDistribution ResourceHealthStatus UserNamespacesPodSecurityStandards
  AllowUnsafeMalformedObjectDeletion CrossNamespaceVolumeDataSource DeclarativeValidationTakeover GitRepoVolumeDriver PodLogsQuerySplitStreams PodTopologyLabelsAdmission SELinuxMount StrictIPCIDRValidation VolumeAttributesClass
  InPlacePodVerticalScalingAllocatedStatus PodLevelResources
  `
/** Feature gates that are on by default and can be turned off. */
const onByDefault = `
  APIResponseCompression AggregatedDiscoveryRemoveBetaType DeclarativeValidation OpenAPIEnums PodDeletionCost StorageVersionHash InPlacePodVerticalScaling JobManagedBy JobPodReplacementPolicy MatchLabelKeysInPodTopologySpread PodLifecycleSleepAction
  PodLifecycleSleepActionAllowZero ProcMountType RecoverVolumeExpansionFailure RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation
  SELinuxChangePolicy SELinuxMountReadWriteOncePod SupplementalGroupsPolicy UserNamespacesSupport`

/** API versions that are off by default. */
const moreVersions = `
  admissionregistration.k8s.io/v1beta1 certificates.k8s.io/v1alpha1 certificates.k8s.io/v1beta1 coordination.k8s.io/v1alpha2
  coordination.k8s.io/v1beta1 internal.apiserver.k8s.io/v1alpha1 networking.k8s.io/v1beta1 storage.k8s.io/v1alpha1
  storage.k8s.io/v1beta1 storagemigration.k8s.io/v1alpha1`

/** Feature gates of kinds and fields that only the versions above have. */
const ofVersions =
  'ClusterTrustBundle StorageVersionMigrator DynamicResourceAllocation DRAAdminAccess DRADeviceTaints DRAPartitionableDevices DRAPrioritizedList'

const settings = (names: string, isOn: boolean): string =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => `${name}=${isOn}`)
    .join()

const gates = (names: string, isOn: boolean): string => `--feature-gates=${settings(names, isOn)}`

const gate = (name: string, isOn: boolean): SetUp => ({
  flags: [`--feature-gates=${name}=${isOn}`],
})

export const setUps: SetUps = {
  WatchList: gate('WatchList', true),
  'gates-on': {
    flags: [gates(offByDefault, true)],
    referenceFlags: ['--runtime-config=api/all=true'],
  },
  'gates-off': { flags: [gates(onByDefault, false)] },
  'more-versions': {
    flags: [
      `--runtime-config=${settings(moreVersions, true)}`,
      gates('ClusterTrustBundle StorageVersionMigrator', true),
    ],
  },
  'all-versions': { flags: ['--runtime-config=api/all=true', gates(ofVersions, true)] },
  'beta-versions': {
    flags: ['--runtime-config=api/beta=true,resource.k8s.io/v1beta1/deviceclasses=false'],
  },
  'prioritized-devices': {
    flags: [
      '--runtime-config=api/beta=true',
      gates('DynamicResourceAllocation DRAPrioritizedList', true),
    ],
  },
  'recorded-addresses': gate('MultiCIDRServiceAllocator', false),
  compacted: { flags: [], isCompacted: true, isRestarted: true },
}

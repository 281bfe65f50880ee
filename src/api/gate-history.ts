/**
 * How gates were in the versions that `--emulated-version` can name, where that differs from gate-rows.ts. A gate that was not there yet is off
 * and cannot be set.
 */
import type { GateRow } from './gate-rows.ts'

export type OlderGates = { readonly rows: readonly GateRow[]; readonly absent: readonly string[] }

/** By minor version. */
export const olderGates: { readonly [minor: number]: OlderGates } = {
  31: {
    rows: [
      { stage: 'ALPHA', isOnByDefault: false, isLocked: false, names: ['AnonymousAuthConfigurableEndpoints', 'AuthorizeNodeWithSelectors', 'AuthorizeWithSelectors', 'ClusterTrustBundle', 'ClusterTrustBundleProjection', 'CoordinatedLeaderElection', 'DisableAllocatorDualWrite', 'DynamicResourceAllocation', 'ImageVolume', 'InPlacePodVerticalScaling', 'JobManagedBy', 'RecoverVolumeExpansionFailure', 'RelaxedEnvironmentVariableValidation', 'SELinuxMount', 'SupplementalGroupsPolicy', 'WatchList', 'WinDSR', 'WindowsHostNetwork'] },
      { stage: 'BETA', isOnByDefault: false, isLocked: false, names: ['MultiCIDRServiceAllocator', 'OrderedNamespaceDeletion', 'ProcMountType', 'SchedulerQueueingHints', 'StrictCostEnforcementForVAP', 'StrictCostEnforcementForWebhooks', 'UserNamespacesSupport', 'WatchFromStorageWithoutResourceVersion'] },
      { stage: 'BETA', isOnByDefault: true, isLocked: false, names: ['AnyVolumeDataSource', 'CPUManagerPolicyOptions', 'CRDValidationRatcheting', 'CSIMigrationPortworx', 'ComponentSLIs', 'CronJobsScheduledAnnotation', 'CustomResourceFieldSelectors', 'HonorPVReclaimPolicy', 'JobBackoffLimitPerIndex', 'JobSuccessPolicy', 'LoadBalancerIPMode', 'MatchLabelKeysInPodAffinity', 'MemoryManager', 'NFTablesProxyMode', 'NodeInclusionPolicyInPodTopologySpread', 'PodIndexLabel', 'RecursiveReadOnlyMounts', 'RetryGenerateName', 'SeparateCacheWatchRPC', 'ServiceAccountTokenJTI', 'ServiceAccountTokenNodeBinding', 'ServiceAccountTokenNodeBindingValidation', 'ServiceAccountTokenPodNodeInfo', 'ServiceTrafficDistribution', 'SidecarContainers', 'SizeMemoryBackedVolumes', 'StatefulSetAutoDeletePVC', 'StorageNamespaceIndex', 'StructuredAuthorizationConfiguration', 'TopologyAwareHints', 'TopologyManagerPolicyOptions'] },
      { stage: 'DEPRECATED', isOnByDefault: false, isLocked: false, names: ['AllowServiceLBStatusOnNonLB', 'DisableNodeKubeProxyVersion'] },
      { stage: 'GA', isOnByDefault: false, isLocked: false, names: ['AggregatedDiscoveryRemoveBetaType'] },
      { stage: 'GA', isOnByDefault: true, isLocked: false, names: ['AllowOverwriteTerminationGracePeriodSeconds', 'GitRepoVolumeDriver', 'KubeletRegistrationGetOnExistsOnly', 'LegacySidecarContainers'] },
    ],
    absent: ['AllowParsingUserUIDFromCertAuth', 'AllowUnsafeMalformedObjectDeletion', 'BtreeWatchCache', 'CBORServingAndStorage', 'ComponentFlagz', 'ComponentStatusz', 'ContainerStopSignals', 'DRAAdminAccess', 'DRADeviceTaints', 'DRAPartitionableDevices', 'DRAPrioritizedList', 'DRAResourceClaimDeviceStatus', 'DeclarativeValidation', 'DeclarativeValidationTakeover', 'DeploymentReplicaSetTerminatingReplicas', 'DisableCPUQuotaWithExclusiveCPUs', 'ExternalServiceAccountTokenSigner', 'HPAConfigurableTolerance', 'InPlacePodVerticalScalingAllocatedStatus', 'InPlacePodVerticalScalingExclusiveCPUs', 'KubeletCrashLoopBackOffMax', 'KubeletEnsureSecretPulledImages', 'KubeletFineGrainedAuthz', 'KubeletPSI', 'KubeletServiceAccountTokenForCredentialProviders', 'ListFromCacheSnapshot', 'MutableCSINodeAllocatableCount', 'MutatingAdmissionPolicy', 'PodLevelResources', 'PodLifecycleSleepActionAllowZero', 'PodLogsQuerySplitStreams', 'PodObservedGenerationTracking', 'PodTopologyLabelsAdmission', 'PreferSameTrafficDistribution', 'ReduceDefaultCrashLoopBackOffDecay', 'RelaxedDNSSearchValidation', 'RemoteRequestHeaderUID', 'SELinuxChangePolicy', 'SchedulerAsyncPreemption', 'SchedulerPopFromBackoffQ', 'ServiceAccountNodeAudienceRestriction', 'StorageCapacityScoring', 'StreamingCollectionEncodingToJSON', 'StreamingCollectionEncodingToProtobuf', 'StrictIPCIDRValidation', 'SystemdWatchdog', 'WindowsCPUAndMemoryAffinity', 'WindowsGracefulNodeShutdown'],
  },
  32: {
    rows: [
      { stage: 'ALPHA', isOnByDefault: false, isLocked: false, names: ['ClusterTrustBundle', 'ClusterTrustBundleProjection', 'CoordinatedLeaderElection', 'DRAResourceClaimDeviceStatus', 'DisableAllocatorDualWrite', 'ImageVolume', 'InPlacePodVerticalScaling', 'InPlacePodVerticalScalingAllocatedStatus', 'KubeletFineGrainedAuthz', 'PodLifecycleSleepActionAllowZero', 'RelaxedDNSSearchValidation', 'RemoteRequestHeaderUID', 'SELinuxChangePolicy', 'SELinuxMount', 'SchedulerAsyncPreemption', 'SupplementalGroupsPolicy', 'WinDSR', 'WindowsHostNetwork'] },
      { stage: 'BETA', isOnByDefault: false, isLocked: false, names: ['MultiCIDRServiceAllocator', 'OrderedNamespaceDeletion', 'ProcMountType', 'ServiceAccountNodeAudienceRestriction', 'UserNamespacesSupport', 'WatchFromStorageWithoutResourceVersion'] },
      { stage: 'BETA', isOnByDefault: true, isLocked: false, names: ['AnyVolumeDataSource', 'BtreeWatchCache', 'CPUManagerPolicyOptions', 'CRDValidationRatcheting', 'CSIMigrationPortworx', 'HonorPVReclaimPolicy', 'JobBackoffLimitPerIndex', 'JobSuccessPolicy', 'MatchLabelKeysInPodAffinity', 'NFTablesProxyMode', 'NodeInclusionPolicyInPodTopologySpread', 'RecursiveReadOnlyMounts', 'SeparateCacheWatchRPC', 'ServiceAccountTokenNodeBinding', 'ServiceTrafficDistribution', 'SidecarContainers', 'StorageNamespaceIndex', 'TopologyAwareHints', 'WatchList'] },
      { stage: 'DEPRECATED', isOnByDefault: false, isLocked: false, names: ['DisableNodeKubeProxyVersion'] },
      { stage: 'GA', isOnByDefault: false, isLocked: false, names: ['AggregatedDiscoveryRemoveBetaType'] },
      { stage: 'GA', isOnByDefault: true, isLocked: false, names: ['GitRepoVolumeDriver', 'LegacySidecarContainers'] },
    ],
    absent: ['AllowParsingUserUIDFromCertAuth', 'ContainerStopSignals', 'DRADeviceTaints', 'DRAPartitionableDevices', 'DRAPrioritizedList', 'DeclarativeValidation', 'DeclarativeValidationTakeover', 'DeploymentReplicaSetTerminatingReplicas', 'DisableCPUQuotaWithExclusiveCPUs', 'HPAConfigurableTolerance', 'KubeletEnsureSecretPulledImages', 'KubeletPSI', 'KubeletServiceAccountTokenForCredentialProviders', 'ListFromCacheSnapshot', 'MutableCSINodeAllocatableCount', 'PodObservedGenerationTracking', 'PodTopologyLabelsAdmission', 'PreferSameTrafficDistribution', 'ReduceDefaultCrashLoopBackOffDecay', 'SchedulerPopFromBackoffQ', 'StorageCapacityScoring', 'StreamingCollectionEncodingToJSON', 'StreamingCollectionEncodingToProtobuf', 'StrictIPCIDRValidation'],
  },
}

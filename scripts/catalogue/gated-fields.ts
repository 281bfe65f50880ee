/**
 * Fields that are dropped on write while a feature gate is off, by package, type and field; `Gate:a,b` where the gate drops fields a and b
 * of the field's value. The source says so in code (and, of some fields, in a comment), so this table is written by hand.
 */
export const gatedFields: Readonly<Record<string, string>> = {
  'apps/v1 RollingUpdateStatefulSetStrategy.maxUnavailable': 'MaxUnavailableStatefulSet',
  'apps/v1 DeploymentStatus.terminatingReplicas': 'DeploymentReplicaSetTerminatingReplicas',
  'apps/v1 ReplicaSetStatus.terminatingReplicas': 'DeploymentReplicaSetTerminatingReplicas',
  'autoscaling/v2 HPAScalingRules.tolerance': 'HPAConfigurableTolerance',
  'coordination/v1 LeaseSpec.strategy': 'CoordinatedLeaderElection',
  'coordination/v1 LeaseSpec.preferredHolder': 'CoordinatedLeaderElection',
  'core/v1 PersistentVolume.spec': 'VolumeAttributesClass:volumeAttributesClassName',
  'core/v1 PersistentVolumeClaim.spec': 'VolumeAttributesClass:volumeAttributesClassName',
  'core/v1 PersistentVolumeClaim.status': 'VolumeAttributesClass:currentVolumeAttributesClassName,modifyVolumeStatus',
  'core/v1 VolumeProjection.clusterTrustBundle': 'ClusterTrustBundleProjection',
  'core/v1 Container.resources': 'DynamicResourceAllocation:claims',
  'core/v1 Container.lifecycle': 'ContainerStopSignals:stopSignal',
  'core/v1 ContainerStatus.allocatedResourcesStatus': 'ResourceHealthStatus',
  'core/v1 PodCondition.observedGeneration': 'PodObservedGenerationTracking',
  'core/v1 PodSpec.resourceClaims': 'DynamicResourceAllocation',
  'core/v1 PodSpec.resources': 'PodLevelResources',
  'core/v1 EphemeralContainerCommon.resources': 'DynamicResourceAllocation:claims',
  'core/v1 EphemeralContainerCommon.lifecycle': 'ContainerStopSignals:stopSignal',
  'core/v1 PodStatus.observedGeneration': 'PodObservedGenerationTracking',
  'core/v1 PodStatus.resourceClaimStatuses': 'DynamicResourceAllocation',
  'core/v1 NodeSpec.configSource': 'DynamicKubeletConfig',
  'core/v1 NodeStatus.config': 'DynamicKubeletConfig',
  'discovery/v1 EndpointHints.forNodes': 'PreferSameTrafficDistribution',
  'storage/v1 VolumeAttachmentStatus.attachError': 'MutableCSINodeAllocatableCount:errorCode',
  'storage/v1 VolumeAttachmentStatus.detachError': 'MutableCSINodeAllocatableCount:errorCode',
  'storage/v1 CSIDriverSpec.nodeAllocatableUpdatePeriodSeconds': 'MutableCSINodeAllocatableCount',
}

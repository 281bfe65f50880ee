/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const appsTypes = `
package apps/v1

PodManagementPolicyType = string: OrderedReady|Parallel
StatefulSetUpdateStrategyType = string: OnDelete|RollingUpdate
PersistentVolumeClaimRetentionPolicyType = string
StatefulSetConditionType = string
DeploymentStrategyType = string: Recreate|RollingUpdate
DeploymentConditionType = string
DaemonSetUpdateStrategyType = string: OnDelete|RollingUpdate
DaemonSetConditionType = string
ReplicaSetConditionType = string

StatefulSet
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec StatefulSetSpec 2
  status StatefulSetStatus 3

StatefulSetUpdateStrategy
  type StatefulSetUpdateStrategyType 1
  rollingUpdate *RollingUpdateStatefulSetStrategy 2

RollingUpdateStatefulSetStrategy
  partition *int32 1
  maxUnavailable *IntOrString 2 gate=MaxUnavailableStatefulSet

StatefulSetPersistentVolumeClaimRetentionPolicy
  whenDeleted PersistentVolumeClaimRetentionPolicyType 1
  whenScaled PersistentVolumeClaimRetentionPolicyType 2

StatefulSetOrdinals
  start+ int32 1

StatefulSetSpec
  replicas *int32 1
  selector! *meta.LabelSelector 2
  template! core.PodTemplateSpec 3
  volumeClaimTemplates []core.PersistentVolumeClaim 4 atomic
  serviceName+ string 5
  podManagementPolicy PodManagementPolicyType 6
  updateStrategy StatefulSetUpdateStrategy 7
  revisionHistoryLimit *int32 8
  minReadySeconds int32 9
  persistentVolumeClaimRetentionPolicy *StatefulSetPersistentVolumeClaimRetentionPolicy 10
  ordinals *StatefulSetOrdinals 11

StatefulSetStatus
  observedGeneration int64 1
  replicas! int32 2
  readyReplicas int32 3
  currentReplicas int32 4
  updatedReplicas int32 5
  currentRevision string 6
  updateRevision string 7
  collisionCount *int32 9
  conditions []StatefulSetCondition 10 map=type patch=merge key=type
  availableReplicas+ int32 11

StatefulSetCondition
  type! StatefulSetConditionType 1
  status! core.ConditionStatus 2
  lastTransitionTime meta.Time 3
  reason string 4
  message string 5

Deployment
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec DeploymentSpec 2
  status DeploymentStatus 3

DeploymentSpec
  replicas *int32 1
  selector! *meta.LabelSelector 2
  template! core.PodTemplateSpec 3
  strategy DeploymentStrategy 4 patch=retainKeys
  minReadySeconds int32 5
  revisionHistoryLimit *int32 6
  paused bool 7
  progressDeadlineSeconds *int32 9

DeploymentStrategy
  type DeploymentStrategyType 1
  rollingUpdate *RollingUpdateDeployment 2

RollingUpdateDeployment
  maxUnavailable *IntOrString 1
  maxSurge *IntOrString 2

DeploymentStatus
  observedGeneration int64 1
  replicas int32 2
  updatedReplicas int32 3
  readyReplicas int32 7
  availableReplicas int32 4
  unavailableReplicas int32 5
  terminatingReplicas *int32 9 gate=DeploymentReplicaSetTerminatingReplicas
  conditions []DeploymentCondition 6 map=type patch=merge key=type
  collisionCount *int32 8

DeploymentCondition
  type! DeploymentConditionType 1
  status! core.ConditionStatus 2
  lastUpdateTime meta.Time 6
  lastTransitionTime meta.Time 7
  reason string 4
  message string 5

DaemonSetUpdateStrategy
  type DaemonSetUpdateStrategyType 1
  rollingUpdate *RollingUpdateDaemonSet 2

RollingUpdateDaemonSet
  maxUnavailable *IntOrString 1
  maxSurge *IntOrString 2

DaemonSetSpec
  selector! *meta.LabelSelector 1
  template! core.PodTemplateSpec 2
  updateStrategy DaemonSetUpdateStrategy 3
  minReadySeconds int32 4
  revisionHistoryLimit *int32 6

DaemonSetStatus
  currentNumberScheduled! int32 1
  numberMisscheduled! int32 2
  desiredNumberScheduled! int32 3
  numberReady! int32 4
  observedGeneration int64 5
  updatedNumberScheduled int32 6
  numberAvailable int32 7
  numberUnavailable int32 8
  collisionCount *int32 9
  conditions []DaemonSetCondition 10 map=type patch=merge key=type

DaemonSetCondition
  type! DaemonSetConditionType 1
  status! core.ConditionStatus 2
  lastTransitionTime meta.Time 3
  reason string 4
  message string 5

DaemonSet
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec DaemonSetSpec 2
  status DaemonSetStatus 3

ReplicaSet
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec ReplicaSetSpec 2
  status ReplicaSetStatus 3

ReplicaSetSpec
  replicas *int32 1
  minReadySeconds int32 4
  selector! *meta.LabelSelector 2
  template core.PodTemplateSpec 3

ReplicaSetStatus
  replicas! int32 1
  fullyLabeledReplicas int32 2
  readyReplicas int32 4
  availableReplicas int32 5
  terminatingReplicas *int32 7 gate=DeploymentReplicaSetTerminatingReplicas
  observedGeneration int64 3
  conditions []ReplicaSetCondition 6 map=type patch=merge key=type

ReplicaSetCondition
  type! ReplicaSetConditionType 1
  status! core.ConditionStatus 2
  lastTransitionTime meta.Time 3
  reason string 4
  message string 5

ControllerRevision
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  data RawExtension 2
  revision! int64 3
`

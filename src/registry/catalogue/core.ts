/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const coreTypes = `
package core/v1

PersistentVolumeReclaimPolicy = string: Delete|Recycle|Retain
PersistentVolumeMode = string: Block|Filesystem
PersistentVolumeClaimConditionType = string
ClaimResourceStatus = string: ControllerResizeInProgress|ControllerResizeInfeasible|NodeResizeInProgress|NodeResizeInfeasible|NodeResizePending
PersistentVolumeClaimModifyVolumeStatus = string: InProgress|Infeasible|Pending
PersistentVolumeAccessMode = string: ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod
PersistentVolumePhase = string: Available|Bound|Failed|Pending|Released
PersistentVolumeClaimPhase = string: Bound|Lost|Pending
HostPathType = string: |BlockDevice|CharDevice|Directory|DirectoryOrCreate|File|FileOrCreate|Socket
StorageMedium = string
Protocol = string: SCTP|TCP|UDP
AzureDataDiskCachingMode = string: None|ReadOnly|ReadWrite
AzureDataDiskKind = string: Dedicated|Managed|Shared
MountPropagationMode = string: Bidirectional|HostToContainer|None
RecursiveReadOnlyMode = string
URIScheme = string: HTTP|HTTPS
PullPolicy = string: Always|IfNotPresent|Never
ResourceResizeRestartPolicy = string
PreemptionPolicy = string: Never|PreemptLowerPriority
TerminationMessagePolicy = string: FallbackToLogsOnError|File
Capability = string
Signal = string: SIGABRT|SIGALRM|SIGBUS|SIGCHLD|SIGCLD|SIGCONT|SIGFPE|SIGHUP|SIGILL|SIGINT|SIGIO|SIGIOT|SIGKILL|SIGPIPE|SIGPOLL|SIGPROF|SIGPWR|SIGQUIT|SIGRTMAX|SIGRTMAX-1|SIGRTMAX-10|SIGRTMAX-11|SIGRTMAX-12|SIGRTMAX-13|SIGRTMAX-14|SIGRTMAX-2|SIGRTMAX-3|SIGRTMAX-4|SIGRTMAX-5|SIGRTMAX-6|SIGRTMAX-7|SIGRTMAX-8|SIGRTMAX-9|SIGRTMIN|SIGRTMIN+1|SIGRTMIN+10|SIGRTMIN+11|SIGRTMIN+12|SIGRTMIN+13|SIGRTMIN+14|SIGRTMIN+15|SIGRTMIN+2|SIGRTMIN+3|SIGRTMIN+4|SIGRTMIN+5|SIGRTMIN+6|SIGRTMIN+7|SIGRTMIN+8|SIGRTMIN+9|SIGSEGV|SIGSTKFLT|SIGSTOP|SIGSYS|SIGTERM|SIGTRAP|SIGTSTP|SIGTTIN|SIGTTOU|SIGURG|SIGUSR1|SIGUSR2|SIGVTALRM|SIGWINCH|SIGXCPU|SIGXFSZ
ConditionStatus = string
ResourceHealthStatus = string
ResourceID = string
PodPhase = string: Failed|Pending|Running|Succeeded|Unknown
PodConditionType = string
PodResizeStatus = string
RestartPolicy = string: Always|Never|OnFailure
ContainerRestartPolicy = string
DNSPolicy = string: ClusterFirst|ClusterFirstWithHostNet|Default|None
NodeSelectorOperator = string: DoesNotExist|Exists|Gt|In|Lt|NotIn
TaintEffect = string: NoExecute|NoSchedule|PreferNoSchedule
TolerationOperator = string: Equal|Exists
OSName = string
UnsatisfiableConstraintAction = string: DoNotSchedule|ScheduleAnyway
NodeInclusionPolicy = string: Honor|Ignore
PodFSGroupChangePolicy = string: Always|OnRootMismatch
SupplementalGroupsPolicy = string: Merge|Strict
PodSELinuxChangePolicy = string
SeccompProfileType = string: Localhost|RuntimeDefault|Unconfined
AppArmorProfileType = string: Localhost|RuntimeDefault|Unconfined
PodQOSClass = string: BestEffort|Burstable|Guaranteed
ReplicationControllerConditionType = string
ServiceAffinity = string: ClientIP|None
ServiceType = string: ClusterIP|ExternalName|LoadBalancer|NodePort
ServiceInternalTrafficPolicy = string: Cluster|Local
ServiceExternalTrafficPolicy = string: Cluster|Local
IPFamily = string: |IPv4|IPv6
IPFamilyPolicy = string: PreferDualStack|RequireDualStack|SingleStack
UniqueVolumeName = string
NodePhase = string: Pending|Running|Terminated
NodeConditionType = string
NodeAddressType = string
ResourceName = string
ResourceList = map[ResourceName]Quantity
FinalizerName = string
NamespacePhase = string: Active|Terminating
NamespaceConditionType = string
LimitType = string
ResourceQuotaScope = string: BestEffort|CrossNamespacePodAffinity|NotBestEffort|NotTerminating|PriorityClass|Terminating|VolumeAttributesClass
ScopeSelectorOperator = string: DoesNotExist|Exists|In|NotIn
SecretType = string
ComponentConditionType = string
ProcMountType = string: Default|Unmasked
LoadBalancerIPMode = string

Volume
  name! string 1
  ...VolumeSource 2

VolumeSource
  hostPath *HostPathVolumeSource 1
  emptyDir *EmptyDirVolumeSource 2
  gcePersistentDisk *GCEPersistentDiskVolumeSource 3
  awsElasticBlockStore *AWSElasticBlockStoreVolumeSource 4
  gitRepo *GitRepoVolumeSource 5
  secret *SecretVolumeSource 6
  nfs *NFSVolumeSource 7
  iscsi *ISCSIVolumeSource 8
  glusterfs *GlusterfsVolumeSource 9
  persistentVolumeClaim *PersistentVolumeClaimVolumeSource 10
  rbd *RBDVolumeSource 11
  flexVolume *FlexVolumeSource 12
  cinder *CinderVolumeSource 13
  cephfs *CephFSVolumeSource 14
  flocker *FlockerVolumeSource 15
  downwardAPI *DownwardAPIVolumeSource 16
  fc *FCVolumeSource 17
  azureFile *AzureFileVolumeSource 18
  configMap *ConfigMapVolumeSource 19
  vsphereVolume *VsphereVirtualDiskVolumeSource 20
  quobyte *QuobyteVolumeSource 21
  azureDisk *AzureDiskVolumeSource 22
  photonPersistentDisk *PhotonPersistentDiskVolumeSource 23
  projected *ProjectedVolumeSource 26
  portworxVolume *PortworxVolumeSource 24
  scaleIO *ScaleIOVolumeSource 25
  storageos *StorageOSVolumeSource 27
  csi *CSIVolumeSource 28
  ephemeral *EphemeralVolumeSource 29
  image *ImageVolumeSource 30

PersistentVolumeClaimVolumeSource
  claimName! string 1
  readOnly bool 2

PersistentVolumeSource
  gcePersistentDisk *GCEPersistentDiskVolumeSource 1
  awsElasticBlockStore *AWSElasticBlockStoreVolumeSource 2
  hostPath *HostPathVolumeSource 3
  glusterfs *GlusterfsPersistentVolumeSource 4
  nfs *NFSVolumeSource 5
  rbd *RBDPersistentVolumeSource 6
  iscsi *ISCSIPersistentVolumeSource 7
  cinder *CinderPersistentVolumeSource 8
  cephfs *CephFSPersistentVolumeSource 9
  fc *FCVolumeSource 10
  flocker *FlockerVolumeSource 11
  flexVolume *FlexPersistentVolumeSource 12
  azureFile *AzureFilePersistentVolumeSource 13
  vsphereVolume *VsphereVirtualDiskVolumeSource 14
  quobyte *QuobyteVolumeSource 15
  azureDisk *AzureDiskVolumeSource 16
  photonPersistentDisk *PhotonPersistentDiskVolumeSource 17
  portworxVolume *PortworxVolumeSource 18
  scaleIO *ScaleIOPersistentVolumeSource 19
  local *LocalVolumeSource 20
  storageos *StorageOSPersistentVolumeSource 21
  csi *CSIPersistentVolumeSource 22

PersistentVolume
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec PersistentVolumeSpec 2 gate=VolumeAttributesClass:volumeAttributesClassName
  status PersistentVolumeStatus 3

PersistentVolumeSpec
  capacity ResourceList 1
  ...PersistentVolumeSource 2
  accessModes []PersistentVolumeAccessMode 3 atomic
  claimRef *ObjectReference 4 granular
  persistentVolumeReclaimPolicy PersistentVolumeReclaimPolicy 5
  storageClassName string 6
  mountOptions []string 7 atomic
  volumeMode *PersistentVolumeMode 8
  nodeAffinity *VolumeNodeAffinity 9
  volumeAttributesClassName *string 10

VolumeNodeAffinity
  required *NodeSelector 1

PersistentVolumeStatus
  phase PersistentVolumePhase 1
  message string 2
  reason string 3
  lastPhaseTransitionTime *meta.Time 4

PersistentVolumeClaim
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec PersistentVolumeClaimSpec 2 gate=VolumeAttributesClass:volumeAttributesClassName
  status PersistentVolumeClaimStatus 3 gate=VolumeAttributesClass:currentVolumeAttributesClassName,modifyVolumeStatus

PersistentVolumeClaimSpec
  accessModes []PersistentVolumeAccessMode 1 atomic
  selector *meta.LabelSelector 4
  resources VolumeResourceRequirements 2
  volumeName string 3
  storageClassName *string 5
  volumeMode *PersistentVolumeMode 6
  dataSource *TypedLocalObjectReference 7
  dataSourceRef *TypedObjectReference 8
  volumeAttributesClassName *string 9

TypedObjectReference
  apiGroup+ *string 1
  kind! string 2
  name! string 3
  namespace *string 4

ModifyVolumeStatus
  targetVolumeAttributesClassName string 1
  status! PersistentVolumeClaimModifyVolumeStatus 2

PersistentVolumeClaimCondition
  type! PersistentVolumeClaimConditionType 1
  status! ConditionStatus 2
  lastProbeTime meta.Time 3
  lastTransitionTime meta.Time 4
  reason string 5
  message string 6

PersistentVolumeClaimStatus
  phase PersistentVolumeClaimPhase 1
  accessModes []PersistentVolumeAccessMode 2 atomic
  capacity ResourceList 3
  conditions []PersistentVolumeClaimCondition 4 map=type patch=merge key=type
  allocatedResources ResourceList 5 gate=RecoverVolumeExpansionFailure
  allocatedResourceStatuses map[ResourceName]ClaimResourceStatus 7 granular gate=RecoverVolumeExpansionFailure
  currentVolumeAttributesClassName *string 8
  modifyVolumeStatus *ModifyVolumeStatus 9

HostPathVolumeSource
  path! string 1
  type *HostPathType 2

EmptyDirVolumeSource
  medium StorageMedium 1
  sizeLimit *Quantity 2

GlusterfsVolumeSource
  endpoints! string 1
  path! string 2
  readOnly bool 3

GlusterfsPersistentVolumeSource
  endpoints! string 1
  path! string 2
  readOnly bool 3
  endpointsNamespace *string 4

RBDVolumeSource
  monitors! []string 1 atomic
  image! string 2
  fsType string 3
  pool string 4 default="rbd"
  user string 5 default="admin"
  keyring string 6 default="/etc/ceph/keyring"
  secretRef *LocalObjectReference 7
  readOnly bool 8

RBDPersistentVolumeSource
  monitors! []string 1 atomic
  image! string 2
  fsType string 3
  pool string 4 default="rbd"
  user string 5 default="admin"
  keyring string 6 default="/etc/ceph/keyring"
  secretRef *SecretReference 7
  readOnly bool 8

CinderVolumeSource
  volumeID! string 1
  fsType string 2
  readOnly bool 3
  secretRef *LocalObjectReference 4

CinderPersistentVolumeSource
  volumeID! string 1
  fsType string 2
  readOnly bool 3
  secretRef *SecretReference 4

CephFSVolumeSource
  monitors! []string 1 atomic
  path string 2
  user string 3
  secretFile string 4
  secretRef *LocalObjectReference 5
  readOnly bool 6

SecretReference atomic
  name string 1
  namespace string 2

CephFSPersistentVolumeSource
  monitors! []string 1 atomic
  path string 2
  user string 3
  secretFile string 4
  secretRef *SecretReference 5
  readOnly bool 6

FlockerVolumeSource
  datasetName string 1
  datasetUUID string 2

GCEPersistentDiskVolumeSource
  pdName! string 1
  fsType string 2
  partition int32 3
  readOnly bool 4

QuobyteVolumeSource
  registry! string 1
  volume! string 2
  readOnly bool 3
  user string 4
  group string 5
  tenant string 6

FlexPersistentVolumeSource
  driver! string 1
  fsType string 2
  secretRef *SecretReference 3
  readOnly bool 4
  options map[string]string 5

FlexVolumeSource
  driver! string 1
  fsType string 2
  secretRef *LocalObjectReference 3
  readOnly bool 4
  options map[string]string 5

AWSElasticBlockStoreVolumeSource
  volumeID! string 1
  fsType string 2
  partition int32 3
  readOnly bool 4

GitRepoVolumeSource
  repository! string 1
  revision string 2
  directory string 3

SecretVolumeSource
  secretName string 1
  items []KeyToPath 2 atomic
  defaultMode *int32 3
  optional *bool 4

SecretProjection
  ...LocalObjectReference 1
  items []KeyToPath 2 atomic
  optional *bool 4

NFSVolumeSource
  server! string 1
  path! string 2
  readOnly bool 3

ISCSIVolumeSource
  targetPortal! string 1
  iqn! string 2
  lun! int32 3
  iscsiInterface string 4 default="default"
  fsType string 5
  readOnly bool 6
  portals []string 7 atomic
  chapAuthDiscovery bool 8
  chapAuthSession bool 11
  secretRef *LocalObjectReference 10
  initiatorName *string 12

ISCSIPersistentVolumeSource
  targetPortal! string 1
  iqn! string 2
  lun! int32 3
  iscsiInterface string 4 default="default"
  fsType string 5
  readOnly bool 6
  portals []string 7 atomic
  chapAuthDiscovery bool 8
  chapAuthSession bool 11
  secretRef *SecretReference 10
  initiatorName *string 12

FCVolumeSource
  targetWWNs []string 1 atomic
  lun *int32 2
  fsType string 3
  readOnly bool 4
  wwids []string 5 atomic

AzureFileVolumeSource
  secretName! string 1
  shareName! string 2
  readOnly bool 3

AzureFilePersistentVolumeSource
  secretName! string 1
  shareName! string 2
  readOnly bool 3
  secretNamespace+ *string 4

VsphereVirtualDiskVolumeSource
  volumePath! string 1
  fsType string 2
  storagePolicyName string 3
  storagePolicyID string 4

PhotonPersistentDiskVolumeSource
  pdID! string 1
  fsType string 2

AzureDiskVolumeSource
  diskName! string 1
  diskURI! string 2
  cachingMode *AzureDataDiskCachingMode 3 default="ReadWrite"
  fsType *string 4 default="ext4"
  readOnly *bool 5
  kind *AzureDataDiskKind 6 default="Shared"

PortworxVolumeSource
  volumeID! string 1
  fsType string 2
  readOnly bool 3

ScaleIOVolumeSource
  gateway! string 1
  system! string 2
  secretRef! *LocalObjectReference 3
  sslEnabled bool 4
  protectionDomain string 5
  storagePool string 6
  storageMode string 7 default="ThinProvisioned"
  volumeName string 8
  fsType string 9 default="xfs"
  readOnly bool 10

ScaleIOPersistentVolumeSource
  gateway! string 1
  system! string 2
  secretRef! *SecretReference 3
  sslEnabled bool 4
  protectionDomain string 5
  storagePool string 6
  storageMode string 7 default="ThinProvisioned"
  volumeName string 8
  fsType string 9 default="xfs"
  readOnly bool 10

StorageOSVolumeSource
  volumeName string 1
  volumeNamespace string 2
  fsType string 3
  readOnly bool 4
  secretRef *LocalObjectReference 5

StorageOSPersistentVolumeSource
  volumeName string 1
  volumeNamespace string 2
  fsType string 3
  readOnly bool 4
  secretRef *ObjectReference 5

ConfigMapVolumeSource
  ...LocalObjectReference 1
  items []KeyToPath 2 atomic
  defaultMode *int32 3
  optional *bool 4

ConfigMapProjection
  ...LocalObjectReference 1
  items []KeyToPath 2 atomic
  optional *bool 4

ServiceAccountTokenProjection
  audience string 1
  expirationSeconds *int64 2
  path! string 3

ClusterTrustBundleProjection
  name *string 1
  signerName *string 2
  labelSelector *meta.LabelSelector 3
  optional *bool 5
  path! string 4

ProjectedVolumeSource
  sources+ []VolumeProjection 1 atomic
  defaultMode *int32 2

VolumeProjection
  secret *SecretProjection 1
  downwardAPI *DownwardAPIProjection 2
  configMap *ConfigMapProjection 3
  serviceAccountToken *ServiceAccountTokenProjection 4
  clusterTrustBundle *ClusterTrustBundleProjection 5 gate=ClusterTrustBundleProjection

KeyToPath
  key! string 1
  path! string 2
  mode *int32 3

LocalVolumeSource
  path! string 1
  fsType *string 2

CSIPersistentVolumeSource
  driver! string 1
  volumeHandle! string 2
  readOnly bool 3
  fsType string 4
  volumeAttributes map[string]string 5
  controllerPublishSecretRef *SecretReference 6
  nodeStageSecretRef *SecretReference 7
  nodePublishSecretRef *SecretReference 8
  controllerExpandSecretRef *SecretReference 9
  nodeExpandSecretRef *SecretReference 10

CSIVolumeSource
  driver! string 1
  readOnly *bool 2
  fsType *string 3
  volumeAttributes map[string]string 4
  nodePublishSecretRef *LocalObjectReference 5

EphemeralVolumeSource
  volumeClaimTemplate *PersistentVolumeClaimTemplate 1

PersistentVolumeClaimTemplate
  metadata meta.ObjectMeta 1
  spec! PersistentVolumeClaimSpec 2

ContainerPort
  name string 1
  hostPort int32 2
  containerPort! int32 3
  protocol Protocol 4 default="TCP"
  hostIP string 5

VolumeMount
  name! string 1
  readOnly bool 2
  recursiveReadOnly *RecursiveReadOnlyMode 7
  mountPath! string 3
  subPath string 4
  mountPropagation *MountPropagationMode 5
  subPathExpr string 6

VolumeDevice
  name! string 1
  devicePath! string 2

EnvVar
  name! string 1
  value string 2
  valueFrom *EnvVarSource 3

EnvVarSource
  fieldRef *ObjectFieldSelector 1
  resourceFieldRef *ResourceFieldSelector 2
  configMapKeyRef *ConfigMapKeySelector 3
  secretKeyRef *SecretKeySelector 4

ObjectFieldSelector atomic
  apiVersion string 1
  fieldPath! string 2

ResourceFieldSelector atomic
  containerName string 1
  resource! string 2
  divisor Quantity 3

ConfigMapKeySelector atomic
  ...LocalObjectReference 1
  key! string 2
  optional *bool 3

SecretKeySelector atomic
  ...LocalObjectReference 1
  key! string 2
  optional *bool 3

EnvFromSource
  prefix string 1
  configMapRef *ConfigMapEnvSource 2
  secretRef *SecretEnvSource 3

ConfigMapEnvSource
  ...LocalObjectReference 1
  optional *bool 2

SecretEnvSource
  ...LocalObjectReference 1
  optional *bool 2

HTTPHeader
  name! string 1
  value! string 2

HTTPGetAction
  path string 1
  port! IntOrString 2
  host string 3
  scheme URIScheme 4
  httpHeaders []HTTPHeader 5 atomic

TCPSocketAction
  port! IntOrString 1
  host string 2

GRPCAction
  port! int32 1
  service+ *string 2

ExecAction
  command []string 1 atomic

SleepAction
  seconds! int64 1

Probe
  ...ProbeHandler 1
  initialDelaySeconds int32 2
  timeoutSeconds int32 3
  periodSeconds int32 4
  successThreshold int32 5
  failureThreshold int32 6
  terminationGracePeriodSeconds *int64 7

ContainerResizePolicy
  resourceName! ResourceName 1
  restartPolicy! ResourceResizeRestartPolicy 2

Capabilities
  add []Capability 1 atomic
  drop []Capability 2 atomic

ResourceRequirements
  limits ResourceList 1
  requests ResourceList 2
  claims []ResourceClaim 3 map=name

VolumeResourceRequirements
  limits ResourceList 1
  requests ResourceList 2

ResourceClaim
  name! string 1
  request string 2

Container
  name! string 1
  image string 2
  command []string 3 atomic
  args []string 4 atomic
  workingDir string 5
  ports []ContainerPort 6 map=containerPort,protocol patch=merge key=containerPort
  envFrom []EnvFromSource 19 atomic
  env []EnvVar 7 map=name patch=merge key=name
  resources ResourceRequirements 8 gate=DynamicResourceAllocation:claims
  resizePolicy []ContainerResizePolicy 23 atomic gate=InPlacePodVerticalScaling
  restartPolicy *ContainerRestartPolicy 24
  volumeMounts []VolumeMount 9 map=mountPath patch=merge key=mountPath
  volumeDevices []VolumeDevice 21 map=devicePath patch=merge key=devicePath
  livenessProbe *Probe 10
  readinessProbe *Probe 11
  startupProbe *Probe 22
  lifecycle *Lifecycle 12 gate=ContainerStopSignals:stopSignal
  terminationMessagePath string 13
  terminationMessagePolicy TerminationMessagePolicy 20
  imagePullPolicy PullPolicy 14
  securityContext *SecurityContext 15
  stdin bool 16
  stdinOnce bool 17
  tty bool 18

ProbeHandler
  exec *ExecAction 1
  httpGet *HTTPGetAction 2
  tcpSocket *TCPSocketAction 3
  grpc *GRPCAction 4

LifecycleHandler
  exec *ExecAction 1
  httpGet *HTTPGetAction 2
  tcpSocket *TCPSocketAction 3
  sleep *SleepAction 4 gate=PodLifecycleSleepAction

Lifecycle
  postStart *LifecycleHandler 1
  preStop *LifecycleHandler 2
  stopSignal *Signal 3

ContainerStateWaiting
  reason string 1
  message string 2

ContainerStateRunning
  startedAt meta.Time 1

ContainerStateTerminated
  exitCode! int32 1
  signal int32 2
  reason string 3
  message string 4
  startedAt meta.Time 5
  finishedAt meta.Time 6
  containerID string 7

ContainerState
  waiting *ContainerStateWaiting 1
  running *ContainerStateRunning 2
  terminated *ContainerStateTerminated 3

ContainerStatus
  name! string 1
  state ContainerState 2
  lastState ContainerState 3
  ready! bool 4
  restartCount! int32 5
  image! string 6
  imageID! string 7
  containerID string 8
  started *bool 9
  allocatedResources ResourceList 10 gate=InPlacePodVerticalScaling
  resources *ResourceRequirements 11 gate=InPlacePodVerticalScaling
  volumeMounts []VolumeMountStatus 12 map=mountPath patch=merge key=mountPath
  user *ContainerUser 13 gate=SupplementalGroupsPolicy
  allocatedResourcesStatus []ResourceStatus 14 map=name patch=merge key=name gate=ResourceHealthStatus
  stopSignal *Signal 15

ResourceStatus
  name! ResourceName 1
  resources []ResourceHealth 2 map=resourceID

ResourceHealth
  resourceID! ResourceID 1
  health ResourceHealthStatus 2

ContainerUser
  linux *LinuxContainerUser 1

LinuxContainerUser
  uid! int64 1
  gid! int64 2
  supplementalGroups []int64 3 atomic

PodCondition
  type! PodConditionType 1
  observedGeneration int64 7 gate=PodObservedGenerationTracking
  status! ConditionStatus 2
  lastProbeTime meta.Time 3
  lastTransitionTime meta.Time 4
  reason string 5
  message string 6

VolumeMountStatus
  name! string 1
  mountPath! string 2
  readOnly bool 3
  recursiveReadOnly *RecursiveReadOnlyMode 4

NodeSelector atomic
  nodeSelectorTerms! []NodeSelectorTerm 1 atomic

NodeSelectorTerm atomic
  matchExpressions []NodeSelectorRequirement 1 atomic
  matchFields []NodeSelectorRequirement 2 atomic

NodeSelectorRequirement
  key! string 1
  operator! NodeSelectorOperator 2
  values []string 3 atomic

TopologySelectorTerm atomic
  matchLabelExpressions []TopologySelectorLabelRequirement 1 atomic

TopologySelectorLabelRequirement
  key! string 1
  values! []string 2 atomic

Affinity
  nodeAffinity *NodeAffinity 1
  podAffinity *PodAffinity 2
  podAntiAffinity *PodAntiAffinity 3

PodAffinity
  requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm 1 atomic
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm 2 atomic

PodAntiAffinity
  requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm 1 atomic
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm 2 atomic

WeightedPodAffinityTerm
  weight! int32 1
  podAffinityTerm! PodAffinityTerm 2

PodAffinityTerm
  labelSelector *meta.LabelSelector 1
  namespaces []string 2 atomic
  topologyKey! string 3
  namespaceSelector *meta.LabelSelector 4
  matchLabelKeys []string 5 atomic
  mismatchLabelKeys []string 6 atomic

NodeAffinity
  requiredDuringSchedulingIgnoredDuringExecution *NodeSelector 1
  preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm 2 atomic

PreferredSchedulingTerm
  weight! int32 1
  preference! NodeSelectorTerm 2

Taint
  key! string 1
  value string 2
  effect! TaintEffect 3
  timeAdded *meta.Time 4

Toleration
  key string 1
  operator TolerationOperator 2
  value string 3
  effect TaintEffect 4
  tolerationSeconds *int64 5

PodReadinessGate
  conditionType! PodConditionType 1

PodSpec
  volumes []Volume 1 map=name patch=merge,retainKeys key=name
  initContainers []Container 20 map=name patch=merge key=name
  containers! []Container 2 map=name patch=merge key=name
  ephemeralContainers []EphemeralContainer 34 map=name patch=merge key=name
  restartPolicy RestartPolicy 3
  terminationGracePeriodSeconds *int64 4
  activeDeadlineSeconds *int64 5
  dnsPolicy DNSPolicy 6
  nodeSelector map[string]string 7 atomic
  serviceAccountName string 8
  serviceAccount string 9
  automountServiceAccountToken *bool 21
  nodeName string 10
  hostNetwork bool 11
  hostPID bool 12
  hostIPC bool 13
  shareProcessNamespace *bool 27
  securityContext *PodSecurityContext 14
  imagePullSecrets []LocalObjectReference 15 map=name patch=merge key=name
  hostname string 16
  subdomain string 17
  affinity *Affinity 18
  schedulerName string 19
  tolerations []Toleration 22 atomic
  hostAliases []HostAlias 23 map=ip patch=merge key=ip
  priorityClassName string 24
  priority *int32 25
  dnsConfig *PodDNSConfig 26
  readinessGates []PodReadinessGate 28 atomic
  runtimeClassName *string 29
  enableServiceLinks *bool 30
  preemptionPolicy *PreemptionPolicy 31
  overhead ResourceList 32
  topologySpreadConstraints []TopologySpreadConstraint 33 map=topologyKey,whenUnsatisfiable patch=merge key=topologyKey
  setHostnameAsFQDN *bool 35
  os *PodOS 36
  hostUsers *bool 37 gate=UserNamespacesSupport
  schedulingGates []PodSchedulingGate 38 map=name patch=merge key=name
  resourceClaims []PodResourceClaim 39 map=name patch=merge,retainKeys key=name gate=DynamicResourceAllocation
  resources *ResourceRequirements 40 gate=PodLevelResources

PodResourceClaim
  name! string 1
  resourceClaimName *string 3
  resourceClaimTemplateName *string 4

PodResourceClaimStatus
  name! string 1
  resourceClaimName *string 2

PodOS
  name! OSName 1

PodSchedulingGate
  name! string 1

TopologySpreadConstraint
  maxSkew! int32 1
  topologyKey! string 2
  whenUnsatisfiable! UnsatisfiableConstraintAction 3
  labelSelector *meta.LabelSelector 4
  minDomains *int32 5
  nodeAffinityPolicy *NodeInclusionPolicy 6
  nodeTaintsPolicy *NodeInclusionPolicy 7
  matchLabelKeys []string 8 atomic gate=MatchLabelKeysInPodTopologySpread

HostAlias
  ip! string 1
  hostnames []string 2 atomic

PodSecurityContext
  seLinuxOptions *SELinuxOptions 1
  windowsOptions *WindowsSecurityContextOptions 8
  runAsUser *int64 2
  runAsGroup *int64 6
  runAsNonRoot *bool 3
  supplementalGroups []int64 4 atomic
  supplementalGroupsPolicy *SupplementalGroupsPolicy 12 gate=SupplementalGroupsPolicy
  fsGroup *int64 5
  sysctls []Sysctl 7 atomic
  fsGroupChangePolicy *PodFSGroupChangePolicy 9
  seccompProfile *SeccompProfile 10
  appArmorProfile *AppArmorProfile 11
  seLinuxChangePolicy *PodSELinuxChangePolicy 13 gate=SELinuxChangePolicy

SeccompProfile unions=[{"discriminator":"type","fields-to-discriminateBy":{"localhostProfile":"LocalhostProfile"}}]
  type! SeccompProfileType 1
  localhostProfile *string 2

AppArmorProfile unions=[{"discriminator":"type","fields-to-discriminateBy":{"localhostProfile":"LocalhostProfile"}}]
  type! AppArmorProfileType 1
  localhostProfile *string 2

PodDNSConfig
  nameservers []string 1 atomic
  searches []string 2 atomic
  options []PodDNSConfigOption 3 atomic

PodDNSConfigOption
  name string 1
  value *string 2

PodIP
  ip! string 1

HostIP
  ip! string 1

EphemeralContainerCommon
  name! string 1
  image string 2
  command []string 3 atomic
  args []string 4 atomic
  workingDir string 5
  ports []ContainerPort 6 map=containerPort,protocol patch=merge key=containerPort
  envFrom []EnvFromSource 19 atomic
  env []EnvVar 7 map=name patch=merge key=name
  resources ResourceRequirements 8 gate=DynamicResourceAllocation:claims
  resizePolicy []ContainerResizePolicy 23 atomic gate=InPlacePodVerticalScaling
  restartPolicy *ContainerRestartPolicy 24
  volumeMounts []VolumeMount 9 map=mountPath patch=merge key=mountPath
  volumeDevices []VolumeDevice 21 map=devicePath patch=merge key=devicePath
  livenessProbe *Probe 10
  readinessProbe *Probe 11
  startupProbe *Probe 22
  lifecycle *Lifecycle 12 gate=ContainerStopSignals:stopSignal
  terminationMessagePath string 13
  terminationMessagePolicy TerminationMessagePolicy 20
  imagePullPolicy PullPolicy 14
  securityContext *SecurityContext 15
  stdin bool 16
  stdinOnce bool 17
  tty bool 18

EphemeralContainer
  ...EphemeralContainerCommon 1
  targetContainerName string 2

PodStatus
  observedGeneration int64 17 gate=PodObservedGenerationTracking
  phase PodPhase 1
  conditions []PodCondition 2 map=type patch=merge key=type
  message string 3
  reason string 4
  nominatedNodeName string 11
  hostIP string 5
  hostIPs []HostIP 16 atomic patch=merge key=ip
  podIP string 6
  podIPs []PodIP 12 map=ip patch=merge key=ip
  startTime *meta.Time 7
  initContainerStatuses []ContainerStatus 10 atomic
  containerStatuses []ContainerStatus 8 atomic
  qosClass PodQOSClass 9
  ephemeralContainerStatuses []ContainerStatus 13 atomic
  resize PodResizeStatus 14
  resourceClaimStatuses []PodResourceClaimStatus 15 map=name patch=merge,retainKeys key=name gate=DynamicResourceAllocation

Pod
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec PodSpec 2
  status PodStatus 3

PodTemplateSpec
  metadata meta.ObjectMeta 1
  spec PodSpec 2

PodTemplate
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  template PodTemplateSpec 2

ReplicationControllerSpec
  replicas *int32 1 default=1
  minReadySeconds int32 4
  selector map[string]string 2 atomic
  template *PodTemplateSpec 3

ReplicationControllerStatus
  replicas! int32 1
  fullyLabeledReplicas int32 2
  readyReplicas int32 4
  availableReplicas int32 5
  observedGeneration int64 3
  conditions []ReplicationControllerCondition 6 map=type patch=merge key=type

ReplicationControllerCondition
  type! ReplicationControllerConditionType 1
  status! ConditionStatus 2
  lastTransitionTime meta.Time 3
  reason string 4
  message string 5

ReplicationController
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec ReplicationControllerSpec 2
  status ReplicationControllerStatus 3

SessionAffinityConfig
  clientIP *ClientIPConfig 1

ClientIPConfig
  timeoutSeconds *int32 1

ServiceStatus
  loadBalancer LoadBalancerStatus 1
  conditions []meta.Condition 2 map=type patch=merge key=type

LoadBalancerStatus
  ingress []LoadBalancerIngress 1 atomic

LoadBalancerIngress
  ip string 1
  hostname string 2
  ipMode *LoadBalancerIPMode 3 gate=LoadBalancerIPMode
  ports []PortStatus 4 atomic

ServiceSpec
  ports []ServicePort 1 map=port,protocol patch=merge key=port
  selector map[string]string 2 atomic
  clusterIP string 3
  clusterIPs []string 18 atomic
  type ServiceType 4
  externalIPs []string 5 atomic
  sessionAffinity ServiceAffinity 7
  loadBalancerIP string 8
  loadBalancerSourceRanges []string 9 atomic
  externalName string 10
  externalTrafficPolicy ServiceExternalTrafficPolicy 11
  healthCheckNodePort int32 12
  publishNotReadyAddresses bool 13
  sessionAffinityConfig *SessionAffinityConfig 14
  ipFamilies []IPFamily 19 atomic
  ipFamilyPolicy *IPFamilyPolicy 17
  allocateLoadBalancerNodePorts *bool 20
  loadBalancerClass *string 21
  internalTrafficPolicy *ServiceInternalTrafficPolicy 22
  trafficDistribution *string 23 gate=ServiceTrafficDistribution

ServicePort
  name string 1
  protocol Protocol 2 default="TCP"
  appProtocol *string 6
  port! int32 3
  targetPort IntOrString 4
  nodePort int32 5

Service
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec ServiceSpec 2
  status ServiceStatus 3

ServiceAccount
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  secrets []ObjectReference 2 map=name patch=merge key=name
  imagePullSecrets []LocalObjectReference 3 atomic
  automountServiceAccountToken *bool 4

Endpoints
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  subsets []EndpointSubset 2 atomic

EndpointSubset
  addresses []EndpointAddress 1 atomic
  notReadyAddresses []EndpointAddress 2 atomic
  ports []EndpointPort 3 atomic

EndpointAddress atomic
  ip! string 1
  hostname string 3
  nodeName *string 4
  targetRef *ObjectReference 2

EndpointPort atomic
  name string 1
  port! int32 2
  protocol Protocol 3
  appProtocol *string 4

NodeSpec
  podCIDR string 1
  podCIDRs []string 7 set patch=merge
  providerID string 3
  unschedulable bool 4
  taints []Taint 5 atomic
  configSource *NodeConfigSource 6 gate=DynamicKubeletConfig
  externalID string 2

NodeConfigSource
  configMap *ConfigMapNodeConfigSource 2

ConfigMapNodeConfigSource
  namespace! string 1
  name! string 2
  uid UID 3
  resourceVersion string 4
  kubeletConfigKey! string 5

DaemonEndpoint
  Port! int32 1

NodeDaemonEndpoints
  kubeletEndpoint DaemonEndpoint 1

NodeRuntimeHandlerFeatures
  recursiveReadOnlyMounts *bool 1
  userNamespaces *bool 2

NodeRuntimeHandler
  name+ string 1
  features *NodeRuntimeHandlerFeatures 2

NodeFeatures
  supplementalGroupsPolicy *bool 1

NodeSystemInfo
  machineID! string 1
  systemUUID! string 2
  bootID! string 3
  kernelVersion! string 4
  osImage! string 5
  containerRuntimeVersion! string 6
  kubeletVersion! string 7
  kubeProxyVersion! string 8
  operatingSystem! string 9
  architecture! string 10
  swap *NodeSwapStatus 11

NodeSwapStatus
  capacity *int64 1

NodeConfigStatus
  assigned *NodeConfigSource 1
  active *NodeConfigSource 2
  lastKnownGood *NodeConfigSource 3
  error string 4

NodeStatus
  capacity ResourceList 1
  allocatable ResourceList 2
  phase NodePhase 3
  conditions []NodeCondition 4 map=type patch=merge key=type
  addresses []NodeAddress 5 map=type patch=merge key=type
  daemonEndpoints NodeDaemonEndpoints 6
  nodeInfo NodeSystemInfo 7
  images []ContainerImage 8 atomic
  volumesInUse []UniqueVolumeName 9 atomic
  volumesAttached []AttachedVolume 10 atomic
  config *NodeConfigStatus 11 gate=DynamicKubeletConfig
  runtimeHandlers []NodeRuntimeHandler 12 atomic
  features *NodeFeatures 13

AttachedVolume
  name! UniqueVolumeName 1
  devicePath! string 2

ContainerImage
  names+ []string 1 atomic
  sizeBytes int64 2

NodeCondition
  type! NodeConditionType 1
  status! ConditionStatus 2
  lastHeartbeatTime meta.Time 3
  lastTransitionTime meta.Time 4
  reason string 5
  message string 6

NodeAddress
  type! NodeAddressType 1
  address! string 2

Node
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec NodeSpec 2
  status NodeStatus 3

NamespaceSpec
  finalizers []FinalizerName 1 atomic

NamespaceStatus
  phase NamespacePhase 1
  conditions []NamespaceCondition 2 map=type patch=merge key=type

NamespaceCondition
  type! NamespaceConditionType 1
  status! ConditionStatus 2
  lastTransitionTime meta.Time 4
  reason string 5
  message string 6

Namespace
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec NamespaceSpec 2
  status NamespaceStatus 3

Binding
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  target! ObjectReference 2

ObjectReference atomic
  kind string 1
  namespace string 2
  name string 3
  uid UID 4
  apiVersion string 5
  resourceVersion string 6
  fieldPath string 7

LocalObjectReference atomic
  name string 1

TypedLocalObjectReference atomic
  apiGroup+ *string 1
  kind! string 2
  name! string 3

EventSource
  component string 1
  host string 2

Event
  ...meta.TypeMeta
  metadata! meta.ObjectMeta 1
  involvedObject! ObjectReference 2
  reason string 3
  message string 4
  source EventSource 5
  firstTimestamp meta.Time 6
  lastTimestamp meta.Time 7
  count int32 8
  type string 9
  eventTime meta.MicroTime 10
  series *EventSeries 11
  action string 12
  related *ObjectReference 13
  reportingComponent+ string 14
  reportingInstance+ string 15

EventSeries
  count int32 1
  lastObservedTime meta.MicroTime 2

LimitRangeItem
  type! LimitType 1
  max ResourceList 2
  min ResourceList 3
  default ResourceList 4
  defaultRequest ResourceList 5
  maxLimitRequestRatio ResourceList 6

LimitRangeSpec
  limits! []LimitRangeItem 1 atomic

LimitRange
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec LimitRangeSpec 2

ResourceQuotaSpec
  hard ResourceList 1
  scopes []ResourceQuotaScope 2 atomic
  scopeSelector *ScopeSelector 3

ScopeSelector atomic
  matchExpressions []ScopedResourceSelectorRequirement 1 atomic

ScopedResourceSelectorRequirement
  scopeName! ResourceQuotaScope 1
  operator! ScopeSelectorOperator 2
  values []string 3 atomic

ResourceQuotaStatus
  hard ResourceList 1
  used ResourceList 2

ResourceQuota
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec ResourceQuotaSpec 2
  status ResourceQuotaStatus 3

Secret
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  immutable *bool 5
  data map[string][]byte 2
  stringData map[string]string 4
  type SecretType 3

ConfigMap
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  immutable *bool 4
  data map[string]string 2
  binaryData map[string][]byte 3

ComponentCondition
  type! ComponentConditionType 1
  status! ConditionStatus 2
  message string 3
  error string 4

ComponentStatus
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  conditions []ComponentCondition 2 map=type patch=merge key=type

DownwardAPIVolumeSource
  items []DownwardAPIVolumeFile 1 atomic
  defaultMode *int32 2

DownwardAPIVolumeFile
  path! string 1
  fieldRef *ObjectFieldSelector 2
  resourceFieldRef *ResourceFieldSelector 3
  mode *int32 4

DownwardAPIProjection
  items []DownwardAPIVolumeFile 1 atomic

SecurityContext
  capabilities *Capabilities 1
  privileged *bool 2
  seLinuxOptions *SELinuxOptions 3
  windowsOptions *WindowsSecurityContextOptions 10
  runAsUser *int64 4
  runAsGroup *int64 8
  runAsNonRoot *bool 5
  readOnlyRootFilesystem *bool 6
  allowPrivilegeEscalation *bool 7
  procMount *ProcMountType 9 gate=ProcMountType
  seccompProfile *SeccompProfile 11
  appArmorProfile *AppArmorProfile 12

SELinuxOptions
  user string 1
  role string 2
  type string 3
  level string 4

WindowsSecurityContextOptions
  gmsaCredentialSpecName *string 1
  gmsaCredentialSpec *string 2
  runAsUserName *string 3
  hostProcess *bool 4

Sysctl
  name! string 1
  value! string 2

PortStatus
  port! int32 1
  protocol! Protocol 2
  error *string 3

ImageVolumeSource
  reference string 1
  pullPolicy PullPolicy 2
`

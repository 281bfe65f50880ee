/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const resourceTypes = `
package resource/v1alpha3

QualifiedName = string
FullyQualifiedName = string
DeviceTaintEffect = string: NoExecute|NoSchedule
DeviceAllocationMode = string
DeviceTolerationOperator = string: Equal|Exists
AllocationConfigSource = string

ResourceSlice
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! ResourceSliceSpec 2

ResourceSliceSpec
  driver! string 1
  pool! ResourcePool 2
  nodeName string 3
  nodeSelector *core.NodeSelector 4
  allNodes bool 5
  devices+ []Device 6 atomic
  perDeviceNodeSelection *bool 7 gate=DRAPartitionableDevices
  sharedCounters []CounterSet 8 atomic gate=DRAPartitionableDevices

CounterSet
  name! string 1
  counters* map[string]Counter 2

Counter
  value! Quantity 1

ResourcePool
  name! string 1
  generation! int64 2
  resourceSliceCount! int64 3

Device
  name! string 1
  basic *BasicDevice 2

BasicDevice
  attributes map[QualifiedName]DeviceAttribute 1
  capacity map[QualifiedName]Quantity 2
  consumesCounters []DeviceCounterConsumption 3 atomic gate=DRAPartitionableDevices
  nodeName *string 4 gate=DRAPartitionableDevices
  nodeSelector *core.NodeSelector 5 gate=DRAPartitionableDevices
  allNodes *bool 6 gate=DRAPartitionableDevices
  taints []DeviceTaint 7 atomic gate=DRADeviceTaints

DeviceCounterConsumption
  counterSet! string 1
  counters* map[string]Counter 2

DeviceAttribute
  int *int64 2
  bool *bool 3
  string *string 4
  version *string 5

DeviceTaint
  key! string 1
  value string 2
  effect! DeviceTaintEffect 3
  timeAdded *meta.Time 4

ResourceClaim
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! ResourceClaimSpec 2
  status ResourceClaimStatus 3

ResourceClaimSpec
  devices+ DeviceClaim 1

DeviceClaim
  requests+ []DeviceRequest 1 atomic
  constraints []DeviceConstraint 2 atomic
  config []DeviceClaimConfiguration 3 atomic

DeviceRequest
  name! string 1
  deviceClassName+ string 2
  selectors []DeviceSelector 3 atomic
  allocationMode DeviceAllocationMode 4
  count int64 5
  adminAccess *bool 6 gate=DRAAdminAccess
  firstAvailable []DeviceSubRequest 7 atomic gate=DRAPrioritizedList
  tolerations []DeviceToleration 8 atomic

DeviceSubRequest
  name! string 1
  deviceClassName! string 2
  selectors []DeviceSelector 3 atomic
  allocationMode DeviceAllocationMode 4
  count int64 5
  tolerations []DeviceToleration 7 atomic

DeviceSelector
  cel *CELDeviceSelector 1

CELDeviceSelector
  expression! string 1

DeviceConstraint
  requests []string 1 atomic
  matchAttribute *FullyQualifiedName 2

DeviceClaimConfiguration
  requests []string 1 atomic
  ...DeviceConfiguration 2

DeviceConfiguration
  opaque *OpaqueDeviceConfiguration 1

OpaqueDeviceConfiguration
  driver! string 1
  parameters! RawExtension 2

DeviceToleration
  key string 1
  operator DeviceTolerationOperator 2 default="Equal"
  value string 3
  effect DeviceTaintEffect 4
  tolerationSeconds *int64 5

ResourceClaimStatus
  allocation *AllocationResult 1
  reservedFor []ResourceClaimConsumerReference 2 map=uid patch=merge key=uid
  devices []AllocatedDeviceStatus 4 map=driver,device,pool gate=DRAResourceClaimDeviceStatus

ResourceClaimConsumerReference
  apiGroup string 1
  resource! string 3
  name! string 4
  uid! UID 5

AllocationResult
  devices DeviceAllocationResult 1
  nodeSelector *core.NodeSelector 3

DeviceAllocationResult
  results []DeviceRequestAllocationResult 1 atomic
  config []DeviceAllocationConfiguration 2 atomic

DeviceRequestAllocationResult
  request! string 1
  driver! string 2
  pool! string 3
  device! string 4
  adminAccess+ *bool 5 gate=DRAAdminAccess
  tolerations []DeviceToleration 6 atomic

DeviceAllocationConfiguration
  source! AllocationConfigSource 1
  requests []string 2 atomic
  ...DeviceConfiguration 3

DeviceClass
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! DeviceClassSpec 2

DeviceClassSpec
  selectors []DeviceSelector 1 atomic
  config []DeviceClassConfiguration 2 atomic

DeviceClassConfiguration
  ...DeviceConfiguration 1

ResourceClaimTemplate
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! ResourceClaimTemplateSpec 2

ResourceClaimTemplateSpec
  metadata meta.ObjectMeta 1
  spec! ResourceClaimSpec 2

AllocatedDeviceStatus
  driver! string 1
  pool! string 2
  device! string 3
  conditions+ []meta.Condition 4 map=type
  data *RawExtension 5
  networkData *NetworkDeviceData 6

NetworkDeviceData
  interfaceName string 1
  ips []string 2 atomic
  hardwareAddress string 3

DeviceTaintRule
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! DeviceTaintRuleSpec 2

DeviceTaintRuleSpec
  deviceSelector *DeviceTaintSelector 1
  taint* DeviceTaint 2

DeviceTaintSelector
  deviceClassName *string 1
  driver *string 2
  pool *string 3
  device *string 4
  selectors []DeviceSelector 5 atomic

package resource/v1beta1

QualifiedName = string
FullyQualifiedName = string
DeviceTaintEffect = string: NoExecute|NoSchedule
DeviceAllocationMode = string
DeviceTolerationOperator = string: Equal|Exists
AllocationConfigSource = string

ResourceSlice
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! ResourceSliceSpec 2

ResourceSliceSpec
  driver! string 1
  pool! ResourcePool 2
  nodeName string 3
  nodeSelector *core.NodeSelector 4
  allNodes bool 5
  devices+ []Device 6 atomic
  perDeviceNodeSelection *bool 7 gate=DRAPartitionableDevices
  sharedCounters []CounterSet 8 atomic gate=DRAPartitionableDevices

CounterSet
  name! string 1
  counters* map[string]Counter 2

Counter
  value! Quantity 1

ResourcePool
  name! string 1
  generation! int64 2
  resourceSliceCount! int64 3

Device
  name! string 1
  basic *BasicDevice 2

BasicDevice
  attributes map[QualifiedName]DeviceAttribute 1
  capacity map[QualifiedName]DeviceCapacity 2
  consumesCounters []DeviceCounterConsumption 3 atomic gate=DRAPartitionableDevices
  nodeName *string 4 gate=DRAPartitionableDevices
  nodeSelector *core.NodeSelector 5 gate=DRAPartitionableDevices
  allNodes *bool 6 gate=DRAPartitionableDevices
  taints []DeviceTaint 7 atomic gate=DRADeviceTaints

DeviceCounterConsumption
  counterSet! string 1
  counters* map[string]Counter 2

DeviceCapacity
  value! Quantity 1

DeviceAttribute
  int *int64 2
  bool *bool 3
  string *string 4
  version *string 5

DeviceTaint
  key! string 1
  value string 2
  effect! DeviceTaintEffect 3
  timeAdded *meta.Time 4

ResourceClaim
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! ResourceClaimSpec 2
  status ResourceClaimStatus 3

ResourceClaimSpec
  devices+ DeviceClaim 1

DeviceClaim
  requests+ []DeviceRequest 1 atomic
  constraints []DeviceConstraint 2 atomic
  config []DeviceClaimConfiguration 3 atomic

DeviceRequest
  name! string 1
  deviceClassName+ string 2
  selectors []DeviceSelector 3 atomic
  allocationMode DeviceAllocationMode 4
  count int64 5
  adminAccess *bool 6 gate=DRAAdminAccess
  firstAvailable []DeviceSubRequest 7 atomic gate=DRAPrioritizedList
  tolerations []DeviceToleration 8 atomic

DeviceSubRequest
  name! string 1
  deviceClassName! string 2
  selectors []DeviceSelector 3 atomic
  allocationMode DeviceAllocationMode 4
  count int64 5
  tolerations []DeviceToleration 7 atomic

DeviceSelector
  cel *CELDeviceSelector 1

CELDeviceSelector
  expression! string 1

DeviceConstraint
  requests []string 1 atomic
  matchAttribute *FullyQualifiedName 2

DeviceClaimConfiguration
  requests []string 1 atomic
  ...DeviceConfiguration 2

DeviceConfiguration
  opaque *OpaqueDeviceConfiguration 1

OpaqueDeviceConfiguration
  driver! string 1
  parameters! RawExtension 2

DeviceToleration
  key string 1
  operator DeviceTolerationOperator 2 default="Equal"
  value string 3
  effect DeviceTaintEffect 4
  tolerationSeconds *int64 5

ResourceClaimStatus
  allocation *AllocationResult 1
  reservedFor []ResourceClaimConsumerReference 2 map=uid patch=merge key=uid
  devices []AllocatedDeviceStatus 4 map=driver,device,pool gate=DRAResourceClaimDeviceStatus

ResourceClaimConsumerReference
  apiGroup string 1
  resource! string 3
  name! string 4
  uid! UID 5

AllocationResult
  devices DeviceAllocationResult 1
  nodeSelector *core.NodeSelector 3

DeviceAllocationResult
  results []DeviceRequestAllocationResult 1 atomic
  config []DeviceAllocationConfiguration 2 atomic

DeviceRequestAllocationResult
  request! string 1
  driver! string 2
  pool! string 3
  device! string 4
  adminAccess+ *bool 5 gate=DRAAdminAccess
  tolerations []DeviceToleration 6 atomic

DeviceAllocationConfiguration
  source! AllocationConfigSource 1
  requests []string 2 atomic
  ...DeviceConfiguration 3

DeviceClass
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! DeviceClassSpec 2

DeviceClassSpec
  selectors []DeviceSelector 1 atomic
  config []DeviceClassConfiguration 2 atomic

DeviceClassConfiguration
  ...DeviceConfiguration 1

ResourceClaimTemplate
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! ResourceClaimTemplateSpec 2

ResourceClaimTemplateSpec
  metadata meta.ObjectMeta 1
  spec! ResourceClaimSpec 2

AllocatedDeviceStatus
  driver! string 1
  pool! string 2
  device! string 3
  conditions+ []meta.Condition 4 map=type
  data *RawExtension 5
  networkData *NetworkDeviceData 6

NetworkDeviceData
  interfaceName string 1
  ips []string 2 atomic
  hardwareAddress string 3

package resource/v1beta2

QualifiedName = string
FullyQualifiedName = string
DeviceTaintEffect = string: NoExecute|NoSchedule
DeviceAllocationMode = string
DeviceTolerationOperator = string: Equal|Exists
AllocationConfigSource = string

ResourceSlice
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! ResourceSliceSpec 2

ResourceSliceSpec
  driver! string 1
  pool! ResourcePool 2
  nodeName *string 3
  nodeSelector *core.NodeSelector 4
  allNodes *bool 5
  devices+ []Device 6 atomic
  perDeviceNodeSelection *bool 7 gate=DRAPartitionableDevices
  sharedCounters []CounterSet 8 atomic gate=DRAPartitionableDevices

CounterSet
  name! string 1
  counters* map[string]Counter 2

ResourcePool
  name! string 1
  generation! int64 2
  resourceSliceCount! int64 3

Device
  name! string 1
  attributes map[QualifiedName]DeviceAttribute 2
  capacity map[QualifiedName]DeviceCapacity 3
  consumesCounters []DeviceCounterConsumption 4 atomic gate=DRAPartitionableDevices
  nodeName *string 5 gate=DRAPartitionableDevices
  nodeSelector *core.NodeSelector 6 gate=DRAPartitionableDevices
  allNodes *bool 7 gate=DRAPartitionableDevices
  taints []DeviceTaint 8 atomic gate=DRADeviceTaints

DeviceCounterConsumption
  counterSet! string 1
  counters* map[string]Counter 2

DeviceCapacity
  value! Quantity 1

Counter
  value! Quantity 1

DeviceAttribute
  int *int64 2
  bool *bool 3
  string *string 4
  version *string 5

DeviceTaint
  key! string 1
  value string 2
  effect! DeviceTaintEffect 3
  timeAdded *meta.Time 4

ResourceClaim
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! ResourceClaimSpec 2
  status ResourceClaimStatus 3

ResourceClaimSpec
  devices+ DeviceClaim 1

DeviceClaim
  requests+ []DeviceRequest 1 atomic
  constraints []DeviceConstraint 2 atomic
  config []DeviceClaimConfiguration 3 atomic

DeviceRequest
  name! string 1
  exactly *ExactDeviceRequest 2
  firstAvailable []DeviceSubRequest 3 atomic gate=DRAPrioritizedList

ExactDeviceRequest
  deviceClassName! string 1
  selectors []DeviceSelector 2 atomic
  allocationMode DeviceAllocationMode 3
  count int64 4
  adminAccess *bool 5 gate=DRAAdminAccess
  tolerations []DeviceToleration 6 atomic

DeviceSubRequest
  name! string 1
  deviceClassName! string 2
  selectors []DeviceSelector 3 atomic
  allocationMode DeviceAllocationMode 4
  count int64 5
  tolerations []DeviceToleration 6 atomic

DeviceSelector
  cel *CELDeviceSelector 1

CELDeviceSelector
  expression! string 1

DeviceConstraint
  requests []string 1 atomic
  matchAttribute *FullyQualifiedName 2

DeviceClaimConfiguration
  requests []string 1 atomic
  ...DeviceConfiguration 2

DeviceConfiguration
  opaque *OpaqueDeviceConfiguration 1

OpaqueDeviceConfiguration
  driver! string 1
  parameters! RawExtension 2

DeviceToleration
  key string 1
  operator DeviceTolerationOperator 2 default="Equal"
  value string 3
  effect DeviceTaintEffect 4
  tolerationSeconds *int64 5

ResourceClaimStatus
  allocation *AllocationResult 1
  reservedFor []ResourceClaimConsumerReference 2 map=uid patch=merge key=uid
  devices []AllocatedDeviceStatus 4 map=driver,device,pool gate=DRAResourceClaimDeviceStatus

ResourceClaimConsumerReference
  apiGroup string 1
  resource! string 3
  name! string 4
  uid! UID 5

AllocationResult
  devices DeviceAllocationResult 1
  nodeSelector *core.NodeSelector 3

DeviceAllocationResult
  results []DeviceRequestAllocationResult 1 atomic
  config []DeviceAllocationConfiguration 2 atomic

DeviceRequestAllocationResult
  request! string 1
  driver! string 2
  pool! string 3
  device! string 4
  adminAccess+ *bool 5 gate=DRAAdminAccess
  tolerations []DeviceToleration 6 atomic

DeviceAllocationConfiguration
  source! AllocationConfigSource 1
  requests []string 2 atomic
  ...DeviceConfiguration 3

DeviceClass
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! DeviceClassSpec 2

DeviceClassSpec
  selectors []DeviceSelector 1 atomic
  config []DeviceClassConfiguration 2 atomic

DeviceClassConfiguration
  ...DeviceConfiguration 1

ResourceClaimTemplate
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! ResourceClaimTemplateSpec 2

ResourceClaimTemplateSpec
  metadata meta.ObjectMeta 1
  spec! ResourceClaimSpec 2

AllocatedDeviceStatus
  driver! string 1
  pool! string 2
  device! string 3
  conditions+ []meta.Condition 4 map=type
  data *RawExtension 5
  networkData *NetworkDeviceData 6

NetworkDeviceData
  interfaceName string 1
  ips []string 2 atomic
  hardwareAddress string 3
`

/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const storageTypes = `
package storage/v1

VolumeBindingMode = string: Immediate|WaitForFirstConsumer
FSGroupPolicy = string
VolumeLifecycleMode = string

StorageClass
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  provisioner! string 2
  parameters map[string]string 3
  reclaimPolicy *core.PersistentVolumeReclaimPolicy 4
  mountOptions []string 5 atomic
  allowVolumeExpansion *bool 6
  volumeBindingMode *VolumeBindingMode 7
  allowedTopologies []core.TopologySelectorTerm 8 atomic

VolumeAttachment
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! VolumeAttachmentSpec 2
  status VolumeAttachmentStatus 3

VolumeAttachmentSpec
  attacher! string 1
  source! VolumeAttachmentSource 2
  nodeName! string 3

VolumeAttachmentSource
  persistentVolumeName *string 1
  inlineVolumeSpec *core.PersistentVolumeSpec 2

VolumeAttachmentStatus
  attached! bool 1
  attachmentMetadata map[string]string 2
  attachError *VolumeError 3 gate=MutableCSINodeAllocatableCount:errorCode
  detachError *VolumeError 4 gate=MutableCSINodeAllocatableCount:errorCode

VolumeError
  time meta.Time 1
  message string 2
  errorCode *int32 3

CSIDriver
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! CSIDriverSpec 2

CSIDriverSpec
  attachRequired *bool 1
  podInfoOnMount *bool 2
  volumeLifecycleModes []VolumeLifecycleMode 3 set
  storageCapacity *bool 4
  fsGroupPolicy *FSGroupPolicy 5
  tokenRequests []TokenRequest 6 atomic
  requiresRepublish *bool 7
  seLinuxMount *bool 8 gate=SELinuxMountReadWriteOncePod
  nodeAllocatableUpdatePeriodSeconds *int64 9 gate=MutableCSINodeAllocatableCount

TokenRequest
  audience! string 1
  expirationSeconds *int64 2

CSINode
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! CSINodeSpec 2

CSINodeSpec
  drivers! []CSINodeDriver 1 map=name patch=merge key=name

CSINodeDriver
  name! string 1
  nodeID! string 2
  topologyKeys+ []string 3 atomic
  allocatable *VolumeNodeResources 4

VolumeNodeResources
  count *int32 1

CSIStorageCapacity
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  nodeTopology *meta.LabelSelector 2
  storageClassName! string 3
  capacity *Quantity 4
  maximumVolumeSize *Quantity 5

package storage/v1alpha1

VolumeAttributesClass
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  driverName! string 2
  parameters map[string]string 3

package storage/v1beta1

VolumeAttributesClass
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  driverName! string 2
  parameters map[string]string 3
`

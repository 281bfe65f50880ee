/**
 * Rules of the kinds in this API group. Each key is a kind in the form used in error messages, such
 * as `Deployment.apps`. If the rules differ between API versions, the key ends with the version.
 */
import type { KindRules } from '../../kind-rules.ts'
import { csiDriverRules } from './csi-driver.ts'
import { csiNodeRules } from './csi-node.ts'
import { csiStorageCapacityRules } from './csi-storage-capacity.ts'
import { storageClassRules } from './storage-class.ts'
import { volumeAttachmentRules } from './volume-attachment.ts'
import { volumeAttributesClassRules } from './volume-attributes-class.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['CSIDriver.storage.k8s.io', csiDriverRules],
  ['CSINode.storage.k8s.io', csiNodeRules],
  ['CSIStorageCapacity.storage.k8s.io', csiStorageCapacityRules],
  ['StorageClass.storage.k8s.io', storageClassRules],
  ['VolumeAttachment.storage.k8s.io', volumeAttachmentRules],
  ['VolumeAttributesClass.storage.k8s.io', volumeAttributesClassRules],
]

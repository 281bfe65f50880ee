/**
 * Defaults of this group's types wherever they occur, in addition to those that OpenAPI publishes.
 */
import type { TypeDefaults } from '../../../objects/schema/schema.ts'

/** Defaults by package and type name. `set` runs after the fixed values are set. */
export const typeDefaults: readonly (readonly [string, TypeDefaults])[] = [
  [
    'storage/v1 StorageClass',
    { fields: { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' } },
  ],
  [
    'storage/v1 CSIDriverSpec',
    {
      fields: {
        attachRequired: true,
        podInfoOnMount: false,
        storageCapacity: false,
        fsGroupPolicy: 'ReadWriteOnceWithFSType',
        volumeLifecycleModes: ['Persistent'],
        requiresRepublish: false,
        seLinuxMount: false,
      },
    },
  ],
]

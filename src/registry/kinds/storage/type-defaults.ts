/** What types of this group get wherever they occur, besides the published defaults. */
import type { TypeDefaults } from '../../../schema/schema.ts'

/** By package and name. `set` sees what the fixed values have filled in. */
export const typeDefaults: readonly (readonly [string, TypeDefaults])[] = [
  ['storage/v1 StorageClass', { fields: { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' } }],
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

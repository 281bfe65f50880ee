/**
 * Adds a finalizer to new PersistentVolumes, PersistentVolumeClaims and VolumeAttributesClasses. A
 * controller removes the finalizer when the object is no longer in use.
 */
import type { Gates } from '../api/gates.ts'
import { type Plugin, targetOf } from './admission.ts'

const finalizers: ReadonlyMap<string, string> = new Map([
  ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
  ['persistentvolumes', 'kubernetes.io/pv-protection'],
])

const ofClasses: readonly [string, string] = [
  'volumeattributesclasses.storage.k8s.io',
  'kubernetes.io/vac-protection',
]

export function createStorageObjectInUseProtection(gates: Gates): Plugin {
  const known = new Map(
    gates.isOn('VolumeAttributesClass') ? [...finalizers, ofClasses] : finalizers,
  )
  return {
    name: 'StorageObjectInUseProtection',
    resources: new Set(known.keys()),
    mutate: (attributes) => {
      const { operation, object } = attributes
      const finalizer = known.get(targetOf(attributes))
      if (object === undefined || operation !== 'CREATE' || finalizer === undefined) return object
      const present = object.metadata.finalizers ?? []
      if (present.includes(finalizer)) return object
      return { ...object, metadata: { ...object.metadata, finalizers: [...present, finalizer] } }
    },
  }
}

/** A new volume or claim stays until the controllers have seen that nothing uses it any more. */
import { type Plugin, targetOf } from './admission.ts'

const finalizers: ReadonlyMap<string, string> = new Map([
  ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
  ['persistentvolumes', 'kubernetes.io/pv-protection'],
])

export const storageObjectInUseProtection: Plugin = {
  name: 'StorageObjectInUseProtection',
  resources: new Set(finalizers.keys()),
  mutate: (attributes) => {
    const { operation, object } = attributes
    const finalizer = finalizers.get(targetOf(attributes))
    if (object === undefined || operation !== 'CREATE' || finalizer === undefined) return object
    const present = object.metadata.finalizers ?? []
    if (present.includes(finalizer)) return object
    return { ...object, metadata: { ...object.metadata, finalizers: [...present, finalizer] } }
  },
}

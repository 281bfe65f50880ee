/** The admission plugins for the storage class of PersistentVolumeClaims. */
import { fieldsOf, type KubeObject, textOf } from '../api/object.ts'
import { compareQuantities, parseQuantity } from '../api/quantity.ts'
import { type Plugin, refusal, targetOf } from './admission.ts'
import { defaultClass } from './default-class.ts'
import { getOrLatest, type Objects } from '../api/object-access.ts'

const storageClasses = { group: 'storage.k8s.io', version: 'v1', plural: 'storageclasses' } as const
const defaultAnnotations = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
] as const
/** Annotation that specified the class before the field storageClassName existed. */
const oldClassAnnotation = 'volume.beta.kubernetes.io/storage-class'

/**
 * Sets the default class on a new claim without a class. An empty class name means that the claim
 * must have no class, so it is kept.
 */
export function createDefaultStorageClass(objects: Pick<Objects, 'list'>): Plugin {
  return {
    name: 'DefaultStorageClass',
    resources: new Set(['persistentvolumeclaims']),
    mutate: async (attributes) => {
      const { operation, object } = attributes
      const isNewClaim = operation === 'CREATE' && targetOf(attributes) === 'persistentvolumeclaims'
      if (object === undefined || !isNewClaim || storageClassOf(object) !== undefined) return object
      const found = defaultClass(await objects.list(storageClasses, '', 'any'), defaultAnnotations)
      if (found === undefined) return object
      return {
        ...object,
        spec: { ...fieldsOf(object['spec']), storageClassName: found.metadata.name },
      }
    },
  }
}

/** Rejects the expansion of a claim whose class does not allow it. */
export function createPersistentVolumeClaimResize(objects: Pick<Objects, 'get'>): Plugin {
  return {
    name: 'PersistentVolumeClaimResize',
    resources: new Set(['persistentvolumeclaims']),
    validate: async (attributes) => {
      const { operation, object, oldObject } = attributes
      if (operation !== 'UPDATE' || targetOf(attributes) !== 'persistentvolumeclaims') return
      if (object === undefined || oldObject === undefined || !isLarger(object, oldObject)) return
      if (fieldsOf(oldObject['status'])['phase'] !== 'Bound') {
        throw refusal(attributes, 'Only bound persistent volume claims can be expanded')
      }
      const className = storageClassOf(object) ?? ''
      const isSameClass = className !== '' && className === storageClassOf(oldObject)
      const found = isSameClass
        ? await getOrLatest(objects, storageClasses, { namespace: '', name: className })
        : undefined
      if (found?.['allowVolumeExpansion'] === true) return
      const why =
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize'
      throw refusal(attributes, why)
    },
  }
}

/** Returns the name of the claim's class, or undefined if no class is set. */
export function storageClassOf({ metadata, spec }: KubeObject): string | undefined {
  const old = metadata.annotations?.[oldClassAnnotation]
  if (old !== undefined) return old
  const { storageClassName } = fieldsOf(spec)
  return typeof storageClassName === 'string' ? storageClassName : undefined
}

function isLarger(claim: KubeObject, before: KubeObject): boolean {
  const [size, sizeBefore] = [sizeOf(claim), sizeOf(before)]
  return !('fault' in size) && !('fault' in sizeBefore) && compareQuantities(size, sizeBefore) > 0
}

const sizeOf = ({ spec }: KubeObject): ReturnType<typeof parseQuantity> =>
  parseQuantity(textOf(fieldsOf(fieldsOf(fieldsOf(spec)['resources'])['requests'])['storage']))

/** The rules for metadata, which are the same for all kinds. */
import { type FieldFault, forbiddenField, invalidValue, required, tooLong } from '../api/field-fault.ts'
import { checkLabelValue, checkPathSegment, checkQualifiedName } from '../api/names.ts'
import type { KubeObject, ObjectMeta } from '../api/object.ts'
import type { Resource } from './resource.ts'

/** All keys and values of the annotations of one object together. */
const ANNOTATIONS_BYTES_MAX = 256 * 1024

export function validateMetadata({ metadata }: KubeObject, resource: Resource): FieldFault[] {
  return [...validateNames(metadata, resource), ...validateLabels(metadata), ...validateAnnotations(metadata)]
}

export function validateMetadataUpdate(object: KubeObject, current: KubeObject, resource: Resource): FieldFault[] {
  const faults = validateMetadata(object, resource)
  const frozen = ['name', 'namespace', 'uid', 'creationTimestamp'] as const
  for (const name of frozen) {
    const value = object.metadata[name] ?? ''
    if (value !== (current.metadata[name] ?? '')) faults.push(immutable(`metadata.${name}`, value))
  }
  return [...faults, ...validateDeletion(object.metadata, current.metadata)]
}

/** Nobody marks an object as deleted by an update; and what goes away takes no new finalizers. */
function validateDeletion(metadata: ObjectMeta, current: ObjectMeta): FieldFault[] {
  if (current.deletionTimestamp === undefined) {
    const { deletionTimestamp } = metadata
    return deletionTimestamp === undefined ? [] : [immutable('metadata.deletionTimestamp', deletionTimestamp)]
  }
  const known = new Set(current.finalizers)
  const added = [...new Set(metadata.finalizers)].filter((finalizer) => !known.has(finalizer)).toSorted()
  if (added.length === 0) return []
  const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ')
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`
  return [forbiddenField('metadata.finalizers', why)]
}

function validateNames(metadata: ObjectMeta, resource: Resource): FieldFault[] {
  const { name = '', generateName = '', namespace = '' } = metadata
  const faults: FieldFault[] = []
  if (generateName !== '') {
    // A generated name ends in random characters, so a dash at the end of the prefix is fine.
    const prefix = generateName.replace(/-$/, 'a')
    for (const fault of resource.checkName(prefix)) {
      faults.push(invalidValue('metadata.generateName', generateName, fault))
    }
  }
  if (name === '') faults.push(required('metadata.name', 'name or generateName is required'))
  else for (const fault of resource.checkName(name)) faults.push(invalidValue('metadata.name', name, fault))
  if (resource.isNamespaced && namespace === '') faults.push(required('metadata.namespace'))
  if (faults.length > 0) return faults
  return checkPathSegment(name).map((fault) => invalidValue('metadata.name', name, fault))
}

function validateLabels({ labels = {} }: ObjectMeta): FieldFault[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...checkQualifiedName(key).map((fault) => invalidValue('metadata.labels', key, fault)),
    ...checkLabelValue(value ?? '').map((fault) => invalidValue('metadata.labels', value ?? '', fault)),
  ])
}

function validateAnnotations({ annotations = {} }: ObjectMeta): FieldFault[] {
  const faults: FieldFault[] = []
  let totalBytes = 0
  for (const [key, value] of Object.entries(annotations)) {
    for (const fault of checkQualifiedName(key.toLowerCase())) {
      faults.push(invalidValue('metadata.annotations', key, fault))
    }
    totalBytes += Buffer.byteLength(key) + Buffer.byteLength(value ?? '')
  }
  if (totalBytes > ANNOTATIONS_BYTES_MAX) faults.push(tooLong('metadata.annotations', ANNOTATIONS_BYTES_MAX))
  return faults
}

const immutable = (path: string, value: string): FieldFault => invalidValue(path, value, 'field is immutable')

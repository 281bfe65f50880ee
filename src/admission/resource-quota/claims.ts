/** Measures the storage that PersistentVolumeClaims use, in total and per storage class. */
import type { Gates } from '../../api/gates.ts'
import { fieldsOf, type KubeObject, textOf } from '../../api/object.ts'
import { type ResourceList, largest, readResourceList } from '../../api/resource-list.ts'
import type { Quantity } from '../../api/quantity.ts'
import { storageClassOf } from '../storage-class.ts'
import type { Attributes } from '../admission.ts'
import { count, type Evaluator, isWritten, noneMissing } from './evaluator.ts'
import { isSelected } from './scopes.ts'

const names: readonly string[] = [
  'persistentvolumeclaims',
  'count/persistentvolumeclaims',
  'requests.storage',
]
/**
 * The text between the name of a storage class and the name of the resource that a quota limits for
 * this class, as in `gold.storageclass.storage.k8s.io/requests.storage`.
 */
const ofClass = '.storageclass.storage.k8s.io/'

export const createClaimEvaluator = (gates: Gates): Evaluator => ({
  // Charge updates of the status as well, because a status contains the allocated resources and the
  // current VolumeAttributesClass.
  isCharged: (attributes) =>
    isWritten(attributes) ||
    (attributes.subresource === 'status' && isChangedIn(attributes, gates)),
  usageOf: (claim) => usageOf(claim, gates),
  measures: (name) =>
    names.includes(name) ||
    name.endsWith(`${ofClass}persistentvolumeclaims`) ||
    name.endsWith(`${ofClass}requests.storage`),
  isInScope: (claim, scope) =>
    gates.isOn(ofAttributes) && scope.name === ofAttributes && isSelected(classesOf(claim), scope),
  missing: () => noneMissing,
})

const ofAttributes = 'VolumeAttributesClass'

const isChangedIn = ({ object, oldObject }: Attributes, gates: Gates): boolean =>
  gates.isOn('RecoverVolumeExpansionFailure') ||
  (gates.isOn(ofAttributes) && classesOf(object).join() !== classesOf(oldObject).join())

/** Returns the requested, current and target VolumeAttributesClasses of a claim. */
function classesOf(claim: KubeObject | undefined): readonly string[] {
  const status = fieldsOf(claim?.['status'])
  const classes = [
    fieldsOf(claim?.['spec'])['volumeAttributesClassName'],
    status['currentVolumeAttributesClassName'],
    fieldsOf(status['modifyVolumeStatus'])['targetVolumeAttributesClassName'],
  ]
  return [...new Set(classes.map(textOf).filter((name) => name !== ''))].toSorted()
}

function usageOf(claim: KubeObject, gates: Gates): ResourceList {
  const className = storageClassOf(claim) ?? ''
  const usage = new Map<string, Quantity>([
    ['persistentvolumeclaims', count(1)],
    ['count/persistentvolumeclaims', count(1)],
  ])
  if (className !== '') usage.set(`${className}${ofClass}persistentvolumeclaims`, count(1))
  const storage = sizeOf(claim, gates)
  if (storage === undefined) return usage
  usage.set('requests.storage', storage)
  if (className !== '') usage.set(`${className}${ofClass}requests.storage`, storage)
  return usage
}

/**
 * Returns the charged size. If the request of a claim was reduced after a failed expansion, the
 * allocated size is still charged.
 */
function sizeOf({ spec, status }: KubeObject, gates: Gates): Quantity | undefined {
  const asked = readResourceList(fieldsOf(fieldsOf(spec)['resources'])['requests'])
  if (!gates.isOn('RecoverVolumeExpansionFailure')) return wholeBytes(asked.get('storage'))
  return wholeBytes(
    largest([asked, readResourceList(fieldsOf(status)['allocatedResources'])]).get('storage'),
  )
}

/** Rounds up to whole bytes. kube-apiserver does this only for claims. */
function wholeBytes(size: Quantity | undefined): Quantity | undefined {
  if (size === undefined || size.nanos % NANOS === 0n) return size
  return { ...size, nanos: (size.nanos / NANOS + 1n) * NANOS }
}

/** Number of nanos (billionths) in one unit. */
const NANOS = 10n ** 9n

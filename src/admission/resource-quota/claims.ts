/** Claims cost storage, in all and of their class. */
import { fieldsOf, type KubeObject } from '../../api/object.ts'
import { type ResourceList, largest, readResourceList } from '../../api/resource-list.ts'
import type { Quantity } from '../../api/quantity.ts'
import { storageClassOf } from '../storage-class.ts'
import { count, type Evaluator, isWritten } from './evaluator.ts'

const names: readonly string[] = ['persistentvolumeclaims', 'count/persistentvolumeclaims', 'requests.storage']
/** Between the name of a class and what is limited of it. */
const ofClass = '.storageclass.storage.k8s.io/'

export const claimEvaluator: Evaluator = {
  isCharged: isWritten,
  usageOf,
  measures: (name) =>
    names.includes(name) ||
    name.endsWith(`${ofClass}persistentvolumeclaims`) ||
    name.endsWith(`${ofClass}requests.storage`),
  isInScope: () => false,
  missing: () => undefined,
}

function usageOf(claim: KubeObject): ResourceList {
  const className = storageClassOf(claim) ?? ''
  const usage = new Map<string, Quantity>([
    ['persistentvolumeclaims', count(1)],
    ['count/persistentvolumeclaims', count(1)],
  ])
  if (className !== '') usage.set(`${className}${ofClass}persistentvolumeclaims`, count(1))
  const storage = sizeOf(claim)
  if (storage === undefined) return usage
  usage.set('requests.storage', storage)
  if (className !== '') usage.set(`${className}${ofClass}requests.storage`, storage)
  return usage
}

/** A claim that shrinks again after it could not grow still holds what was set aside for it. */
function sizeOf({ spec, status }: KubeObject): Quantity | undefined {
  const asked = readResourceList(fieldsOf(fieldsOf(spec)['resources'])['requests'])
  return largest([asked, readResourceList(fieldsOf(status)['allocatedResources'])]).get('storage')
}

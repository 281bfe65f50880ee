/**
 * Measures the devices that a ResourceClaim requests. The usage of a device class is the maximum
 * number of its devices that can be allocated for the claim.
 */
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
} from '../../api/object.ts'
import { type ResourceList, largest, sum } from '../../api/resource-list.ts'
import { count, type Evaluator, isWritten, noneMissing } from './evaluator.ts'

const name = 'count/resourceclaims.resource.k8s.io'
const ofClass = '.deviceclass.resource.k8s.io/devices'
/**
 * Maximum number of devices in a claim. A request for all devices of a class is charged as if it
 * used this many.
 */
const DEVICES_MAX = 32

export const deviceEvaluator: Evaluator = {
  isCharged: isWritten,
  usageOf: ({ spec }: KubeObject) => {
    const requests = itemsOf(fieldsOf(fieldsOf(spec)['devices'])['requests'])
    return new Map([...sum(requests.map(costOf)), [name, count(1)]])
  },
  measures: (wanted) => wanted === name || wanted.endsWith(ofClass),
  isInScope: () => false,
  missing: () => noneMissing,
}

/**
 * Returns the cost of a device request. Only one of its alternatives is allocated, so the most
 * expensive one is charged.
 */
function costOf(request: Fields): ResourceList {
  const alternatives = itemsOf(request['firstAvailable'])
  if (alternatives.length > 0) return largest(alternatives.map(devicesOf))
  // Since v1beta2, the fields of a simple request are below `exactly`. In older versions, they are
  // fields of the request itself.
  return devicesOf(request['exactly'] === undefined ? request : fieldsOf(request['exactly']))
}

function devicesOf({ deviceClassName, allocationMode, count: wanted }: Fields): ResourceList {
  const number =
    allocationMode === 'All' ? DEVICES_MAX : allocationMode === 'ExactCount' ? numberOf(wanted) : 0
  return new Map([[`${textOf(deviceClassName)}${ofClass}`, count(number)]])
}

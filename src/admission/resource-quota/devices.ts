/** ResourceClaims are charged, per device class, for as many devices as they may be allocated. */
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
} from '../../api/object.ts'
import { type ResourceList, largest, sum } from '../../api/resource-list.ts'
import { count, type Evaluator, isWritten } from './evaluator.ts'

const name = 'count/resourceclaims.resource.k8s.io'
const ofClass = '.deviceclass.resource.k8s.io/devices'
/** The maximum of devices of a claim: a request for all devices is charged for as many. */
const DEVICES_MAX = 32

export const deviceEvaluator: Evaluator = {
  isCharged: isWritten,
  usageOf: ({ spec }: KubeObject) => {
    const requests = itemsOf(fieldsOf(fieldsOf(spec)['devices'])['requests'])
    return new Map([...sum(requests.map(costOf)), [name, count(1)]])
  },
  measures: (wanted) => wanted === name || wanted.endsWith(ofClass),
  isInScope: () => false,
  missing: () => undefined,
}

/** Of the alternatives of a request only one is allocated. */
function costOf(request: Fields): ResourceList {
  const alternatives = itemsOf(request['firstAvailable'])
  if (alternatives.length > 0) return largest(alternatives.map(devicesOf))
  // v1beta2 has a single request in `exactly`; older versions have its fields directly.
  return devicesOf(request['exactly'] === undefined ? request : fieldsOf(request['exactly']))
}

function devicesOf({ deviceClassName, allocationMode, count: wanted }: Fields): ResourceList {
  const number =
    allocationMode === 'All' ? DEVICES_MAX : allocationMode === 'ExactCount' ? numberOf(wanted) : 0
  return new Map([[`${textOf(deviceClassName)}${ofClass}`, count(number)]])
}

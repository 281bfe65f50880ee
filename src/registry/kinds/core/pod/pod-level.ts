/**
 * Rules for pod-level resources, which apply to all containers of a Pod together (gate
 * PodLevelResources, KEP-2837).
 */
import {
  forbiddenField,
  invalidUnquoted,
  invalidValue,
  notSupportedShown,
} from '../../../../api/field-fault.ts'
import type { Gates } from '../../../../api/gates.ts'
import { entriesOf, type Fields, fieldsOf, isFields, itemsOf } from '../../../../api/object.ts'
import { compareQuantities, printQuantity, type Quantity } from '../../../../api/quantity.ts'
import {
  printResourceList,
  readResourceList,
  type ResourceList,
} from '../../../../api/resource-list.ts'
import { aggregateResources, isPodLevel } from '../../../pod-resources.ts'
import {
  checkAmount,
  checkResourceName,
  isHugePages,
  requirementsOf,
} from '../../../rules/resources.ts'
import { eachIn, type Rule } from '../../../rules/rule.ts'
import type { PodCheck, PodRule } from './check.ts'
import { usedClaims } from './resource-claims.ts'

const podLevel = 'PodLevelResources'

/** Whether the Pod has pod-level `resources`, even if they are empty. */
export const saysItself = (spec: Fields, gates: Gates): boolean =>
  gates.isOn(podLevel) && spec['resources'] !== undefined

export function hasPodLevel(spec: Fields): boolean {
  const { limits, requests } = fieldsOf(spec['resources'])
  return entriesOf(limits).length + entriesOf(requests).length > 0
}

/**
 * Completes pod-level resources. Huge pages do not support overcommitment, so they get a limit and
 * an equal request.
 */
export function withPodLevelDefaults(spec: Fields, gates: Gates): Fields {
  const { resources } = spec
  if (!isFields(resources) || !gates.isOn(podLevel) || !hasPodLevel(spec)) return spec
  const limits = {
    ...only(aggregateResources(spec, 'limits'), isHugePages),
    ...fieldsOf(resources['limits']),
  }
  if (Object.keys(limits).length === 0) return spec
  const requests = {
    ...Object.fromEntries(Object.entries(limits).filter(([name]) => isPodLevel(name))),
    ...only(aggregateResources(spec, 'requests'), (name) => isPodLevel(name) && !isHugePages(name)),
    ...fieldsOf(resources['requests']),
  }
  const amounts = Object.keys(requests).length === 0 ? { limits } : { limits, requests }
  return { ...spec, resources: { ...resources, ...amounts } }
}

const only = (list: ResourceList, isWanted: (name: string) => boolean): Fields =>
  printResourceList(new Map([...list].filter(([name]) => isWanted(name))))

const podLevelList: Rule = (value, path, check) => {
  eachIn(entriesOf(value), check, ([name, amount], _, { faults }) => {
    const at = `${path}[${name}]`
    const wrong = checkResourceName(name)
    for (const why of wrong) faults.push(invalidUnquoted(at, name, why))
    if (wrong.length === 0 && !isPodLevel(name)) {
      faults.push(notSupportedShown(at, name, ['cpu', 'hugepages-', 'memory'], { json: name }))
    }
    faults.push(...checkAmount(name, amount, at))
  })
}

const podLevelRequirements = requirementsOf(podLevelList)

/**
 * Rule for pod-level resources. As in kube-apiserver, errors about container limits have paths
 * below the pod-level resources, such as `spec.resources.containers[0][cpu].limits`.
 */
export const podLevelResources: PodRule = (value, path, check) => {
  const { faults, spec } = check
  if (!saysItself(spec, check.gates)) return
  const isStrict = check.gates.release >= STRICT_SINCE
  if (isStrict && fieldsOf(spec['os'])['name'] === 'windows') {
    faults.push(forbiddenField(path, 'may not be set for a windows pod'))
    return
  }
  const { claims, limits, requests } = fieldsOf(value)
  if (claims !== undefined)
    faults.push(forbiddenField(`${path}.claims`, 'claims cannot be set for Resources at pod-level'))
  podLevelRequirements(value, path, check)
  usedClaims(claims, `${path}.claims`, check)
  const asked = readResourceList(requests)
  for (const [name, together] of aggregateResources(spec, 'requests')) {
    const own = asked.get(name) ?? (isStrict ? undefined : nothing)
    if (own === undefined) continue
    if (compareQuantities(together, own) <= 0) continue
    const why = `must be greater than or equal to aggregate container requests of ${printQuantity(together)}`
    faults.push(invalidValue(`${path}.requests[${name}]`, printQuantity(own), why))
  }
  const most = readResourceList(limits)
  if (isStrict) hugePageLimits(most, path, check)
  eachIn(itemsOf(spec['containers']), check, (container, at, own) => {
    for (const [name, limit] of readResourceList(fieldsOf(container['resources'])['limits'])) {
      const ofPod = most.get(name)
      if (ofPod === undefined || compareQuantities(limit, ofPod) <= 0) continue
      const why = `must be less than or equal to pod limits of ${printQuantity(ofPod)}`
      own.faults.push(
        invalidValue(`${path}.containers[${at}][${name}].limits`, printQuantity(limit), why),
      )
    }
  })
}

/**
 * The first release in which a Pod-level request can be absent, Windows has no Pod-level resources,
 * and limits of huge pages are compared with those of the containers.
 */
const STRICT_SINCE = 34

function hugePageLimits(most: ResourceList, path: string, { spec, faults }: PodCheck): void {
  for (const [name, together] of aggregateResources(spec, 'limits')) {
    const own = isHugePages(name) ? most.get(name) : undefined
    if (own === undefined || compareQuantities(together, own) <= 0) continue
    const why = `must be greater than or equal to aggregate container limits of ${printQuantity(together)}`
    faults.push(invalidValue(`${path}.limits[${name}]`, printQuantity(own), why))
  }
}

const nothing: Quantity = { nanos: 0n, format: 'decimal' }

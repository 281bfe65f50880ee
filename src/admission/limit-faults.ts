/** Checks requests and limits against one item of a LimitRange. */
import type { Fields } from '../api/object.ts'
import { compareQuantities, printQuantity, type Quantity } from '../api/quantity.ts'
import { readResourceList, type ResourceList } from '../api/resource-list.ts'

/**
 * Requests and limits of a container, pod or claim. `type` is its type in a LimitRange, such as
 * `Container`. Only the LimitRange items of this type apply.
 */
export type Demand = {
  readonly type: string
  readonly requests: ResourceList
  readonly limits: ResourceList
}

/**
 * The type of LimitRange items that apply to PersistentVolumeClaims. Claims have only requests, so
 * the maximum in such an item limits the request.
 */
const claim = 'PersistentVolumeClaim'

export function limitFaults(limit: Fields, demand: Demand): string[] {
  const { type } = demand
  if (limit['type'] !== type) return []
  const each = (
    field: string,
    check: (name: string, bound: Quantity) => string | undefined,
  ): string[] =>
    [...readResourceList(limit[field])].flatMap(([name, bound]) => check(name, bound) ?? [])
  const most = type === claim ? requestFault : maxFault
  return [
    ...each('min', (name, bound) =>
      prefixed('minimum', name, minFault(demand, name, bound), { type, bound }),
    ),
    ...each('max', (name, bound) =>
      prefixed('maximum', name, most(demand, name, bound), { type, bound }),
    ),
    ...(type === claim
      ? []
      : each('maxLimitRequestRatio', (name, bound) => ratioFault(demand, name, bound))),
  ]
}

function prefixed(
  word: string,
  name: string,
  fault: string | undefined,
  { type, bound }: { readonly type: string; readonly bound: Quantity },
): string | undefined {
  return fault === undefined
    ? undefined
    : `${word} ${name} usage per ${type} is ${printQuantity(bound)}${fault}`
}

function minFault({ requests, limits }: Demand, name: string, bound: Quantity): string | undefined {
  const [request, limit] = [requests.get(name), limits.get(name)]
  if (request === undefined) return '.  No request is specified'
  if (compareQuantities(request, bound) < 0) return `, but request is ${printQuantity(request)}`
  if (limit !== undefined && compareQuantities(limit, bound) < 0)
    return `, but limit is ${printQuantity(limit)}`
  return undefined
}

function maxFault(demand: Demand, name: string, bound: Quantity): string | undefined {
  const limit = demand.limits.get(name)
  if (limit === undefined) return '.  No limit is specified'
  if (compareQuantities(limit, bound) > 0) return `, but limit is ${printQuantity(limit)}`
  return demand.requests.has(name) ? requestFault(demand, name, bound) : undefined
}

function requestFault({ requests }: Demand, name: string, bound: Quantity): string | undefined {
  const request = requests.get(name)
  if (request === undefined) return '.  No request is specified'
  return compareQuantities(request, bound) > 0
    ? `, but request is ${printQuantity(request)}`
    : undefined
}

function ratioFault(
  { type, requests, limits }: Demand,
  name: string,
  bound: Quantity,
): string | undefined {
  const [request, limit] = [requests.get(name), limits.get(name)]
  const rule = `${name} max limit to request ratio per ${type} is ${printQuantity(bound)}`
  if (request === undefined || request.nanos === 0n)
    return `${rule}, but no request is specified or request is 0`
  if (limit === undefined || limit.nanos === 0n)
    return `${rule}, but no limit is specified or limit is 0`
  if (limit.nanos * NANOS <= bound.nanos * request.nanos) return undefined
  return `${rule}, but provided ratio is ${(Number(limit.nanos) / Number(request.nanos)).toFixed(6)}`
}

/** Number of nanos (billionths) in one unit. */
const NANOS = 10n ** 9n

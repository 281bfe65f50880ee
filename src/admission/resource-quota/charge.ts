/**
 * Computes the usage that a write adds to a quota, and whether the quota allows it. The limits are
 * taken from the status of the quota, which a controller maintains.
 */
import type { ApiError } from '../../api/errors.ts'
import { fieldsOf, type Json, type KubeObject } from '../../api/object.ts'
import {
  addQuantities,
  compareQuantities,
  printQuantity,
  type Quantity,
} from '../../api/quantity.ts'
import { printResourceList, readResourceList, type ResourceList } from '../../api/resource-list.ts'
import { type Attributes, refusal } from '../admission.ts'
import type { Evaluator } from './evaluator.ts'
import { scopesOf } from './scopes.ts'

export type Charge = {
  readonly attributes: Attributes
  readonly evaluator: Evaluator
  readonly object: KubeObject
}

/**
 * Returns the usage that a write adds to a quota. For an update, this is the difference between the
 * new and the old object. Returns an empty result if the quota does not apply to the object.
 */
export function costIn(quota: KubeObject, { attributes, evaluator, object }: Charge): ResourceList {
  const limited = limitedIn(quota, object, evaluator)
  if (limited.length === 0) return nothing
  const usage = evaluator.usageOf(object)
  const { oldObject } = attributes
  // The usage of the old object is subtracted only if the quota applied to it.
  const isKnown = oldObject !== undefined && isAbout(quota, oldObject, evaluator)
  const before = isKnown ? evaluator.usageOf(oldObject) : nothing
  const cost = new Map<string, Quantity>()
  for (const name of limited) {
    const amount = usage.get(name)
    const nanos = (amount?.nanos ?? 0n) - (before.get(name)?.nanos ?? 0n)
    if (amount !== undefined && nanos > 0n) cost.set(name, { ...amount, nanos })
  }
  return cost
}

/**
 * Returns the error if usage and quota cannot be compared: the object does not specify a required
 * amount, or the status of the quota contains no usage yet.
 */
export function unknownOf(
  quota: KubeObject,
  { attributes, evaluator, object }: Charge,
): ApiError | undefined {
  const limited = limitedIn(quota, object, evaluator)
  if (limited.length === 0) return undefined
  const { used } = statusOf(quota)
  const name = quota.metadata.name ?? ''
  const missing = evaluator.missing(object)
  const parts = limited.flatMap((resource) => {
    const containers = missing.get(resource)
    return containers === undefined ? [] : [`${resource} for: ${containers}`]
  })
  if (parts.length > 0)
    return refusal(attributes, `failed quota: ${name}: must specify ${parts.join('; ')}`)
  if (limited.some((resource) => !used.has(resource))) {
    return refusal(attributes, `status unknown for quota: ${name}, resources: ${limited.join(',')}`)
  }
  return undefined
}

/**
 * Returns why the quota does not allow a write that adds this usage, or undefined if the quota
 * allows the write.
 */
export function excessOf(
  quota: KubeObject,
  { attributes }: Charge,
  cost: ResourceList,
): ApiError | undefined {
  const { hard, used } = statusOf(quota)
  const name = quota.metadata.name ?? ''
  // The status of an object reports what has already happened. An update of the status is therefore
  // added to the usage, but never rejected.
  if (attributes.subresource === 'status') return undefined
  const exceeded = new Set<string>()
  for (const [resource, amount] of cost) {
    const [limit, before] = [hard.get(resource), used.get(resource)]
    if (limit === undefined || before === undefined) continue
    if (compareQuantities(addQuantities(before, amount), limit) > 0) exceeded.add(resource)
  }
  if (exceeded.size === 0) return undefined
  const amounts = `requested: ${print(cost, exceeded)}, used: ${print(used, exceeded)}, limited: ${print(hard, exceeded)}`
  return refusal(attributes, `exceeded quota: ${name}, ${amounts}`)
}

/** Returns the quota with changed usage, or the same object if the cost is empty. */
export function withUsed(quota: KubeObject, cost: ResourceList, sign: 1n | -1n = 1n): KubeObject {
  if (cost.size === 0) return quota
  const used = new Map(statusOf(quota).used)
  for (const [name, { nanos, format }] of cost) {
    used.set(
      name,
      addQuantities(used.get(name) ?? { nanos: 0n, format }, { nanos: sign * nanos, format }),
    )
  }
  return { ...quota, status: { ...fieldsOf(quota['status']), used: printResourceList(used) } }
}

/**
 * Returns the highest ratio of usage to limit among the resources of the quota. A ratio of 1 means
 * that a limit is reached.
 */
export function usedShare(quota: KubeObject): number {
  const { hard, used } = statusOf(quota)
  let share = 0
  for (const [resource, limit] of hard) {
    const amount = used.get(resource)
    if (amount === undefined) continue
    share = Math.max(share, limit.nanos === 0n ? 1 : Number(amount.nanos) / Number(limit.nanos))
  }
  return share
}

const nothing: ResourceList = new Map()

function statusOf({ status }: KubeObject): {
  readonly hard: ResourceList
  readonly used: ResourceList
} {
  const { hard, used } = fieldsOf(status)
  return { hard: listOf(hard), used: listOf(used) }
}

/**
 * Caches the amounts in the `hard` and `used` fields of quotas. JSON objects are immutable, and a
 * quota is evaluated several times for each write in its namespace.
 */
const known = new WeakMap<object, ResourceList>()

function listOf(given: Json | undefined): ResourceList {
  if (typeof given !== 'object' || given === null) return nothing
  const list = known.get(given) ?? readResourceList(given)
  known.set(given, list)
  return list
}

/**
 * Returns the sorted names of the resources that the object can use and the quota limits. Returns
 * an empty list if the scopes of the quota do not include the object.
 */
export function limitedIn(
  quota: KubeObject,
  object: KubeObject,
  evaluator: Evaluator,
): readonly string[] {
  const limited = [...statusOf(quota).hard.keys()].filter(evaluator.measures)
  return limited.length > 0 && isAbout(quota, object, evaluator) ? limited.toSorted() : []
}

export const isAbout = (quota: KubeObject, object: KubeObject, { isInScope }: Evaluator): boolean =>
  scopesOf(quota).every((scope) => isInScope(object, scope))

const print = (list: ResourceList, names: ReadonlySet<string>): string =>
  [...list]
    .filter(([name]) => names.has(name))
    .map(([name, amount]) => `${name}=${printQuantity(amount)}`)
    .toSorted()
    .join(',')

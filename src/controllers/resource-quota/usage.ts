/**
 * Computes the usage of a quota: how much of each limited resource the objects in its namespace
 * use.
 */
import { fieldsOf, type KubeObject } from '../../api/object.ts'
import { addQuantities, type Quantity } from '../../api/quantity.ts'
import { isSameList, readResourceList, type ResourceList } from '../../api/resource-list.ts'
import type { Evaluator } from '../../admission/resource-quota/evaluator.ts'
import { isAbout } from '../../admission/resource-quota/charge.ts'
import { hasDeadline, scopesOf } from '../../admission/resource-quota/scopes.ts'
import { contentBytes } from '../../storage/cache/informer.ts'
import type { Item } from '../../storage/cache/item.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import type { Resource } from '../../registry/resource.ts'
import { headOf } from '../object-head.ts'
import type { CacheAccess } from '../cache-access.ts'

/** A resource whose objects are counted. */
export type CountedResource = CacheAccess & {
  readonly resource: Resource
  readonly evaluator: Evaluator
}

export const limitsOf = (quota: KubeObject): ResourceList =>
  readResourceList(fieldsOf(quota['spec'])['hard'])

/** Returns the usage of each limited resource that can be counted. */
export async function usageOf(
  quota: KubeObject,
  limits: ResourceList,
  counted: Iterable<CountedResource>,
): Promise<ResourceList> {
  const names = [...limits.keys()]
  const used = new Map<string, Quantity>()
  const slices = new Slices()
  for (const one of counted) {
    if (slices.isOver) await slices.turn()
    // Bounded: only administrators create quotas, so there are few names to filter
    const own = names.filter(one.evaluator.measures)
    if (own.length === 0) continue
    for (const name of own) if (!used.has(name)) used.set(name, nothing)
    for (const [name, amount] of await usageOfOne(quota, one)) {
      const before = used.get(name)
      if (before !== undefined) used.set(name, addQuantities(before, amount))
    }
  }
  return used
}

const times = (usage: ResourceList, count: number): ResourceList =>
  new Map(
    [...usage].map(([name, { nanos, format }]) => [name, { nanos: nanos * BigInt(count), format }]),
  )

const nothing: Quantity = { nanos: 0n, format: 'decimal' }

async function usageOfOne(
  quota: KubeObject,
  { keys, reader, evaluator }: CountedResource,
): Promise<ResourceList> {
  const { items } = await reader.list(keys.range(quota.metadata.namespace), 'latest')
  const { fixedUsage } = evaluator
  if (fixedUsage !== undefined)
    return scopesOf(quota).length === 0 ? times(fixedUsage, items.length) : new Map()
  const total = new Map<string, Quantity>()
  const slices = new Slices()
  for (const item of items) {
    if (slices.isOver) await slices.turn()
    const object = await item.peekInParts()
    if (!isAbout(quota, object, evaluator)) continue
    for (const [name, amount] of evaluator.usageOf(object)) {
      const before = total.get(name)
      total.set(name, before === undefined ? amount : addQuantities(before, amount))
    }
  }
  return total
}

/** Whether an update leaves the usage unchanged. */
export function isSameUse(
  { evaluator }: Pick<CountedResource, 'evaluator'>,
  before: Item,
  after: Item,
): boolean {
  if (evaluator.fixedUsage !== undefined) return true
  // Do not decode a large object, because this takes a long time. Assume that the usage has changed
  // if anything but the metadata has changed. The quota is then counted again, in time slices.
  if (before.isLarge || after.isLarge) return hasSameContent(before, after)
  const [old, now] = [before.peek(), after.peek()]
  return (
    isSameList(evaluator.usageOf(old), evaluator.usageOf(now)) &&
    hasDeadline(old) === hasDeadline(now)
  )
}

/**
 * Whether two versions of an object are the same except for their metadata, and neither of them is
 * being deleted.
 */
function hasSameContent(before: Item, after: Item): boolean {
  if (before.isUnprepared || after.isUnprepared) return false
  if (headOf(before).isMarked || headOf(after).isMarked) return false
  return contentBytes(before).equals(contentBytes(after))
}

/** Computes the requests and limits of a Pod as a whole. */
import { type Fields, fieldsOf, itemsOf } from '../api/object.ts'
import { largest, readResourceList, type ResourceList, sum } from '../api/resource-list.ts'
import { eachItem, mapEach } from '../lib/scheduling/parts.ts'
import { isHugePages } from './rules/resources.ts'

export type Amounts = 'requests' | 'limits'

/** Returns the requests or limits of a container. */
export type AmountsOf = (container: Fields, amounts: Amounts) => ResourceList

export const saidAmounts: AmountsOf = ({ resources }, amounts) =>
  readResourceList(fieldsOf(resources)[amounts])

/** Whether a resource can have pod-level requests and limits (gate PodLevelResources). */
export const isPodLevel = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || isHugePages(name)

/**
 * Computes the total from the containers. Containers and sidecars run at the same time, so their
 * quantities are added. Each ordinary init container runs alone, except for the sidecars that were
 * started before it.
 */
export function aggregateResources(
  spec: Fields,
  amounts: Amounts,
  amountsOf = saidAmounts,
): ResourceList {
  const init = eachItem(
    'init containers',
    itemsOf(spec['initContainers']),
    noAmounts,
    (found, container) => {
      const together = sum([found.sidecars, amountsOf(container, amounts)])
      if (container['restartPolicy'] === 'Always') found.sidecars = together
      found.alone = largest([found.alone, together])
      return true
    },
  )
  const containers = itemsOf(spec['containers'])
  const own = mapEach('amounts of containers', containers, (container) =>
    amountsOf(container, amounts),
  )
  return largest([sum([...own, init.sidecars]), init.alone])
}

const noAmounts = (): { sidecars: ResourceList; alone: ResourceList } => ({
  sidecars: new Map(),
  alone: new Map(),
})

/**
 * Returns the total for a Pod. Pod-level quantities take precedence for the resources that `isOwn`
 * accepts.
 */
export function podResources(
  spec: Fields,
  amounts: Amounts,
  {
    isOwn,
    amountsOf,
  }: { readonly isOwn: (name: string) => boolean; readonly amountsOf?: AmountsOf },
): ResourceList {
  const own = readResourceList(fieldsOf(spec['resources'])[amounts])
  return new Map([
    ...aggregateResources(spec, amounts, amountsOf),
    ...[...own].filter(([name]) => isOwn(name)),
  ])
}

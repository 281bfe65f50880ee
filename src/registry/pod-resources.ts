/** The requests and limits of a Pod as a whole. */
import { type Fields, fieldsOf, itemsOf } from '../api/object.ts'
import { largest, readResourceList, type ResourceList, sum } from '../api/resource-list.ts'
import { eachItem, mapEach } from '../lib/scheduling/parts.ts'
import { isHugePages } from './rules/resources.ts'

export type Amounts = 'requests' | 'limits'

/** The amounts of a container. */
export type AmountsOf = (container: Fields, amounts: Amounts) => ResourceList

export const saidAmounts: AmountsOf = ({ resources }, amounts) =>
  readResourceList(fieldsOf(resources)[amounts])

/** The resources that may have pod-level amounts (gate PodLevelResources). */
export const isPodLevel = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || isHugePages(name)

/**
 * Computed from the containers: those that run at the same time are added up, that is the
 * containers and the sidecars; an ordinary init container runs alone, besides the sidecars that
 * were started before it.
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

/** Pod-level amounts take precedence, for the resources that `isOwn` accepts. */
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

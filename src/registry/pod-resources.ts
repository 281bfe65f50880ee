/** What a Pod asks for as a whole, and what it is limited to. */
import { type Fields, fieldsOf, itemsOf } from '../api/object.ts'
import { largest, readResourceList, type ResourceList, sum } from '../api/resource-list.ts'
import { isHugePages } from './rules/resources.ts'

export type Amounts = 'requests' | 'limits'

/** Of a container. */
export type AmountsOf = (container: Fields, amounts: Amounts) => ResourceList

export const saidAmounts: AmountsOf = ({ resources }, amounts) => readResourceList(fieldsOf(resources)[amounts])

/** What a Pod may say for all its containers together (gate PodLevelResources). */
export const isPodLevel = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name)

/**
 * Of what its containers say: what runs at the same time adds up, that is the containers and the init containers that go on running; an
 * ordinary init container has the Pod to itself, besides those that were started before it.
 */
export function aggregateResources(spec: Fields, amounts: Amounts, amountsOf = saidAmounts): ResourceList {
  let sidecars: ResourceList = new Map()
  let alone: ResourceList = new Map()
  for (const container of itemsOf(spec['initContainers'])) {
    const together = sum([sidecars, amountsOf(container, amounts)])
    if (container['restartPolicy'] === 'Always') sidecars = together
    alone = largest([alone, together])
  }
  return largest([
    sum([...itemsOf(spec['containers']).map((container) => amountsOf(container, amounts)), sidecars]),
    alone,
  ])
}

/** What the Pod itself says counts instead, of the names that `isOwn` allows. */
export function podResources(
  spec: Fields,
  amounts: Amounts,
  { isOwn, amountsOf }: { readonly isOwn: (name: string) => boolean; readonly amountsOf?: AmountsOf },
): ResourceList {
  const own = readResourceList(fieldsOf(spec['resources'])[amounts])
  return new Map([...aggregateResources(spec, amounts, amountsOf), ...[...own].filter(([name]) => isOwn(name))])
}

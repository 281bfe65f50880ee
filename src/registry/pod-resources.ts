/** Computes the requests and limits of a Pod as a whole. */
import { type Fields, fieldsOf, itemsOf } from '../api/object.ts'
import { addQuantities, compareQuantities, type Quantity } from '../api/quantity.ts'
import { largest, readResourceList, type ResourceList, sum } from '../api/resource-list.ts'
import { eachItem } from '../lib/scheduling/parts.ts'
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
      addInitContainer(
        found,
        amountsOf(container, amounts),
        container['restartPolicy'] === 'Always',
      )
      return true
    },
  )
  const together = eachItem(
    'amounts of containers',
    itemsOf(spec['containers']),
    newTotal,
    (total, container) => {
      for (const [name, amount] of amountsOf(container, amounts)) addTo(total, name, amount)
      return true
    },
  )
  return largest([sum([together, init.sidecars]), init.alone])
}

type Total = Map<string, Quantity>

/**
 * Totals of the init containers. `sidecars` is the total of the sidecars. `alone` is the largest
 * quantity that an init container needs together with the sidecars before it.
 */
type InitTotals = { readonly sidecars: Total; readonly alone: Total }

const newTotal = (): Total => new Map()
const noAmounts = (): InitTotals => ({ sidecars: newTotal(), alone: newTotal() })

/** Adds an init container. Only the totals of the resources in `own` can change. */
function addInitContainer(
  { sidecars, alone }: InitTotals,
  own: ResourceList,
  isSidecar: boolean,
): void {
  for (const [name, amount] of own) {
    const before = sidecars.get(name)
    const together = before === undefined ? amount : addQuantities(before, amount)
    if (isSidecar) sidecars.set(name, together)
    const most = alone.get(name)
    if (most === undefined || compareQuantities(together, most) > 0) alone.set(name, together)
  }
}

function addTo(total: Total, name: string, amount: Quantity): void {
  const known = total.get(name)
  total.set(name, known === undefined ? amount : addQuantities(known, amount))
}

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

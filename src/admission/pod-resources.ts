/**
 * What a pod asks for as a whole: what runs at the same time adds up, that is its containers and the init containers that go
 * on running; an ordinary init container has the pod to itself, besides those that were started before it.
 */
import { type Fields, fieldsOf, itemsOf } from '../api/object.ts'
import { largest, readResourceList, type ResourceList, sum } from '../api/resource-list.ts'

export type Amounts = 'requests' | 'limits'

export function podResources(spec: Fields, amounts: Amounts): ResourceList {
  const amountsOf = (container: Fields): ResourceList => readResourceList(fieldsOf(container['resources'])[amounts])
  let sidecars: ResourceList = new Map()
  let alone: ResourceList = new Map()
  for (const container of itemsOf(spec['initContainers'])) {
    const together = sum([sidecars, amountsOf(container)])
    if (container['restartPolicy'] === 'Always') sidecars = together
    alone = largest([alone, together])
  }
  return largest([sum([...itemsOf(spec['containers']).map(amountsOf), sidecars]), alone])
}

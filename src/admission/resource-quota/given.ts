/**
 * The resources that count as used by a Pod. These include the resources that a node has allocated
 * to the containers. While a container is resized, the spec has only the desired amounts, but the
 * node may still use the old amounts (gate InPlacePodVerticalScaling).
 */
import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../api/object.ts'
import { largest, readResourceList } from '../../api/resource-list.ts'
import { type AmountsOf, saidAmounts } from '../../registry/pod-resources.ts'

/**
 * Returns the resources of each container. Only regular containers and sidecars can be resized, so
 * the status of other init containers is ignored.
 */
export function amountsWithGiven({ spec, status }: KubeObject): AmountsOf {
  const { containerStatuses, initContainerStatuses, conditions } = fieldsOf(status)
  const statuses = [...itemsOf(containerStatuses), ...itemsOf(initContainerStatuses)]
  if (statuses.length === 0) return saidAmounts
  const byName = new Map(statuses.map((one) => [textOf(one['name']), one]))
  for (const { name, restartPolicy } of itemsOf(fieldsOf(spec)['initContainers'])) {
    if (restartPolicy !== 'Always') byName.delete(textOf(name))
  }
  const pending = itemsOf(conditions).find(({ type }) => type === 'PodResizePending')
  const isInfeasible = pending?.['reason'] === 'Infeasible'
  return (container, amounts) => {
    const given = byName.get(textOf(container['name']))
    if (given?.['resources'] === undefined) return saidAmounts(container, amounts)
    return largest([
      ...(isInfeasible ? [] : [saidAmounts(container, amounts)]),
      saidAmounts(given, amounts),
      ...(amounts === 'requests' ? [readResourceList(given['allocatedResources'])] : []),
    ])
  }
}

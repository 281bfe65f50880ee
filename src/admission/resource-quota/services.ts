/** Measures the node ports and load balancers that Services use. */
import { fieldsOf, itemsOf, type KubeObject } from '../../api/object.ts'
import type { ResourceList } from '../../api/resource-list.ts'
import { count, type Evaluator, isWritten, noneMissing } from './evaluator.ts'

const names: readonly string[] = [
  'services',
  'count/services',
  'services.nodeports',
  'services.loadbalancers',
]

export const serviceEvaluator: Evaluator = {
  isCharged: isWritten,
  usageOf,
  measures: (name) => names.includes(name),
  isInScope: () => false,
  missing: () => noneMissing,
}

function usageOf({ spec }: KubeObject): ResourceList {
  const { type, ports, allocateLoadBalancerNodePorts } = fieldsOf(spec)
  const isBalanced = type === 'LoadBalancer'
  return new Map([
    ['services', count(1)],
    ['count/services', count(1)],
    ['services.nodeports', count(nodePorts())],
    ['services.loadbalancers', count(isBalanced ? 1 : 0)],
  ])

  function nodePorts(): number {
    if (type === 'NodePort') return itemsOf(ports).length
    if (!isBalanced) return 0
    // If allocateLoadBalancerNodePorts is false, only the ports that request a node port explicitly
    // use one.
    if (allocateLoadBalancerNodePorts !== false) return itemsOf(ports).length
    return itemsOf(ports).filter(({ nodePort }) => Number(nodePort ?? 0) !== 0).length
  }
}

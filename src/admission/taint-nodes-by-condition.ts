/**
 * Adds a taint to a new node, so that no pods are scheduled to it until the node controller finds
 * the node ready.
 */
import { fieldsOf, itemsOf } from '../api/object.ts'
import { type Plugin, targetOf } from './admission.ts'

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const

export const taintNodesByCondition: Plugin = {
  name: 'TaintNodesByCondition',
  resources: new Set(['nodes']),
  mutate: (attributes) => {
    const { operation, object } = attributes
    if (object === undefined || operation !== 'CREATE' || targetOf(attributes) !== 'nodes')
      return object
    const spec = fieldsOf(object['spec'])
    const taints = itemsOf(spec['taints'])
    if (taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect))
      return object
    return { ...object, spec: { ...spec, taints: [...taints, notReady] } }
  },
}

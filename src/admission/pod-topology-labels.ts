/** Copies the zone and region labels of a node to the pods that are bound to it. */
import type { Gates } from '../api/gates.ts'
import { fieldsOf, type KubeObject, textOf } from '../api/object.ts'
import { type Attributes, type Plugin, targetOf } from './admission.ts'
import { getOrLatest, type Objects } from '../api/object-access.ts'

const nodes = { group: '', version: 'v1', plural: 'nodes' } as const
const parts = ['region', 'zone']

/** The first release that copies the labels that nodes have, instead of labels of their own. */
const NODE_LABELS_SINCE = 34

export function createPodTopologyLabels(
  objects: Pick<Objects, 'get'>,
  { release }: Pick<Gates, 'release'>,
): Plugin {
  const domain = release < NODE_LABELS_SINCE ? 'topology.k8s.io' : 'topology.kubernetes.io'
  const copied = new Set(parts.map((part) => `${domain}/${part}`))
  return {
    name: 'PodTopologyLabels',
    resources: new Set(['pods']),
    mutate: async (attributes) => {
      const { operation, object } = attributes
      const name = nodeNameIn(attributes)
      if (object === undefined || operation !== 'CREATE' || name === '') return object
      const node = await getOrLatest(objects, nodes, { namespace: '', name })
      const labels = Object.entries(node?.metadata.labels ?? {}).filter(([key]) => copied.has(key))
      return labels.length === 0 ? object : withLabels(object, Object.fromEntries(labels))
    },
  }
}

/**
 * Returns the name of the node to which the request binds a pod. Returns an empty string if the
 * request does not bind a pod.
 */
function nodeNameIn(attributes: Attributes): string {
  const { object, resource, subresource } = attributes
  if (targetOf(attributes) === 'pods') return textOf(fieldsOf(object?.['spec'])['nodeName'])
  if (resource.plural !== 'pods' || subresource !== 'binding') return ''
  const { kind, name } = fieldsOf(object?.['target'])
  return kind === 'Node' ? textOf(name) : ''
}

const withLabels = (
  object: KubeObject,
  labels: { readonly [key: string]: string },
): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } },
})

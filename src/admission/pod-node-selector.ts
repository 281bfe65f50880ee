/**
 * Adds the node selector of the namespace to new pods. The selector comes from an annotation of the
 * namespace, or from the default in the configuration. A pod is rejected if its own selector
 * conflicts with this selector. It is also rejected if its selector then contains labels that the
 * configuration does not allow in the namespace. As in kube-apiserver, updates are not checked.
 */
import { forbidden, internalError, unclassified } from '../api/errors.ts'
import { entriesOf, fieldsOf, type KubeObject } from '../api/object.ts'
import { checkLabelValue, checkQualifiedName, labelTextOf } from '../api/names.ts'
import { quote } from '../api/quote.ts'
import type { PodNodeSelectors } from '../config/files/pod-node-selector.ts'
import { type Attributes, type Plugin, targetOf } from './admission.ts'
import { getOrLatest, type Objects } from '../api/object-access.ts'

const annotation = 'scheduler.alpha.kubernetes.io/node-selector'
const namespaces = { group: '', version: 'v1', plural: 'namespaces' } as const

type NodeLabels = ReadonlyMap<string, string>

export function createPodNodeSelector(
  objects: Pick<Objects, 'get'>,
  { clusterDefault, whitelists }: PodNodeSelectors,
): Plugin {
  const labelsOf = async ({ namespace, resource }: Attributes): Promise<NodeLabels> => {
    const found = await getOrLatest(objects, namespaces, { namespace: '', name: namespace })
    if (found === undefined) throw internalError(`namespace ${namespace} does not exist`)
    return parseNodeLabels(
      found.metadata.annotations?.[annotation] ?? clusterDefault,
      resource.release,
    )
  }

  const check = (attributes: Attributes, pod: KubeObject, selected: NodeLabels): void => {
    const { namespace, resource } = attributes
    const whitelist = parseNodeLabels(whitelists.get(namespace) ?? '', resource.release)
    const isAllowed =
      whitelist.size === 0 || [...selected].every(([key, value]) => whitelist.get(key) === value)
    if (!isAllowed)
      throw refused(
        attributes,
        pod,
        'pod node label selector labels conflict with its namespace whitelist',
      )
  }

  return {
    name: 'PodNodeSelector',
    resources: new Set(['pods']),
    mutate: async (attributes) => {
      const { object } = attributes
      if (object === undefined || !isConcerned(attributes)) return object
      const [wanted, selected] = [await labelsOf(attributes), selectorOf(object)]
      refuseConflict(attributes, object, { wanted, selected })
      const merged = new Map([...wanted, ...selected])
      check(attributes, object, merged)
      if (wanted.size === 0) return object
      return {
        ...object,
        spec: { ...fieldsOf(object['spec']), nodeSelector: Object.fromEntries(merged) },
      }
    },
    // Check again, because a webhook might have changed the node selector after `mutate` was
    // called.
    validate: async (attributes) => {
      const { object } = attributes
      if (object === undefined || !isConcerned(attributes)) return
      const [wanted, selected] = [await labelsOf(attributes), selectorOf(object)]
      refuseConflict(attributes, object, { wanted, selected })
      check(attributes, object, selected)
    },
  }
}

const isConcerned = (attributes: Attributes): boolean =>
  attributes.operation === 'CREATE' && targetOf(attributes) === 'pods'

const selectorOf = ({ spec }: KubeObject): NodeLabels =>
  new Map(entriesOf(fieldsOf(spec)['nodeSelector']))

type Selectors = { readonly wanted: NodeLabels; readonly selected: NodeLabels }

function refuseConflict(
  attributes: Attributes,
  pod: KubeObject,
  { wanted, selected }: Selectors,
): void {
  for (const [key, value] of wanted) {
    if (selected.has(key) && selected.get(key) !== value) {
      const why = 'pod node label selector conflicts with its namespace node label selector'
      throw refused(attributes, pod, why)
    }
  }
}

/**
 * Returns the Forbidden error for a pod. As in kube-apiserver, the error contains no name if the
 * name has not been generated yet; it does not contain the generateName either.
 */
const refused = ({ resource }: Attributes, { metadata }: KubeObject, why: string): Error =>
  forbidden(resource, metadata.name ?? '', why)

/**
 * Parses a node selector such as `zone=a, disk=ssd`. Other operators and sets are not supported. If
 * a key is repeated, the last value is used.
 */
function parseNodeLabels(selector: string, release: number): NodeLabels {
  const textOfRelease = (text: string): string => labelTextOf(text, release)
  const labels = new Map<string, string>()
  for (const pair of selector === '' ? [] : selector.split(',')) {
    const parts = pair.split('=')
    const [key = '', value = ''] = parts.map((part) => part.trim())
    if (parts.length !== 2) throw unclassified(`invalid selector: [${parts.join(' ')}]`)
    const keyFaults = checkQualifiedName(key).map(textOfRelease)
    const valueFaults = checkLabelValue(value).map(textOfRelease)
    // As in kube-apiserver, errors in a node selector have no field path.
    if (keyFaults.length > 0)
      throw unclassified(`<nil>: Invalid value: ${quote(key)}: ${keyFaults.join('; ')}`)
    if (valueFaults.length > 0)
      throw unclassified(`[${key}]: Invalid value: ${quote(value)}: ${valueFaults.join('; ')}`)
    labels.set(key, value)
  }
  return labels
}

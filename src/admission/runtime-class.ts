/**
 * Copies the overhead and the scheduling constraints of a RuntimeClass into a new pod that uses it.
 */
import { cutText } from '../lib/text/cut-text.ts'
import { unclassified } from '../api/errors.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  textOf,
} from '../api/object.ts'
import { isSameList, readResourceList } from '../api/resource-list.ts'
import { once } from '../lib/scheduling/parts.ts'
import { type Attributes, type Plugin, refusal, targetOf } from './admission.ts'
import { getOrLatest, type Objects } from '../api/object-access.ts'
import { mergeTolerations } from './tolerations.ts'

const runtimeClasses = { group: 'node.k8s.io', version: 'v1', plural: 'runtimeclasses' } as const

export function createRuntimeClass(objects: Pick<Objects, 'get'>): Plugin {
  /** Resolves to the RuntimeClass of the pod, or to undefined if the pod does not name one. */
  const classOf = async (
    attributes: Attributes,
    pod: KubeObject,
  ): Promise<KubeObject | undefined> => {
    const { runtimeClassName } = fieldsOf(pod['spec'])
    if (runtimeClassName === undefined) return undefined
    const name = textOf(runtimeClassName)
    // kube-apiserver looks up the RuntimeClass with a client that rejects an empty name. This is
    // the error of that client.
    if (name === '') throw unclassified('resource name may not be empty')
    const found = await getOrLatest(objects, runtimeClasses, { namespace: '', name })
    if (found === undefined)
      throw refusal(attributes, `pod rejected: RuntimeClass "${cutText(name)}" not found`)
    return found
  }

  return {
    name: 'RuntimeClass',
    resources: new Set(['pods']),
    mutate: async (attributes) => {
      const { object } = attributes
      if (object === undefined || !isNewPod(attributes)) return object
      const runtimeClass = await classOf(attributes, object)
      if (runtimeClass === undefined) return object
      return attributes.context.divide(() => withClass(attributes, object, runtimeClass))
    },
    validate: async (attributes) => {
      const { object } = attributes
      if (object === undefined || !isNewPod(attributes)) return
      const given = fieldsOf(object['spec'])['overhead']
      const podFixed = overheadOf(await classOf(attributes, object))
      if (podFixed === undefined) {
        if (given === undefined) return
        throw refusal(
          attributes,
          'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
        )
      }
      const isSame = await attributes.context.divide(() =>
        isSameList(readResourceList(given), readResourceList(podFixed)),
      )
      if (!isSame) throw refusal(attributes, overheadDiffers)
    },
  }
}

const isNewPod = (attributes: Attributes): boolean =>
  attributes.operation === 'CREATE' && targetOf(attributes) === 'pods'

const overheadDiffers = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"

/** Returns the overhead that the RuntimeClass defines, or undefined if it defines no overhead. */
function overheadOf(runtimeClass: KubeObject | undefined): Json | undefined {
  const stated = runtimeClass?.['overhead']
  return stated === undefined ? undefined : (fieldsOf(stated)['podFixed'] ?? {})
}

/** Returns a pod with the overhead and the scheduling constraints of its RuntimeClass. */
function withClass(attributes: Attributes, pod: KubeObject, runtimeClass: KubeObject): KubeObject {
  const spec = fieldsOf(pod['spec'])
  const scheduling =
    runtimeClass['scheduling'] === undefined
      ? {}
      : scheduled(attributes, spec, fieldsOf(runtimeClass['scheduling']))
  return { ...pod, spec: { ...spec, ...overhead(attributes, spec, runtimeClass), ...scheduling } }
}

function overhead(attributes: Attributes, spec: Fields, runtimeClass: KubeObject): Fields {
  const podFixed = overheadOf(runtimeClass)
  if (podFixed === undefined) return {}
  const given = readResourceList(spec['overhead'])
  if (given.size > 0 && !isSameList(given, readResourceList(podFixed))) {
    throw refusal(attributes, overheadDiffers)
  }
  return { overhead: podFixed }
}

function scheduled(attributes: Attributes, spec: Fields, scheduling: Fields): Fields {
  const [own, wanted] = [fieldsOf(spec['nodeSelector']), fieldsOf(scheduling['nodeSelector'])]
  for (const [key, value] of Object.entries(wanted)) {
    if (!Object.hasOwn(own, key) || own[key] === value) continue
    const [theirs, ours] = [textOf(value), textOf(own[key])]
    const why = `runtimeClass.scheduling.nodeSelector[${key}] = ${theirs}; pod.spec.nodeSelector[${key}] = ${ours}`
    throw refusal(attributes, `conflict: ${why}`)
  }
  // `mergeTolerations` adds the tolerations of the RuntimeClass. It also removes tolerations of the
  // pod that other tolerations cover.
  const given = once('tolerations of a pod and its class', () => [
    ...itemsOf(spec['tolerations']),
    ...itemsOf(scheduling['tolerations']),
  ])
  const tolerations = mergeTolerations(given)
  return {
    ...(Object.keys(wanted).length === 0 ? {} : { nodeSelector: { ...own, ...wanted } }),
    ...(tolerations.length === 0 ? {} : { tolerations }),
  }
}

/**
 * Copies the priority of a pod's PriorityClass into the pod. Later changes to the class do not
 * affect the pod.
 */
import { cutText } from '../lib/text/cut-text.ts'
import { fieldsOf, type KubeObject, textOf } from '../api/object.ts'
import { type Attributes, type Plugin, refusal, targetOf } from './admission.ts'
import { getOrLatest, type Objects } from '../api/object-access.ts'

const priorityClasses = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  plural: 'priorityclasses',
} as const

type Priority = {
  readonly className: string
  readonly value: number
  readonly preemptionPolicy: string
}

/** Priority of a pod without a priorityClassName, if no PriorityClass is the global default. */
const none: Priority = { className: '', value: 0, preemptionPolicy: 'PreemptLowerPriority' }

export function createPriority(objects: Pick<Objects, 'get' | 'list'>): Plugin {
  const priorityOf = async (attributes: Attributes, className: string): Promise<Priority> => {
    if (className === '') {
      const found = defaultOf(await objects.list(priorityClasses, '', 'any'))
      return found === undefined ? none : read(found)
    }
    const found = await getOrLatest(objects, priorityClasses, { namespace: '', name: className })
    if (found === undefined)
      throw refusal(attributes, `no PriorityClass with name ${cutText(className)} was found`)
    return read(found)
  }

  const mutateNew = async (attributes: Attributes, pod: KubeObject): Promise<KubeObject> => {
    const spec = fieldsOf(pod['spec'])
    const { className, value, preemptionPolicy } = await priorityOf(
      attributes,
      textOf(spec['priorityClassName']),
    )
    const refuseOther = (what: string, given: string | number, computed: string | number): void => {
      if (given === computed) return
      const why = `must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`
      throw refusal(attributes, `the ${what} (${given}) ${why}`)
    }
    refuseOther('integer value of priority', Number(spec['priority'] ?? value), value)
    const givenPolicy = textOf(spec['preemptionPolicy'] ?? preemptionPolicy)
    refuseOther('string value of PreemptionPolicy', givenPolicy, preemptionPolicy)
    const named = className === '' ? {} : { priorityClassName: className }
    return { ...pod, spec: { ...spec, ...named, priority: value, preemptionPolicy } }
  }

  return {
    name: 'Priority',
    resources: new Set(['pods', 'priorityclasses.scheduling.k8s.io']),
    mutate: (attributes) => {
      const { operation, object, oldObject } = attributes
      if (object === undefined || targetOf(attributes) !== 'pods') return object
      if (operation === 'CREATE') return mutateNew(attributes, object)
      return oldObject === undefined ? object : withOldPriority(object, oldObject)
    },
    validate: async (attributes) => {
      const { operation, object } = attributes
      if (
        targetOf(attributes) !== 'priorityclasses.scheduling.k8s.io' ||
        object?.['globalDefault'] !== true
      )
        return
      const found = defaultOf(await objects.list(priorityClasses, '', 'latest'))
      if (
        found === undefined ||
        (operation === 'UPDATE' && found.metadata.name === object.metadata.name)
      )
        return
      const why = `PriorityClass ${found.metadata.name} is already marked as default. Only one default can exist`
      throw refusal(attributes, why)
    },
  }
}

/**
 * Returns the default class. If several classes are marked as default, returns the class with the
 * lowest value.
 */
function defaultOf(classes: readonly KubeObject[]): KubeObject | undefined {
  const defaults = classes.filter((one) => one['globalDefault'] === true)
  return defaults.toSorted((one, other) => read(one).value - read(other).value)[0]
}

const read = ({ metadata, value, preemptionPolicy }: KubeObject): Priority => ({
  className: metadata.name ?? '',
  value: Number(value ?? 0),
  preemptionPolicy: textOf(preemptionPolicy) || none.preemptionPolicy,
})

function withOldPriority(pod: KubeObject, oldPod: KubeObject): KubeObject {
  const [spec, oldSpec] = [fieldsOf(pod['spec']), fieldsOf(oldPod['spec'])]
  const kept = (['priority', 'preemptionPolicy'] as const).filter(
    (field) => spec[field] === undefined && oldSpec[field] !== undefined,
  )
  if (kept.length === 0) return pod
  return {
    ...pod,
    spec: { ...spec, ...Object.fromEntries(kept.map((field) => [field, oldSpec[field]])) },
  }
}

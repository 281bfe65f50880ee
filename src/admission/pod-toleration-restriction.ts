/**
 * Adds the default tolerations of a namespace to its pods, and rejects tolerations that the
 * whitelist of the namespace does not allow. Both lists are JSON in annotations of the namespace.
 * If an annotation is missing, the list in the configuration applies. Pods that are not best-effort
 * get a toleration for memory pressure.
 */
import { internalError, unclassified } from '../api/errors.ts'
import type { Gates } from '../api/gates.ts'
import { JsonSyntaxError } from '../api/json-scanner.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject } from '../api/object.ts'
import { decodeValue } from '../objects/codec/decode.ts'
import type { PodTolerations } from '../config/files/pod-toleration-restriction.ts'
import { qosClassOf } from '../registry/kinds/core/pod/qos.ts'
import type { Schema } from '../objects/schema/schema.ts'
import { once } from '../lib/scheduling/parts.ts'
import { type Attributes, type Plugin, targetOf } from './admission.ts'
import { getOrLatest, type Objects } from '../api/object-access.ts'
import { areCovered, mergeTolerations } from './tolerations.ts'

const defaultsAnnotation = 'scheduler.alpha.kubernetes.io/defaultTolerations'
const whitelistAnnotation = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist'
const namespaces = { group: '', version: 'v1', plural: 'namespaces' } as const

const memoryPressure: Fields = {
  key: 'node.kubernetes.io/memory-pressure',
  operator: 'Exists',
  effect: 'NoSchedule',
}

type PodTolerationOptions = {
  readonly objects: Pick<Objects, 'get'>
  readonly configuration: PodTolerations
  readonly gates: Gates
}

export function createPodTolerationRestriction({
  objects,
  configuration,
  gates,
}: PodTolerationOptions): Plugin {
  const namespaceOf = async ({ namespace }: Attributes): Promise<KubeObject> => {
    const found = await getOrLatest(objects, namespaces, { namespace: '', name: namespace })
    if (found === undefined) throw internalError(`namespaces "${namespace}" not found`)
    return found
  }

  const check = (
    attributes: Attributes,
    namespace: KubeObject,
    tolerations: readonly Fields[],
  ): void => {
    if (tolerations.length === 0) return
    const own = listIn(namespace, whitelistAnnotation, attributes)
    const whitelist = own ?? configuration.whitelist
    if (whitelist.length === 0 || areCovered(tolerations, whitelist)) return
    const scope = own === undefined ? 'cluster' : 'namespace'
    throw unclassified(
      `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`,
    )
  }

  const withTolerations = (
    attributes: Attributes,
    pod: KubeObject,
    namespace: KubeObject,
  ): KubeObject => {
    const spec = fieldsOf(pod['spec'])
    const isNew = attributes.operation === 'CREATE'
    const defaults = isNew
      ? (listIn(namespace, defaultsAnnotation, attributes) ?? configuration.defaults)
      : []
    const isBestEffort = qosClassOf(pod, gates) === 'BestEffort'
    const added = [...defaults, ...(isBestEffort ? [] : [memoryPressure])]
    const given = itemsOf(spec['tolerations'])
    const all = once('tolerations of a pod and its namespace', () => [...given, ...added])
    const tolerations = added.length === 0 ? given : mergeTolerations(all)
    check(attributes, namespace, tolerations)
    return added.length === 0 ? pod : { ...pod, spec: { ...spec, tolerations } }
  }

  return {
    name: 'PodTolerationRestriction',
    resources: new Set(['pods']),
    mutate: async (attributes) => {
      const { object, context } = attributes
      if (object === undefined || !isConcerned(attributes)) return object
      const namespace = await namespaceOf(attributes)
      return context.divide(() => withTolerations(attributes, object, namespace))
    },
    // Check again, because a webhook might have changed the tolerations after `mutate` was called.
    validate: async (attributes) => {
      const { object, context } = attributes
      if (object === undefined || !isConcerned(attributes)) return
      const namespace = await namespaceOf(attributes)
      const tolerations = itemsOf(fieldsOf(object['spec'])['tolerations'])
      await context.divide(() => check(attributes, namespace, tolerations))
    },
  }
}

const isConcerned = (attributes: Attributes): boolean =>
  (attributes.operation === 'CREATE' || attributes.operation === 'UPDATE') &&
  targetOf(attributes) === 'pods'

/**
 * Returns the tolerations in an annotation, or undefined if the namespace does not have the
 * annotation. An empty annotation means an empty list.
 */
function listIn(
  { metadata }: KubeObject,
  name: string,
  attributes: Attributes,
): readonly Fields[] | undefined {
  const text = metadata.annotations?.[name]
  if (text === undefined) return undefined
  if (text === '') return []
  const schema = tolerationsIn(attributes)
  try {
    const { value, fault } = decodeValue(text, schema)
    if (fault !== undefined) throw unclassified(fault)
    return itemsOf(value)
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw unclassified(error.message, error)
    throw error
  }
}

/** Returns the schema of a pod's tolerations. */
function tolerationsIn({ shape }: Attributes): Schema {
  const spec = shape().struct.byName.get('spec')?.schema
  const found = spec?.type === 'struct' ? spec.byName.get('tolerations')?.schema : undefined
  if (found === undefined) throw new Error('the schema of pods has no field spec.tolerations')
  return found
}

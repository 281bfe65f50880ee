/** Conversions of old HorizontalPodAutoscalers, EndpointSlices and PriorityLevelConfigurations. */
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  type KubeObject,
  numberOf,
  omit,
  present,
} from '../../api/object.ts'
import { toNewMetric } from '../kinds/autoscaling/hpa-metrics.ts'

const SHARES_DEFAULT = 30
const keepsZeroAnnotation = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares'
const zoneLabel = 'topology.kubernetes.io/zone'
const hostLabel = 'kubernetes.io/hostname'

/**
 * Converts an autoscaler. The metrics of autoscaling/v2beta1 have the same form as those in
 * annotations of autoscaling/v1.
 */
export function autoscaler(object: KubeObject): KubeObject {
  const spec = fieldsOf(object['spec'])
  const status = fieldsOf(object['status'])
  const { metrics } = spec
  const { currentMetrics } = status
  return {
    ...object,
    spec: present({
      ...spec,
      metrics: Array.isArray(metrics) ? itemsOf(metrics).map(newTarget) : undefined,
    }),
    status: present({
      ...status,
      currentMetrics: Array.isArray(currentMetrics)
        ? itemsOf(currentMetrics).map((metric) => toNewMetric(metric, 'current'))
        : undefined,
    }),
  }
}

/**
 * Converts a metric. As in kube-apiserver, a container metric loses the name of its container, and
 * an object metric keeps its target value.
 */
function newTarget(metric: Fields): Fields {
  const converted = toNewMetric(metric, 'target')
  const container = converted['containerResource']
  if (isFields(container))
    return { ...converted, containerResource: { ...container, container: '' } }
  const object = converted['object']
  if (!isFields(object)) return converted
  const { targetValue = '0' } = fieldsOf(metric['object'])
  const target = { ...fieldsOf(object['target']), value: targetValue }
  return { ...converted, object: { ...object, target } }
}

/**
 * Converts an EndpointSlice. In the old version, `topology` is a map: the zone becomes a field, a
 * host name that equals nodeName is dropped, and the rest becomes deprecatedTopology.
 */
export function endpointSlice(object: KubeObject): KubeObject {
  const { endpoints } = object
  if (!Array.isArray(endpoints)) return object
  return { ...object, endpoints: itemsOf(endpoints).map(newEndpoint) }
}

function newEndpoint({ topology, ...endpoint }: Fields): Fields {
  if (!isFields(topology)) return endpoint
  const isNodeTwice =
    topology[hostLabel] !== undefined && topology[hostLabel] === endpoint['nodeName']
  const rest = omit(topology, zoneLabel, ...(isNodeTwice ? [hostLabel] : []))
  return present({
    ...endpoint,
    zone: topology[zoneLabel],
    deprecatedTopology: Object.keys(rest).length === 0 ? undefined : rest,
  })
}

export function oldPriorityLevel(object: KubeObject): KubeObject {
  return withLimited(object, ({ assuredConcurrencyShares, ...limited }) => ({
    ...limited,
    nominalConcurrencyShares: sharesOf(assuredConcurrencyShares),
  }))
}

/**
 * Converts a priority level. In the old version, zero shares mean the default, unless an annotation
 * preserves the zero.
 */
export function priorityLevel(object: KubeObject): KubeObject {
  const { annotations } = object.metadata
  if (annotations?.[keepsZeroAnnotation] !== undefined) {
    const rest = omit(annotations, keepsZeroAnnotation)
    return { ...object, metadata: present({ ...object.metadata, annotations: rest }) }
  }
  return withLimited(object, (limited) => ({
    ...limited,
    nominalConcurrencyShares: sharesOf(limited['nominalConcurrencyShares']),
  }))
}

const sharesOf = (shares: Json | undefined): number => numberOf(shares) || SHARES_DEFAULT

function withLimited(object: KubeObject, change: (limited: Fields) => Fields): KubeObject {
  const spec = fieldsOf(object['spec'])
  const { limited } = spec
  return isFields(limited) ? { ...object, spec: { ...spec, limited: change(limited) } } : object
}

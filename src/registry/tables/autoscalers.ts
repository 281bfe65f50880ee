/**
 * Table of HorizontalPodAutoscalers. It is the same for both versions. A cell such as `cpu:
 * 45%/60%` shows the current value and the target.
 */
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
} from '../../api/object.ts'
import type { TableKind } from '../../api/table.ts'
import { toStored } from '../kinds/autoscaling/horizontal-pod-autoscaler.ts'
import { createdAgo, nameOf, shownOf, specOf, statusOf, table } from './columns.ts'

export const autoscalerTable: TableKind = table(
  'Name | Reference | Targets | MinPods | MaxPods | Replicas | Age',
  (object) => {
    const { scaleTargetRef, minReplicas, maxReplicas } = specOf(object)
    const { kind, name } = fieldsOf(scaleTargetRef)
    return [
      nameOf(object),
      `${textOf(kind)}/${textOf(name)}`,
      targets(object),
      minReplicas === undefined ? '<unset>' : shownOf(minReplicas),
      numberOf(maxReplicas),
      numberOf(statusOf(object)['currentReplicas']),
      createdAgo(object),
    ]
  },
)

const SHOWN_MAX = 2

function targets(object: KubeObject): string {
  if (object.apiVersion === 'autoscaling/v1') return targets(cpuFirst(toStored(object)))
  const metrics = itemsOf(specOf(object)['metrics'])
  if (metrics.length === 0) return '<none>'
  const current = itemsOf(statusOf(object)['currentMetrics'])
  const shown = metrics.slice(0, SHOWN_MAX).map((metric, at) => target(metric, current[at] ?? {}))
  const more = metrics.length > SHOWN_MAX ? ` + ${metrics.length - SHOWN_MAX} more...` : ''
  return `${shown.join(', ')}${more}`
}

/**
 * Moves the CPU metric to the front, for objects that are read as autoscaling/v1. The position of
 * the CPU metric is not preserved in v1, but is usually the first.
 */
function cpuFirst(object: KubeObject): KubeObject {
  const spec = specOf(object)
  const metrics = itemsOf(spec['metrics'])
  const sorted = [...metrics.filter(isCpu), ...metrics.filter((metric) => !isCpu(metric))]
  return { ...object, apiVersion: 'autoscaling/v2', spec: { ...spec, metrics: sorted } }
}

const isCpu = (metric: Fields): boolean => fieldsOf(metric['resource'])['name'] === 'cpu'

const sources: ReadonlyMap<string, string> = new Map([
  ['Resource', 'resource'],
  ['ContainerResource', 'containerResource'],
  ['Pods', 'pods'],
  ['Object', 'object'],
  ['External', 'external'],
])

function target(metric: Fields, status: Fields): string {
  const source = sources.get(textOf(metric['type']))
  if (source === undefined) return '<unknown type>'
  const { name, target: wanted } = fieldsOf(metric[source])
  const { current } = fieldsOf(status[source])
  const isOfResource = source === 'resource' || source === 'containerResource'
  const prefix = isOfResource ? `${textOf(name)}: ` : ''
  return `${prefix}${measured(fieldsOf(wanted), fieldsOf(current), source)}`
}

const orUnknown = (text: string): string => (text === '' ? '<unknown>' : text)

/**
 * Formats a measured value and its target. Metrics of Pods are always averages. For object and
 * external metrics, `(avg)` marks an average.
 */
function measured(
  { averageUtilization, averageValue, value }: Fields,
  now: Fields,
  source: string,
): string {
  if (averageUtilization !== undefined) {
    const { averageUtilization: used } = now
    return `${used === undefined ? '<unknown>' : `${shownOf(used)}%`}/${shownOf(averageUtilization)}%`
  }
  if (averageValue !== undefined) {
    const mark = source === 'object' || source === 'external' ? ' (avg)' : ''
    return `${orUnknown(textOf(now['averageValue']))}/${textOf(averageValue)}${mark}`
  }
  return `${orUnknown(textOf(now['value']))}/${textOf(value)}`
}

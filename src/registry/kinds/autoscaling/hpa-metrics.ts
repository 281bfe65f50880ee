/**
 * Converts metrics of autoscalers between two forms: the form of autoscaling/v2, and the older form
 * in annotations of autoscaling/v1. Fields are in the order in which kube-apiserver serializes
 * them.
 */
import { type Fields, fieldsOf, isFields, isNumber, present } from '../../../api/object.ts'

/** The value of a metric to convert: the target (`target`) or the measured value (`current`). */
export type Side = 'target' | 'current'

export function toOldMetric(metric: Fields, side: Side): Fields {
  const name = sourceOf(metric)
  const source = name === undefined ? undefined : metric[name]
  if (name === undefined || source === undefined) return present({ type: metric['type'] })
  return present({ type: metric['type'], [name]: oldSource(name, fieldsOf(source), side) })
}

export function toNewMetric(metric: Fields, side: Side): Fields {
  const name = sourceOf(metric)
  const source = name === undefined ? undefined : metric[name]
  if (name === undefined || source === undefined) return present({ type: metric['type'] })
  return present({ type: metric['type'], [name]: newSource(name, fieldsOf(source), side) })
}

const sources = ['object', 'pods', 'resource', 'containerResource', 'external'] as const
type Source = (typeof sources)[number]

const sourceOf = (metric: Fields): Source | undefined =>
  sources.find((name) => isFields(metric[name]))

function oldSource(name: Source, source: Fields, side: Side): Fields {
  const { value, averageValue, averageUtilization } = fieldsOf(source[side])
  const { name: metricName, selector } = fieldsOf(source['metric'])
  const { describedObject, container } = source
  const isTarget = side === 'target'
  switch (name) {
    case 'resource':
    case 'containerResource':
      return present({
        name: source['name'],
        [`${side}AverageUtilization`]: averageUtilization,
        [`${side}AverageValue`]: averageValue ?? (isTarget ? undefined : '0'),
        container: name === 'containerResource' ? container : undefined,
      })
    case 'pods':
      return present({ metricName, [`${side}AverageValue`]: averageValue ?? '0', selector })
    case 'object':
      return present({
        target: inOrder(fieldsOf(describedObject), ['kind', 'name', 'apiVersion']),
        metricName,
        [`${side}Value`]: value ?? '0',
        selector,
        averageValue,
      })
    case 'external':
      return present({
        metricName,
        metricSelector: selector,
        [`${side}Value`]: value ?? (isTarget ? undefined : '0'),
        [`${side}AverageValue`]: averageValue,
      })
  }
}

function newSource(name: Source, source: Fields, side: Side): Fields {
  const averageUtilization = source[`${side}AverageUtilization`]
  const own = source[`${side}AverageValue`]
  const measured = name === 'object' ? source['averageValue'] : own
  const given = source[`${side}Value`]
  // In the older form, an absent quantity is zero. Therefore, a zero counts as absent if another
  // quantity of the metric is set.
  const isUsed = isNumber(averageUtilization) && averageUtilization > 0
  const averageValue = side === 'current' && measured === '0' && isUsed ? undefined : measured
  const hasBoth =
    name === 'object' || (name === 'external' && side === 'current' && averageValue !== '0')
  const value = hasBoth && averageValue !== undefined && given === '0' ? undefined : given
  const type =
    averageUtilization !== undefined
      ? 'Utilization'
      : averageValue !== undefined
        ? 'AverageValue'
        : 'Value'
  const amount = present({
    type: side === 'target' ? type : undefined,
    value,
    averageValue,
    averageUtilization,
  })
  const selector = name === 'external' ? source['metricSelector'] : source['selector']
  const metric = present({ name: source['metricName'], selector })
  switch (name) {
    case 'resource':
      return present({ name: source['name'], [side]: amount })
    case 'containerResource':
      return present({ name: source['name'], [side]: amount, container: source['container'] })
    case 'object':
      return present({ describedObject: source['target'], [side]: amount, metric })
    case 'pods':
    case 'external':
      return present({ metric, [side]: amount })
  }
}

const inOrder = (fields: Fields, names: readonly string[]): Fields =>
  present(Object.fromEntries(names.map((name) => [name, fields[name]])))

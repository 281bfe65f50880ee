/**
 * Rules for HorizontalPodAutoscalers, which are stored as v2. v1 has fields only for the CPU
 * target. All other settings are JSON in annotations of the v1 object.
 */
import type { Gates } from '../../../api/gates.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  type KubeObject,
  present,
  textOf,
} from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { faultsOf } from '../../rules/rule.ts'
import { annotationNames, prefix, readAnnotations } from './hpa-annotations.ts'
import { type Side, toOldMetric } from './hpa-metrics.ts'
import {
  autoscalerSpec,
  autoscalerStatus,
  keptObjects,
  keptTarget,
  versionFault,
} from './hpa-rules.ts'

const CPU_TARGET_PERCENT = 80
const MIN_REPLICAS = 1

/**
 * Rules of v2, the storage version. The rules of v1 convert objects to v2 and then apply these
 * rules.
 */
export const autoscalerV2Rules: KindRules = {
  setDefaults: (object) => withoutAnnotations(setStoredDefaults(object)),
  validate: (object, gates) => faultsOf(autoscalerSpec, object['spec'], 'spec', gates),
  validateUpdate: (object, current, gates) =>
    faultsOf(autoscalerSpec, object['spec'], 'spec', gatesFor(gates, object, current)),
  status: { validateUpdate: (object) => faultsOf(autoscalerStatus, object['status'], 'status') },
}

export const autoscalerV1Rules: KindRules = {
  // Converts the object to v2 and back, because defaults depend on fields that only v2 has.
  setDefaults: (object) => fromStored(setStoredDefaults(toStored(object))),
  convert: { toStored, fromStored },
  gatedForm: { version: 'v2', to: toStored, from: fromStored },
  // Converts the object to v2 and back, because in v1 a part of the status is only in annotations.
  prepareCreate: (object) => fromStored({ ...toStored(object), status: {} }),
  prepareUpdate: (object, current) =>
    fromStored({ ...toStored(object), status: statusOf(current) }),
  validate: (object, gates) => faultsOf(autoscalerSpec, toStored(object)['spec'], 'spec', gates),
  validateUpdate: (object, current, gates) =>
    faultsOf(
      autoscalerSpec,
      toStored(object)['spec'],
      'spec',
      gatesFor(gates, toStored(object), toStored(current)),
    ),
  status: {
    prepareUpdate: (object, current) => fromStored({ ...toStored(object), spec: specOf(current) }),
    validateUpdate: (object) => faultsOf(autoscalerStatus, object['status'], 'status'),
  },
}

const specOf = (v1: KubeObject): Fields => fieldsOf(toStored(v1)['spec'])
const statusOf = (v1: KubeObject): Fields => fieldsOf(toStored(v1)['status'])

/**
 * Returns the gates for an update. An object that is stored with zero minReplicas can keep this
 * value.
 */
function gatesFor(gates: Gates, object: KubeObject, current: KubeObject): Gates {
  const before = fieldsOf(current['spec'])
  const kept = [
    ...(before['minReplicas'] === 0 ? ['HPAScaleToZero'] : []),
    ...(isSameTarget(fieldsOf(object['spec']), before) ? [keptTarget] : []),
    ...(itemsOf(before['metrics']).some(hasInvalidObject) ? [keptObjects] : []),
  ]
  return kept.length === 0
    ? gates
    : { ...gates, isOn: (name) => kept.includes(name) || gates.isOn(name) }
}

const isSameTarget = (spec: Fields, before: Fields): boolean => {
  const [now, was] = [fieldsOf(spec['scaleTargetRef']), fieldsOf(before['scaleTargetRef'])]
  return ['apiVersion', 'kind'].every((field) => textOf(now[field]) === textOf(was[field]))
}

const hasInvalidObject = ({ type, object }: Fields): boolean =>
  type === 'Object' &&
  isFields(object) &&
  versionFault(textOf(fieldsOf(object['describedObject'])['apiVersion']), true) !== undefined

function setStoredDefaults(object: KubeObject): KubeObject {
  const spec = fieldsOf(object['spec'])
  const { minReplicas = MIN_REPLICAS, metrics, behavior } = spec
  const hasMetrics = Array.isArray(metrics) && metrics.length > 0
  return {
    ...object,
    spec: present({
      ...spec,
      minReplicas,
      metrics: hasMetrics ? metrics : [defaultMetric],
      behavior: isFields(behavior) ? withBehaviorDefaults(behavior) : undefined,
    }),
  }
}

const policy = (type: string, value: number): Fields => ({ type, value, periodSeconds: 15 })

function withBehaviorDefaults(behavior: Fields): Fields {
  const percent = policy('Percent', 100)
  const up = fieldsOf(behavior['scaleUp'])
  const down = fieldsOf(behavior['scaleDown'])
  return {
    scaleUp: {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [policy('Pods', 4), percent],
      ...up,
    },
    scaleDown: { selectPolicy: 'Max', policies: [percent], ...down },
  }
}

const cpuMetric = (percent: Json): Fields => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: percent } },
})

const defaultMetric = cpuMetric(CPU_TARGET_PERCENT)

const currentCpuMetric = (percent: Json): Fields => ({
  type: 'Resource',
  resource: { name: 'cpu', current: { averageUtilization: percent } },
})

/** Converts an autoscaler from v1 to v2. */
export function toStored(object: KubeObject): KubeObject {
  const { targetCPUUtilizationPercentage, ...spec } = fieldsOf(object['spec'])
  const { currentCPUUtilizationPercentage, ...status } = fieldsOf(object['status'])
  const { metrics, behavior, currentMetrics, conditions } = readAnnotations(
    object.metadata.annotations,
  )
  const cpu =
    targetCPUUtilizationPercentage === undefined ? [] : [cpuMetric(targetCPUUtilizationPercentage)]
  const own = [...(metrics ?? []), ...cpu]
  const currentCpu =
    currentCPUUtilizationPercentage === undefined
      ? []
      : [currentCpuMetric(currentCPUUtilizationPercentage)]
  // The annotation with the current metrics takes precedence, because it contains all metrics. The
  // field of v1 contains only the CPU utilization.
  const current = currentMetrics ?? currentCpu
  return {
    ...withoutAnnotations(object),
    spec: present({ ...spec, metrics: own.length > 0 ? own : [defaultMetric], behavior }),
    status: present({
      ...status,
      currentMetrics: current.length > 0 ? current : undefined,
      conditions,
    }),
  }
}

function fromStored(object: KubeObject): KubeObject {
  const { metrics, behavior, ...spec } = fieldsOf(object['spec'])
  const { currentMetrics, conditions, ...status } = fieldsOf(object['status'])
  const cpu = itemsOf(metrics).find((metric) => isCpu(metric, 'target'))
  const currentCpu = itemsOf(currentMetrics).find((metric) => isCpu(metric, 'current'))
  const others = itemsOf(metrics).filter((metric) => !isCpu(metric, 'target'))
  const texts = {
    [`${prefix}metrics`]: printList(others.map((metric) => toOldMetric(metric, 'target'))),
    [`${prefix}behavior`]: isFields(behavior) ? printJson(capitalized(behavior)) : undefined,
    [`${prefix}current-metrics`]: printList(
      itemsOf(currentMetrics).map((metric) => toOldMetric(metric, 'current')),
    ),
    [`${prefix}conditions`]: printList(itemsOf(conditions).map(withTime)),
  }
  return {
    ...withAnnotations(object, texts),
    spec: present({ ...spec, targetCPUUtilizationPercentage: utilizationOf(cpu, 'target') }),
    status: present({
      ...status,
      currentCPUUtilizationPercentage: utilizationOf(currentCpu, 'current'),
    }),
  }
}

/**
 * Returns a condition in the form used in the annotation, where an absent lastTransitionTime is
 * null.
 */
function withTime({
  type = '',
  status = '',
  lastTransitionTime = null,
  reason,
  message,
}: Fields): Fields {
  return present({ type, status, lastTransitionTime, reason, message })
}

const isCpu = (metric: Fields, side: Side): boolean =>
  metric['type'] === 'Resource' &&
  fieldsOf(metric['resource'])['name'] === 'cpu' &&
  utilizationOf(metric, side) !== undefined

const utilizationOf = (metric: Fields | undefined, side: Side): Json | undefined =>
  fieldsOf(fieldsOf(metric?.['resource'])[side])['averageUtilization']

/**
 * Returns the behavior in the form used in the annotation: fields have their Go names, and absent
 * fields are null.
 */
function capitalized(behavior: Fields): Fields {
  return {
    ScaleUp: capitalizedRules(behavior['scaleUp']),
    ScaleDown: capitalizedRules(behavior['scaleDown']),
  }
}

function capitalizedRules(given: Json | undefined): Json {
  if (!isFields(given)) return null
  const {
    stabilizationWindowSeconds = null,
    selectPolicy = null,
    policies,
    tolerance = null,
  } = given
  return {
    StabilizationWindowSeconds: stabilizationWindowSeconds,
    SelectPolicy: selectPolicy,
    Policies: itemsOf(policies).map(({ type = '', value = 0, periodSeconds = 0 }) => ({
      Type: type,
      Value: value,
      PeriodSeconds: periodSeconds,
    })),
    Tolerance: tolerance,
  }
}

const printList = (items: readonly Fields[]): string | undefined =>
  items.length === 0 ? undefined : printJson(items)

const plainNumber = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? Number(value) : value

const printJson = (value: Json): string =>
  JSON.stringify(value, plainNumber).replace(
    /[<>&]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  )

function withoutAnnotations(object: KubeObject): KubeObject {
  const { annotations } = object.metadata
  if (annotations === undefined || !annotationNames.some((name) => name in annotations))
    return object
  return withAnnotations(object, {})
}

function withAnnotations(
  object: KubeObject,
  texts: { readonly [name: string]: string | undefined },
): KubeObject {
  const given = Object.entries(object.metadata.annotations ?? {}).filter(
    ([name]) => !annotationNames.includes(name),
  )
  const own = Object.entries(texts).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  const { annotations: _, ...metadata } = object.metadata
  const all = [...given, ...own]
  if (all.length === 0) return { ...object, metadata }
  return { ...object, metadata: { ...metadata, annotations: Object.fromEntries(all) } }
}

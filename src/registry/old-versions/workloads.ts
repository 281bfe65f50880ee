/**
 * Conversions of workloads from versions before apps/v1. In these versions, selectors and labels
 * default to the labels of the template, and some other defaults are different.
 */
import {
  type Fields,
  fieldsOf,
  type KubeObject,
  numberOf,
  present,
  textOf,
} from '../../api/object.ts'

const rollbackAnnotation = 'deprecated.deployment.rollback.to'
const generationAnnotation = 'deprecated.daemonset.template.generation'
/**
 * Value of revisionHistoryLimit and progressDeadlineSeconds that means no limit. It is the largest
 * int32.
 */
const UNLIMITED = 2 ** 31 - 1
const HISTORY_OF_V1BETA1 = 2

export const deployment = (object: KubeObject): KubeObject =>
  withRollback(withLabels(withSpec(object, { revisionHistoryLimit: HISTORY_OF_V1BETA1 })))

export function extensionsDeployment(object: KubeObject): KubeObject {
  const { type, rollingUpdate } = fieldsOf(fieldsOf(object['spec'])['strategy'])
  const isRolling = textOf(type) === '' || type === 'RollingUpdate'
  const strategy = isRolling
    ? {
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: 1, maxSurge: 1, ...fieldsOf(rollingUpdate) },
      }
    : { type, ...(rollingUpdate === undefined ? {} : { rollingUpdate }) }
  const limits = { revisionHistoryLimit: UNLIMITED, progressDeadlineSeconds: UNLIMITED }
  const defaulted = withSpec(object, limits)
  return withRollback(
    withLabels({ ...defaulted, spec: { ...fieldsOf(defaulted['spec']), strategy } }),
  )
}

export function daemonSet(object: KubeObject): KubeObject {
  const { templateGeneration, ...spec } = fieldsOf(object['spec'])
  const annotated = withAnnotation(object, generationAnnotation, `${numberOf(templateGeneration)}`)
  return withLabels(withManualUpdates({ ...annotated, spec }))
}

export const statefulSet = (object: KubeObject): KubeObject => withLabels(withManualUpdates(object))

export const replicaSet = (object: KubeObject): KubeObject => withLabels(object)

/** Sets defaults for fields that are missing in the spec. */
const withSpec = (object: KubeObject, defaults: Fields): KubeObject => ({
  ...object,
  spec: { ...defaults, ...present(fieldsOf(object['spec'])) },
})

function withManualUpdates(object: KubeObject): KubeObject {
  const spec = fieldsOf(object['spec'])
  const strategy = fieldsOf(spec['updateStrategy'])
  if (textOf(strategy['type']) !== '') return object
  return { ...object, spec: { ...spec, updateStrategy: { ...strategy, type: 'OnDelete' } } }
}

function withLabels(object: KubeObject): KubeObject {
  const spec = fieldsOf(object['spec'])
  const { labels } = fieldsOf(fieldsOf(spec['template'])['metadata'])
  if (labels === undefined) return object
  const { metadata } = object
  const isBare = Object.keys(metadata.labels ?? {}).length === 0
  return {
    ...object,
    metadata: isBare ? present({ ...metadata, labels }) : metadata,
    spec: spec['selector'] === undefined ? { ...spec, selector: { matchLabels: labels } } : spec,
  }
}

function withRollback(object: KubeObject): KubeObject {
  const { rollbackTo, ...spec } = fieldsOf(object['spec'])
  if (rollbackTo === undefined) return object
  const revision = numberOf(fieldsOf(rollbackTo)['revision'])
  return withAnnotation({ ...object, spec }, rollbackAnnotation, `${revision}`)
}

const withAnnotation = (object: KubeObject, name: string, value: string): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [name]: value } },
})

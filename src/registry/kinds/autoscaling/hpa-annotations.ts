/**
 * Decodes the annotations of autoscaling/v1, which contain JSON, to fields of v2. Clients can write
 * any text into annotations. Therefore each annotation has a type, and an annotation that does not
 * match its type is ignored entirely.
 */
import { JsonSyntaxError } from '../../../api/json-scanner.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  type ObjectMeta,
  present,
} from '../../../api/object.ts'
import { decodeValue } from '../../../objects/codec/decode.ts'
import type { Schema, Struct } from '../../../objects/schema/schema.ts'
import { commonType } from '../../types.ts'
import { toNewMetric } from './hpa-metrics.ts'

export const prefix = 'autoscaling.alpha.kubernetes.io/'
export const annotationNames = ['metrics', 'behavior', 'current-metrics', 'conditions'].map(
  (name) => prefix + name,
)

type HpaAnnotations = {
  readonly metrics?: readonly Fields[] | undefined
  readonly behavior?: Fields | undefined
  readonly currentMetrics?: readonly Fields[] | undefined
  readonly conditions?: readonly Fields[] | undefined
}

export function readAnnotations(annotations: ObjectMeta['annotations']): HpaAnnotations {
  if (annotations === undefined) return {}
  const listOf = (
    name: string,
    packageName: string,
    typeName: string,
  ): readonly Fields[] | undefined => {
    const text = annotations[prefix + name]
    return text === undefined ? undefined : readList(text, commonType(packageName, typeName))
  }
  const behavior = annotations[`${prefix}behavior`]
  return {
    // The metrics in annotations of v1 have the fields of v2beta1.
    metrics: listOf('metrics', 'autoscaling/v2beta1', 'MetricSpec')?.map((metric) =>
      toNewMetric(metric, 'target'),
    ),
    behavior: behavior === undefined ? undefined : readBehavior(behavior),
    currentMetrics: listOf('current-metrics', 'autoscaling/v2beta1', 'MetricStatus')?.map(
      (metric) => toNewMetric(metric, 'current'),
    ),
    conditions: listOf('conditions', 'autoscaling/v2', 'HorizontalPodAutoscalerCondition'),
  }
}

function readList(text: string, of: Struct): readonly Fields[] | undefined {
  const value = read(text, { type: 'list', goName: `[]${of.goName}`, of })
  // Like Go, decode null as an empty list.
  return value === undefined ? undefined : itemsOf(value)
}

/** Decodes the behavior. Returns undefined if it is empty. */
function readBehavior(text: string): Fields | undefined {
  const { scaleUp, scaleDown } = fieldsOf(
    read(text, withGoNames(commonType('autoscaling/v2', 'HorizontalPodAutoscalerBehavior'))),
  )
  if (scaleUp === undefined && scaleDown === undefined) return undefined
  return present({ scaleUp: withPolicies(scaleUp), scaleDown: withPolicies(scaleDown) })
}

/** Adds an empty list of policies if the list is absent, so that no default policies are added. */
const withPolicies = (rules: Json | undefined): Fields | undefined =>
  isFields(rules) ? { policies: [], ...rules } : undefined

/**
 * Returns the schema with capitalized field names. The annotation contains JSON of Kubernetes'
 * internal type, in which the field names of v2 begin with a capital letter.
 */
function withGoNames(schema: Schema): Schema {
  if (schema.type === 'list') return { ...schema, of: withGoNames(schema.of) }
  if (schema.type !== 'struct') return schema
  const byName = schema.fields.map((field) => {
    const { name } = field
    return [
      `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      { ...field, schema: withGoNames(field.schema) },
    ] as const
  })
  return { ...schema, byName: new Map(byName) }
}

/** Decodes JSON. Returns undefined if the text does not match the type. */
function read(text: string, schema: Schema): Json | undefined {
  try {
    const { value, fault } = decodeValue(text, schema)
    return fault === undefined ? value : undefined
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}

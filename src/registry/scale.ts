/**
 * The `scale` subresource, which is the same for all kinds with replicas. Autoscalers use only this
 * subresource of these kinds.
 */
import { type FieldFault, invalidValue } from '../api/field-fault.ts'
import { type Fields, fieldsOf, type KubeObject, type ObjectMeta } from '../api/object.ts'
import type { ObjectSchema } from '../objects/schema/object-schema.ts'
import type { View } from './resource.ts'
import { printLabelSelector } from './rules/label-selector.ts'
import { schemeOf } from './scheme.ts'
import { scaleTable } from './tables/workloads.ts'
import { typeOf } from './types.ts'

const kind = 'Scale'
const apiVersion = 'autoscaling/v1'
/** Metadata fields of a Scale. */
const shownMetadata = ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'] as const

export const scaleView = (release: number): View => ({
  group: 'autoscaling',
  version: 'v1',
  kind,
  ownedPath: 'spec.replicas',
  get shape(): ObjectSchema {
    const struct = typeOf('autoscaling/v1', kind, release)
    return {
      struct,
      setDefaults: (scale) => scale,
      stored: undefined,
      scheme: schemeOf('autoscaling', release),
    }
  },
  table: scaleTable,
  show: (object) => {
    const { replicas = 0, selector } = fieldsOf(object['spec'])
    const { replicas: current = 0 } = fieldsOf(object['status'])
    return {
      kind,
      apiVersion,
      metadata: metadataOf(object),
      spec: { replicas },
      status: { replicas: current, selector: printSelector(fieldsOf(selector)) },
    }
  },
  change: (object, scale) => ({
    ...object,
    metadata: withVersionOf(object.metadata, scale.metadata),
    spec: { ...fieldsOf(object['spec']), replicas: replicasOf(scale) },
  }),
  validate: (scale): FieldFault[] => {
    const replicas = replicasOf(scale)
    return replicas >= 0
      ? []
      : [invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0')]
  },
})

export const metadataOf = ({ metadata }: KubeObject): ObjectMeta =>
  Object.fromEntries(
    shownMetadata.flatMap((name) => (name in metadata ? [[name, metadata[name]]] : [])),
  )

function replicasOf(scale: KubeObject): number {
  const { replicas } = fieldsOf(scale['spec'])
  return typeof replicas === 'number' ? replicas : 0
}

export function withVersionOf(metadata: ObjectMeta, { resourceVersion }: ObjectMeta): ObjectMeta {
  if (resourceVersion !== undefined) return { ...metadata, resourceVersion }
  const { resourceVersion: _, ...rest } = metadata
  return rest
}

/** Formats a selector. Older kinds have a plain map of labels as their selector. */
function printSelector(selector: Fields): string {
  const isPlain = Object.values(selector).every((value) => typeof value === 'string')
  return printLabelSelector(isPlain ? { matchLabels: selector } : selector)
}

import type { FieldFault } from '../api/field-fault.ts'
import { checkDnsLabel } from '../api/names.ts'
import { fieldsOf, type KubeObject } from '../api/object.ts'
import type { Resource } from './resource.ts'
import { always, field, listOf, metadata, string, strings, struct, time } from '../api/shape.ts'

/** The server's own finalizer: a namespace stays until its content is gone. */
const kubernetesFinalizer = 'kubernetes'
/** Lets a selector of namespaces name one of them. */
const nameLabel = 'kubernetes.io/metadata.name'

const condition = struct('NamespaceCondition', [
  always('type', string),
  always('status', string),
  always('lastTransitionTime', time),
  field('reason', string),
  field('message', string),
])

export const namespaces: Resource = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  listKind: 'NamespaceList',
  plural: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  isNamespaced: false,
  isCustom: false,
  verbs: ['create', 'delete', 'get', 'list', 'update', 'watch'],
  shape: struct('Namespace', [
    metadata,
    field('spec', struct('NamespaceSpec', [field('finalizers', strings)])),
    field('status', struct('NamespaceStatus', [field('phase', string), field('conditions', listOf(condition))])),
  ]),
  selectableFields: { 'status.phase': phaseOf },
  allowsUnconditionalUpdate: true,
  returnsDeleted: true,
  checkName: checkDnsLabel,
  prepareCreate,
  prepareUpdate,
  validate: (): FieldFault[] => [],
  validateUpdate: (): FieldFault[] => [],
  markDeleted,
}

function prepareCreate(object: KubeObject): KubeObject {
  const given = finalizersOf(object)
  const finalizers = given.includes(kubernetesFinalizer) ? given : [...given, kubernetesFinalizer]
  return { ...withNameLabel(object), spec: { finalizers }, status: { phase: 'Active' } }
}

/** spec.finalizers and status are changed only through subresources. */
function prepareUpdate(object: KubeObject, current: KubeObject): KubeObject {
  return { ...withNameLabel(object), spec: current['spec'], status: current['status'] }
}

/**
 * The first delete marks the namespace; whoever empties it takes the finalizers away. Only a marked namespace without any
 * is removed.
 */
function markDeleted(object: KubeObject, now: string): KubeObject | undefined {
  const isMarked = object.metadata.deletionTimestamp !== undefined
  if (isMarked && finalizersOf(object).length === 0 && (object.metadata.finalizers ?? []).length === 0) return undefined
  if (isMarked) return object
  return {
    ...object,
    metadata: { ...object.metadata, deletionTimestamp: now },
    status: { ...fieldsOf(object['status']), phase: 'Terminating' },
  }
}

function withNameLabel(object: KubeObject): KubeObject {
  const labels = { ...object.metadata.labels, [nameLabel]: object.metadata.name ?? '' }
  return { ...object, metadata: { ...object.metadata, labels } }
}

function finalizersOf(object: KubeObject): string[] {
  const { finalizers } = fieldsOf(object['spec'])
  return Array.isArray(finalizers) ? finalizers.filter((finalizer) => typeof finalizer === 'string') : []
}

function phaseOf(object: KubeObject): string {
  const { phase } = fieldsOf(object['status'])
  return typeof phase === 'string' ? phase : ''
}

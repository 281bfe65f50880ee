import { faultsOfEach, type FieldFault, invalidValue } from '../../../api/field-fault.ts'
import { checkFinalizerName } from '../../../api/names.ts'
import { type Fields, fieldsOf, type KubeObject, textOf, textsOf } from '../../../api/object.ts'
import {
  type DeletionOptions,
  foregroundFinalizer,
  orphanFinalizer,
  type Propagation,
  withGarbageFinalizers,
} from '../../deletion.ts'
import type { KindRules } from '../../kind-rules.ts'

/**
 * Finalizer of the namespace controller. It prevents the removal of a namespace until its content
 * is deleted.
 */
const kubernetesFinalizer = 'kubernetes'
/** Label with the name of the namespace, by which a namespaceSelector can select it. */
const nameLabel = 'kubernetes.io/metadata.name'

export const namespaceRules: KindRules = {
  strategy: { names: 'label', updateChecks: ['metadata', 'change', 'rules'], returnsDeleted: true },
  selectableFields: ['status.phase'],
  setDefaults: withNameLabel,
  prepareCreate,
  // spec.finalizers can only be changed through the `finalize` subresource.
  prepareUpdate: (object, current) => ({ ...withNameLabel(object), spec: current['spec'] }),
  validate: (object) => validateFinalizers(object, () => 'spec.finalizers'),
  validateUpdate: () => [],
  // A delete first sets the deletionTimestamp. The namespace controller then deletes the content
  // and removes the finalizers from the spec.
  ownDeletion: { mark, isHeld: (object) => finalizersOf(object).length > 0 },
  subresourceRules: {
    status: {
      prepareUpdate: (object, current) =>
        withNameLabel({ ...current, metadata: object.metadata, status: object['status'] }),
      validateUpdate: validatePhase,
    },
    finalize: {
      prepareUpdate: (object, current) =>
        withNameLabel({ ...current, metadata: object.metadata, spec: object['spec'] }),
      validateUpdate: (object) => validateFinalizers(object, (at) => `spec.finalizers[${at}]`),
    },
  },
}

function prepareCreate(object: KubeObject): KubeObject {
  const given = finalizersOf(object)
  const finalizers = given.includes(kubernetesFinalizer) ? given : [...given, kubernetesFinalizer]
  return { ...withNameLabel(object), spec: { finalizers }, status: { phase: 'Active' } }
}

function mark(namespace: KubeObject, options: DeletionOptions, now: string): KubeObject {
  const before = namespace.metadata.finalizers ?? []
  const { orphanDependents, propagation } = options
  const decide = (isExplicit: boolean, finalizer: string, wanted: Propagation): boolean => {
    if (orphanDependents !== undefined) return isExplicit
    return propagation === undefined ? before.includes(finalizer) : propagation === wanted
  }
  const isOrphaning = decide(orphanDependents === true, orphanFinalizer, 'Orphan')
  const isForeground = decide(orphanDependents === false, foregroundFinalizer, 'Foreground')
  const finalizers = withGarbageFinalizers(before, { isOrphaning, isForeground })
  return {
    ...namespace,
    metadata: { ...namespace.metadata, finalizers, deletionTimestamp: now },
    status: { ...fieldsOf(namespace['status']), phase: 'Terminating' },
  }
}

function validateFinalizers(object: KubeObject, pathOf: (at: number) => string): FieldFault[] {
  return faultsOfEach(textsOf(fieldsOf(object['spec'])['finalizers']), (finalizer, at) =>
    checkFinalizerName(finalizer).map((fault) => invalidValue(pathOf(at), finalizer, fault)),
  )
}

/**
 * Validates the phase. It must be `Terminating` if the object has a deletionTimestamp, and
 * otherwise `Active` or empty.
 */
function validatePhase(object: KubeObject): FieldFault[] {
  const { phase = '' } = fieldsOf(object['status'])
  const isMarked = object.metadata.deletionTimestamp !== undefined
  if (isMarked ? phase === 'Terminating' : phase === 'Active' || phase === '') return []
  const shown = typeof phase === 'string' ? phase : ''
  const why = isMarked
    ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
    : "may only be 'Active' if `deletionTimestamp` is empty"
  return [invalidValue('status.Phase', shown, why)]
}

function withNameLabel(object: KubeObject): KubeObject {
  const { name = '', labels = {} } = object.metadata
  if (name === '' || labels[nameLabel] === name) return object
  return { ...object, metadata: { ...object.metadata, labels: { ...labels, [nameLabel]: name } } }
}

function finalizersOf(object: KubeObject): string[] {
  const { finalizers } = fieldsOf(object['spec'])
  return Array.isArray(finalizers)
    ? finalizers.filter((finalizer) => typeof finalizer === 'string')
    : []
}

/** Sets the default phase `Active`. */
export const withPhase = (status: Fields): Fields =>
  textOf(status['phase']) === '' ? { ...status, phase: 'Active' } : status

/**
 * Deletion of a CRD. The first delete only sets the deletionTimestamp, because the custom objects
 * are deleted before the CRD is removed.
 */
import { type Fields, fieldsOf, itemsOf, type KubeObject } from '../../../api/object.ts'
import type { OwnDeletion } from '../../deletion.ts'

/** Finalizer that the controller removes after it has deleted the custom objects. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

export const crdDeletion: OwnDeletion = {
  mark: (crd, _, now) => mark(crd, now),
}

function mark(crd: KubeObject, now: string): KubeObject {
  const { finalizers = [], ...metadata } = crd.metadata
  const status = fieldsOf(crd['status'])
  const isHeld = finalizers.includes(cleanupFinalizer)
  return {
    ...crd,
    metadata: {
      ...metadata,
      finalizers: isHeld ? finalizers : [...finalizers, cleanupFinalizer],
      deletionTimestamp: now,
    },
    status: {
      ...status,
      conditions: withCondition(itemsOf(status['conditions']), {
        ...pending,
        lastTransitionTime: now,
      }),
    },
  }
}

const pending = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
} as const

const withCondition = (conditions: readonly Fields[], condition: Fields): readonly Fields[] => [
  ...conditions.filter(({ type }) => type !== condition['type']),
  condition,
]

/** What a delete does to an object that others still have to let go of. */
import type { KubeObject } from '../api/object.ts'

/** Set on what waits for its dependents to be orphaned or to be deleted first. */
const orphanFinalizer = 'orphan'
const foregroundFinalizer = 'foregroundDeletion'

/** The object with the finalizers that a way of deletion asks for; without a way it keeps those it has. */
export function withPropagation(
  object: KubeObject,
  propagation: 'Foreground' | 'Background' | 'Orphan' | undefined,
): KubeObject {
  if (propagation === undefined) return object
  const wanted = propagation === 'Orphan' ? orphanFinalizer : foregroundFinalizer
  const before = object.metadata.finalizers ?? []
  const others = before.filter((finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer)
  const finalizers = propagation === 'Background' ? others : [...others, wanted]
  return { ...object, metadata: { ...object.metadata, finalizers } }
}

/** For most kinds: an object with finalizers is marked and stays until they are gone. Undefined: nothing holds it. */
export function markWhileFinalized(object: KubeObject, now: string): KubeObject | undefined {
  const { metadata } = object
  if ((metadata.finalizers ?? []).length === 0) return undefined
  if (metadata.deletionTimestamp !== undefined) return object
  const { generation } = metadata
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(generation === undefined ? {} : { generation: generation + 1 }),
      deletionTimestamp: now,
      deletionGracePeriodSeconds: 0,
    },
  }
}

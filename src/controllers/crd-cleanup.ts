/**
 * Finalizes a CustomResourceDefinition: deletes its objects, waits for objects that have
 * finalizers, and then removes the finalizer of the definition.
 */
import { messageOf } from '../lib/errors.ts'
import { cleanupFinalizer } from '../registry/kinds/apiextensions/crd-deletion.ts'
import type { KubeObject } from '../api/object.ts'
import type { CustomResource } from '../registry/custom/custom-resource.ts'
import { type Condition, conditionOf, isTrue, withStatus } from './crd-status.ts'

/** Interval between checks whether all remaining objects are gone. */
const RETRY_MS = 1_000

type Decide = (object: KubeObject) => KubeObject | undefined

export type CrdCleanupOptions = {
  /**
   * Changes the status of a definition, unless `decide` returns undefined. Resolves to whether the
   * definition exists.
   */
  readonly changeStatus: (name: string, decide: Decide) => Promise<boolean>
  /** Writes the last status and removes the finalizer. Rejects if this fails. */
  readonly release: (name: string, decide: Decide) => Promise<void>
  /**
   * Deletes all objects while `isDoomed` resolves to true. Resolves to the number of objects that
   * remain because they have finalizers.
   */
  readonly deleteObjects: (
    resource: CustomResource,
    isDoomed: () => Promise<boolean>,
  ) => Promise<number>
  /** Whether a built-in resource stores its objects under the same key prefix. */
  readonly isBuiltInPlace: (resource: CustomResource) => boolean
  readonly now: () => string
}

export const needsCleanUp = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(cleanupFinalizer)

/** The last known state of a definition, and the resources of all its versions. */
export type TerminatingCrd = {
  readonly name: string
  readonly object: KubeObject
  readonly resources: readonly CustomResource[]
}

/**
 * Cleans up once. Resolves to undefined when the cleanup is complete, or to the delay in
 * milliseconds before the next call. If the deletion fails, writes the error to the status and
 * throws it.
 */
export async function cleanUp(
  doomed: TerminatingCrd,
  options: CrdCleanupOptions,
): Promise<number | undefined> {
  const { name, object, resources } = doomed
  const { uid } = object.metadata
  const isOurs = (current: KubeObject): boolean =>
    current.metadata.uid === uid && needsCleanUp(current)
  const withCondition =
    (condition: Condition) =>
    (current: KubeObject): KubeObject | undefined =>
      isOurs(current)
        ? withStatus(current, {}, { conditions: [condition], now: options.now() })
        : undefined
  const isDoomed = async (): Promise<boolean> => {
    let isStill = false
    // This function always returns undefined. If it does so for a cached state, the store calls it
    // again with the state in the database, so the last call sees the latest state.
    const isThere = await options.changeStatus(name, (current) => {
      isStill = isOurs(current)
      return undefined
    })
    return isThere && isStill
  }
  await options.changeStatus(name, (current) => {
    const reason = conditionOf(current, 'Terminating')?.['reason']
    const isReported = reason === inProgress.reason || reason === failedReason
    return isReported ? undefined : withCondition(inProgress)(current)
  })
  // Objects are deleted in the storage version, which does not need the conversion webhook. The
  // webhook might have been deleted before the definition.
  const stored = resources.find(({ versions }) => versions.storageVersion === undefined)
  let end = stored === undefined || !isTrue(object, 'Established') ? never : completed
  if (stored !== undefined && options.isBuiltInPlace(stored)) end = overlapping
  if (stored !== undefined && end === completed) {
    try {
      if ((await options.deleteObjects(stored, isDoomed)) > 0) return RETRY_MS
    } catch (error) {
      const failed = failedBy(error)
      await options.changeStatus(name, (current) =>
        conditionOf(current, 'Terminating')?.['message'] === failed.message
          ? undefined
          : withCondition(failed)(current),
      )
      throw error
    }
  }
  await options.release(name, (current) => {
    const reported = withCondition(end)(current)
    if (reported === undefined) return undefined
    const finalizers = (reported.metadata.finalizers ?? []).filter(
      (one) => one !== cleanupFinalizer,
    )
    return { ...reported, metadata: { ...reported.metadata, finalizers } }
  })
  return undefined
}

const terminating = { type: 'Terminating' } as const
const inProgress: Condition = {
  ...terminating,
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
}
const completed: Condition = {
  ...terminating,
  status: 'False',
  reason: 'InstanceDeletionCompleted',
  message: 'removed all instances',
}
const never: Condition = {
  ...terminating,
  status: 'False',
  reason: 'NeverEstablished',
  message: 'resource was never established',
}
const overlapping: Condition = {
  ...terminating,
  status: 'False',
  reason: 'OverlappingBuiltInResource',
  message: 'instances overlap with built-in resources in storage',
}

const failedReason = 'InstanceDeletionFailed'

const failedBy = (error: unknown): Condition => ({
  ...terminating,
  status: 'True',
  reason: failedReason,
  message: `could not issue all deletes: ${messageOf(error)}`,
})

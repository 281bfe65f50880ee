/**
 * Finalizes a CustomResourceDefinition: deletes its objects, waits for those that finalizers keep, then removes the definition's
 * own finalizer.
 */
import { messageOf } from '../lib/errors.ts'
import { cleanupFinalizer } from '../registry/kinds/apiextensions/definition-deletion.ts'
import type { KubeObject } from '../api/object.ts'
import type { CustomResource } from '../registry/custom/custom-resource.ts'
import { type Condition, conditionOf, isTrue, withStatus } from './definition-status.ts'

/** How often to look whether others have removed their finalizers from the last objects. */
const RETRY_MS = 1_000

type Decide = (object: KubeObject) => KubeObject | undefined

export type CleanupParts = {
  /** Changes the status of a definition, unless `decide` returns undefined. False: the definition does not exist. */
  readonly changeStatus: (name: string, decide: Decide) => Promise<boolean>
  /** Writes the last status and removes the finalizer. Fails if that could not be done. */
  readonly release: (name: string, decide: Decide) => Promise<void>
  /** Deletes all objects, as long as `isDoomed` is true. Returns how many are left because finalizers keep them. */
  readonly deleteObjects: (
    resource: CustomResource,
    isDoomed: () => Promise<boolean>,
  ) => Promise<number>
  /** Whether a built-in resource stores its objects below the same prefix. */
  readonly isBuiltInPlace: (resource: CustomResource) => boolean
  readonly now: () => string
}

export const needsCleanUp = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(cleanupFinalizer)

/** A definition as it was seen last, with the resources of all its versions. */
export type Doomed = {
  readonly name: string
  readonly object: KubeObject
  readonly resources: readonly CustomResource[]
}

/** Undefined: done. A number: call again after so many ms. If the deletion fails, the error is thrown and written to the status. */
export async function cleanUp(doomed: Doomed, parts: CleanupParts): Promise<number | undefined> {
  const { name, object, resources } = doomed
  const { uid } = object.metadata
  const isOurs = (current: KubeObject): boolean =>
    current.metadata.uid === uid && needsCleanUp(current)
  const telling =
    (condition: Condition) =>
    (current: KubeObject): KubeObject | undefined =>
      isOurs(current)
        ? withStatus(current, {}, { conditions: [condition], now: parts.now() })
        : undefined
  const isDoomed = async (): Promise<boolean> => {
    let isStill = false
    // Nothing is changed here, so `decide` sees the state in the database, not a cached one.
    const isThere = await parts.changeStatus(name, (current) => {
      isStill = isOurs(current)
      return undefined
    })
    return isThere && isStill
  }
  await parts.changeStatus(name, (current) => {
    const reason = conditionOf(current, 'Terminating')?.['reason']
    const isTold = reason === inProgress.reason || reason === failedReason
    return isTold ? undefined : telling(inProgress)(current)
  })
  // Objects are deleted in the storage version, which needs no conversion webhook: that may be deleted before the definition.
  const stored = resources.find(({ versions }) => versions.storageVersion === undefined)
  let end = stored === undefined || !isTrue(object, 'Established') ? never : completed
  if (stored !== undefined && parts.isBuiltInPlace(stored)) end = overlapping
  if (stored !== undefined && end === completed) {
    try {
      if ((await parts.deleteObjects(stored, isDoomed)) > 0) return RETRY_MS
    } catch (error) {
      const failed = failedBy(error)
      await parts.changeStatus(name, (current) =>
        conditionOf(current, 'Terminating')?.['message'] === failed.message
          ? undefined
          : telling(failed)(current),
      )
      throw error
    }
  }
  await parts.release(name, (current) => {
    const told = telling(end)(current)
    if (told === undefined) return undefined
    const finalizers = (told.metadata.finalizers ?? []).filter((one) => one !== cleanupFinalizer)
    return { ...told, metadata: { ...told.metadata, finalizers } }
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

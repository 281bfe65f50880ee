/**
 * Finalizes a CustomResourceDefinition: deletes its objects, waits for objects that have
 * finalizers, and then removes the finalizer of the definition.
 */
import { messageOf } from '../lib/errors.ts'
import { cleanupFinalizer } from '../registry/kinds/apiextensions/crd-deletion.ts'
import type { KubeObject } from '../api/object.ts'
import { closedReason } from '../registry/custom/crd.ts'
import type { CustomResource } from '../registry/custom/custom-resource.ts'
import { type Condition, conditionOf, isTrue, withStatus } from './crd-status.ts'

/** Interval between checks whether all remaining objects are gone. */
const RETRY_MS = 1_000

type Decide = (object: KubeObject) => KubeObject | undefined

export type CrdCleanupOptions = {
  /**
   * Changes the status of a definition, unless `decide` returns undefined. Resolves to the
   * resourceVersion of the definition, or to undefined if it does not exist.
   */
  readonly changeStatus: (name: string, decide: Decide) => Promise<string | undefined>
  /** Writes the last status and removes the finalizer. Rejects if this fails. */
  readonly release: (name: string, decide: Decide) => Promise<void>
  /**
   * Deletes the objects of the resource as long as `isDoomed` resolves to true. Resolves to the
   * number of objects that remain because they have finalizers.
   */
  readonly deleteObjects: (
    resource: CustomResource,
    isDoomed: () => Promise<boolean>,
  ) => Promise<number>
  /** Whether a built-in resource stores its objects under the key prefix of the custom resource. */
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
 * Makes one attempt to clean up. Resolves to undefined when the cleanup is complete. Otherwise
 * resolves to the number of milliseconds until the next attempt. If the deletion fails, writes the
 * error to the status and throws it.
 */
export async function cleanUp(
  doomed: TerminatingCrd,
  options: CrdCleanupOptions,
): Promise<number | undefined> {
  const { name, object, resources } = doomed
  await report(doomed, options, inProgress)
  // Objects are deleted in the storage version, which does not need the conversion webhook. The
  // webhook might have been deleted before the definition.
  const stored = resources.find(({ versions }) => versions.storageVersion === undefined)
  let end = stored === undefined || !isTrue(object, 'Established') ? never : completed
  if (stored !== undefined && options.isBuiltInPlace(stored)) end = overlapping
  let closedAt: string | undefined
  if (stored !== undefined && end === completed) {
    if (await deleteAll(stored, doomed, options)) return RETRY_MS
    // Until this write, an apply could create further objects. A create fails if the revision of
    // the definition has changed since, so no object can be missing from the second list.
    closedAt = await report(doomed, options, closed)
    if (await deleteAll(stored, doomed, options)) return RETRY_MS
  }
  let isChanged = false
  await options.release(name, (current) => {
    if (!isOurs(doomed, current)) return undefined
    // If the definition has changed since creates were blocked, do not remove its finalizer.
    // Another replica might have failed, and allowed creates again.
    isChanged = closedAt !== undefined && current.metadata.resourceVersion !== closedAt
    if (isChanged) return undefined
    const reported = withStatus(current, {}, { conditions: [end], now: options.now() })
    const finalizers = (reported.metadata.finalizers ?? []).filter(
      (one) => one !== cleanupFinalizer,
    )
    return { ...reported, metadata: { ...reported.metadata, finalizers } }
  })
  return isChanged ? RETRY_MS : undefined
}

const isOurs = ({ object }: TerminatingCrd, current: KubeObject): boolean =>
  current.metadata.uid === object.metadata.uid && needsCleanUp(current)

/**
 * Writes a condition, unless the status already has it or a condition that follows it. Resolves to
 * the resourceVersion of the definition.
 */
function report(
  doomed: TerminatingCrd,
  { changeStatus, now }: CrdCleanupOptions,
  condition: Condition,
): Promise<string | undefined> {
  return changeStatus(doomed.name, (current) => {
    const { reason, message } = conditionOf(current, 'Terminating') ?? {}
    const isReported =
      condition === inProgress
        ? reason === inProgress.reason || reason === failedReason || reason === closedReason
        : reason === condition.reason && message === condition.message
    if (isReported || !isOurs(doomed, current)) return undefined
    return withStatus(current, {}, { conditions: [condition], now: now() })
  })
}

/** Deletes all objects. Resolves to whether some remain because they have finalizers. */
async function deleteAll(
  stored: CustomResource,
  doomed: TerminatingCrd,
  options: CrdCleanupOptions,
): Promise<boolean> {
  const isDoomed = async (): Promise<boolean> => {
    let isStill = false
    // This callback returns undefined for every state, so the store calls it last with the state in
    // the database. Before that, it may have called it with a cached state.
    const version = await options.changeStatus(doomed.name, (current) => {
      isStill = isOurs(doomed, current)
      return undefined
    })
    return version !== undefined && isStill
  }
  try {
    return (await options.deleteObjects(stored, isDoomed)) > 0
  } catch (error) {
    await report(doomed, options, failedBy(error))
    throw error
  }
}

const terminating = { type: 'Terminating' } as const
const inProgress: Condition = {
  ...terminating,
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
}
const closed: Condition = {
  ...terminating,
  status: 'True',
  reason: closedReason,
  message: 'the last CustomResources are deleted, and no new ones can be created',
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

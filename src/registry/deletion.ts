/**
 * Decides the outcome of a delete: the object is removed, gets a deletionTimestamp, or stays
 * unchanged. The rules apply in kube-apiserver's order: first the grace period, which only Pods
 * have, then finalizers.
 */
import { isNumber, type KubeObject, type ObjectMeta } from '../api/object.ts'

export type Propagation = 'Foreground' | 'Background' | 'Orphan'

/** Number of seconds, an int64. It is a bigint if a number cannot represent it exactly. */
export type Seconds = number | bigint

export type DeletionOptions = {
  /** The requested grace period. If undefined, the grace period of the object applies. */
  readonly gracePeriodSeconds: Seconds | undefined
  /** Deprecated form of propagationPolicy. */
  readonly orphanDependents: boolean | undefined
  /**
   * The requested propagation policy. If undefined, the default of the object or its kind applies.
   */
  readonly propagation: Propagation | undefined
}

export type Deletion =
  | { readonly step: 'remove' }
  /**
   * The object gets a deletionTimestamp. It stays until its finalizers are removed or its grace
   * period ends.
   */
  | { readonly step: 'mark'; readonly object: KubeObject }
  /**
   * A Pod without a grace period. It is stored with a deletionTimestamp and then removed, so that
   * watches receive both events.
   */
  | { readonly step: 'mark-and-remove'; readonly object: KubeObject }
  /** The object is already being deleted, and this request changes nothing. */
  | { readonly step: 'keep' }

/** Finalizers for objects whose dependents the garbage collector must first orphan or delete. */
export const orphanFinalizer = 'orphan'
export const foregroundFinalizer = 'foregroundDeletion'

/**
 * Deletion rules of kinds such as Namespace, whose objects a controller cleans up before they are
 * removed.
 */
export type OwnDeletion = {
  /**
   * Returns the object with a deletionTimestamp. The first delete stores this object even if
   * metadata.finalizers is empty. A controller then cleans up, after which the object can be
   * removed.
   */
  readonly mark: (object: KubeObject, options: DeletionOptions, now: string) => KubeObject
  /**
   * Whether something besides metadata.finalizers prevents the removal of an object that is being
   * deleted.
   */
  readonly isHeld?: (object: KubeObject) => boolean
}

/** Returns the grace period of an object. `wanted` is the grace period that the client requests. */
export type GraceOf = (object: KubeObject, wanted: Seconds | undefined) => Seconds

/** The deletion rules of a resource. */
export type DeletionRules = {
  /**
   * Whether objects can have owners and dependents. If they cannot, as in the case of Event, a
   * delete never waits for dependents.
   */
  readonly isGarbageCollected: boolean
  /** Propagation policy if a delete does not specify one. */
  readonly defaultPropagation: 'Background' | 'Orphan'
  /**
   * Returns the grace period of an object. The function is absent if objects of the kind have no
   * grace period.
   */
  readonly graceOf?: GraceOf
  readonly ownDeletion?: OwnDeletion
  /**
   * Returns the reason why the object of this name cannot be deleted, or undefined if it can be
   * deleted.
   */
  readonly deleteForbiddenReason: (name: string) => string | undefined
  /**
   * Whether the response to a delete contains the deleted object. If false, and the delete removes
   * the object, the response is a Status.
   */
  readonly returnsDeleted: boolean
  /** Returns a warning for the client that deletes the object. */
  readonly deletionWarning?: (options: DeletionOptions) => string | undefined
}

type Kind = Omit<DeletionRules, 'deleteForbiddenReason' | 'returnsDeleted' | 'deletionWarning'>

/**
 * Decides the outcome of a delete. `now` is a metadata timestamp. The given object is not modified.
 */
export function decideDeletion(
  object: KubeObject,
  kind: Kind,
  options: DeletionOptions,
  now: string,
): Deletion {
  const grace =
    kind.graceOf === undefined
      ? ungraceful
      : decideGrace(object, kind.graceOf, { wanted: options.gracePeriodSeconds, now })
  if (grace.step === 'pending') return { step: 'keep' }
  const graced = grace.step === 'graceful' ? { ...object, metadata: grace.metadata } : object
  const finalizers = finalizersAfter(graced.metadata.finalizers ?? [], kind, options)
  const metadata: ObjectMeta = { ...graced.metadata, finalizers }
  if (grace.step === 'ungraceful') {
    if (finalizers.length === 0) return { step: 'remove' }
    return { step: 'mark', object: { ...object, metadata: markNow(metadata, now) } }
  }
  const isLeft = finalizers.length > 0 || grace.seconds > 0
  return { step: isLeft ? 'mark' : 'mark-and-remove', object: { ...graced, metadata } }
}

/**
 * Whether an object that is being deleted can be removed after an update, because nothing prevents
 * its removal any more.
 */
export function isReleased(object: KubeObject, before: KubeObject, { ownDeletion }: Kind): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = before.metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds !== 0) return false
  if ((object.metadata.finalizers ?? []).length > 0) return false
  return ownDeletion?.isHeld?.(object) !== true
}

export const isMarked = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined

type Grace =
  | { readonly step: 'ungraceful' }
  | { readonly step: 'pending' }
  | { readonly step: 'graceful'; readonly seconds: Seconds; readonly metadata: ObjectMeta }

const ungraceful: Grace = { step: 'ungraceful' }

type DeletionRequest = { readonly wanted: Seconds | undefined; readonly now: string }

/** Applies the grace period. A negative grace period counts as one second. */
function decideGrace(object: KubeObject, graceOf: GraceOf, asked: DeletionRequest): Grace {
  const { metadata } = object
  const { now } = asked
  const wanted = asked.wanted !== undefined && asked.wanted < 0 ? 1 : asked.wanted
  const { deletionTimestamp, deletionGracePeriodSeconds: given } = metadata
  if (deletionTimestamp !== undefined) {
    if (!isNumber(given) || given === 0) return ungraceful
    return shorten(metadata, { deletionTimestamp, current: given < 0 ? 1 : given, wanted, now })
  }
  const seconds = graceOf(object, wanted)
  const { generation = 0 } = metadata
  return {
    step: 'graceful',
    seconds,
    metadata: {
      ...metadata,
      ...(generation > 0 ? { generation: generation + 1 } : {}),
      deletionTimestamp: later(now, durationMs(seconds)),
      deletionGracePeriodSeconds: seconds,
    },
  }
}

type RunningDeletion = {
  readonly deletionTimestamp: string
  readonly current: Seconds
  readonly wanted: Seconds | undefined
  readonly now: string
}

/**
 * Shortens the grace period of a Pod that is being deleted. The grace period can never be extended.
 */
function shorten(
  metadata: ObjectMeta,
  { deletionTimestamp, current, wanted, now }: RunningDeletion,
): Grace {
  if (wanted === undefined || wanted >= current) return { step: 'pending' }
  const end = later(deletionTimestamp, durationMs(wanted) - durationMs(current))
  const isPast = Date.parse(end) < Date.parse(now)
  const seconds = isPast && wanted !== 0 ? 1 : wanted
  return {
    step: 'graceful',
    seconds,
    metadata: {
      ...metadata,
      deletionTimestamp: isPast ? now : end,
      deletionGracePeriodSeconds: seconds,
    },
  }
}

const later = (timestamp: string, ms: number): string =>
  `${new Date(Date.parse(timestamp) + ms).toISOString().slice(0, 19)}Z`

/** Converts seconds as Go does: its 64-bit nanoseconds overflow after 292 years. */
const durationMs = (seconds: Seconds): number =>
  Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n)

/**
 * Sets the deletionTimestamp of an object with finalizers to the current time, without a grace
 * period.
 */
function markNow(metadata: ObjectMeta, now: string): ObjectMeta {
  const { generation = 0, deletionTimestamp, deletionGracePeriodSeconds } = metadata
  const isFirst = deletionGracePeriodSeconds === undefined
  const isLater = deletionTimestamp !== undefined && Date.parse(deletionTimestamp) > Date.parse(now)
  return {
    ...metadata,
    ...(isFirst && generation > 0 ? { generation: generation + 1 } : {}),
    deletionTimestamp: deletionTimestamp === undefined || isLater ? now : deletionTimestamp,
    deletionGracePeriodSeconds: 0,
  }
}

function finalizersAfter(
  before: readonly string[],
  kind: Kind,
  options: DeletionOptions,
): readonly string[] {
  if (!kind.isGarbageCollected) return before
  const propagation = propagationOf(before, kind, options)
  const isOrphaning = propagation === 'Orphan'
  const isForeground = propagation === 'Foreground'
  if (
    before.includes(orphanFinalizer) === isOrphaning &&
    before.includes(foregroundFinalizer) === isForeground
  ) {
    return before
  }
  return withGarbageFinalizers(before, { isOrphaning, isForeground })
}

function propagationOf(
  before: readonly string[],
  kind: Kind,
  options: DeletionOptions,
): Propagation {
  const { orphanDependents, propagation } = options
  if (orphanDependents !== undefined) return orphanDependents ? 'Orphan' : 'Background'
  if (propagation !== undefined) return propagation
  const kept = before.find(
    (finalizer) => finalizer === orphanFinalizer || finalizer === foregroundFinalizer,
  )
  if (kept !== undefined) return kept === orphanFinalizer ? 'Orphan' : 'Foreground'
  return kind.defaultPropagation
}

/** Returns the finalizers, with those of the garbage collector at the end. */
export function withGarbageFinalizers(
  before: readonly string[],
  { isOrphaning, isForeground }: { readonly isOrphaning: boolean; readonly isForeground: boolean },
): readonly string[] {
  const others = before.filter(
    (finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer,
  )
  return [
    ...others,
    ...(isOrphaning ? [orphanFinalizer] : []),
    ...(isForeground ? [foregroundFinalizer] : []),
  ]
}

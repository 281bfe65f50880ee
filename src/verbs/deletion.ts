/**
 * What a delete makes of an object: gone, marked, or left alone. The order of the rules is upstream's: grace first, which
 * only pods have, then finalizers.
 */
import { type Fields, fieldsOf, itemsOf, type KubeObject, type ObjectMeta } from '../api/object.ts'
import type { Resource } from '../registry/resource.ts'

export type Propagation = 'Foreground' | 'Background' | 'Orphan'

export type DeletionOptions = {
  /** Undefined: as the object says. */
  readonly gracePeriodSeconds: number | undefined
  /** The older way to say what becomes of dependents. */
  readonly orphanDependents: boolean | undefined
  /** Undefined: as the object or its kind has it. */
  readonly propagation: Propagation | undefined
}

export type Deletion =
  | { readonly step: 'remove' }
  /** It stays until others have let go of it, or its time is up. */
  | { readonly step: 'mark'; readonly object: KubeObject }
  /** A pod is first shown as ended, then goes: its watchers see both. */
  | { readonly step: 'mark-and-remove'; readonly object: KubeObject }
  /** It is going already, and this request changes nothing about that. */
  | { readonly step: 'keep' }

/** Set on what waits for its dependents to be orphaned or to be deleted first. */
const orphanFinalizer = 'orphan'
const foregroundFinalizer = 'foregroundDeletion'

type Kind = Pick<Resource, 'group' | 'kind' | 'isGarbageCollected' | 'defaultPropagation'>

/** `now` is a timestamp of metadata. The object is never changed. */
export function decideDeletion(object: KubeObject, kind: Kind, options: DeletionOptions, now: string): Deletion {
  const grace = isPod(kind) ? decideGrace(object, options.gracePeriodSeconds, now) : ungraceful
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

/** Whether an update has let go of the last thing that kept a marked object. */
export function isReleased(object: KubeObject, before: KubeObject, { group, kind }: Kind): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = before.metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds !== 0) return false
  if ((object.metadata.finalizers ?? []).length > 0) return false
  return group !== '' || kind !== 'Namespace' || namespaceFinalizers(object).length === 0
}

/** A namespace is marked first, always; who empties it takes the finalizers of its spec away. */
export function markNamespace(namespace: KubeObject, options: DeletionOptions, now: string): KubeObject {
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

/** The objects of a definition go before it does. Who removes them takes the finalizer away. */
export function markDefinition(definition: KubeObject, now: string): KubeObject {
  const { finalizers = [], ...metadata } = definition.metadata
  const status = fieldsOf(definition['status'])
  const isHeld = finalizers.includes(definitionFinalizer)
  return {
    ...definition,
    metadata: {
      ...metadata,
      finalizers: isHeld ? finalizers : [...finalizers, definitionFinalizer],
      deletionTimestamp: now,
    },
    status: {
      ...status,
      conditions: withCondition(itemsOf(status['conditions']), { ...pending, lastTransitionTime: now }),
    },
  }
}

const definitionFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

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

export function namespaceFinalizers(namespace: KubeObject): readonly string[] {
  const { finalizers } = fieldsOf(namespace['spec'])
  return Array.isArray(finalizers) ? finalizers.filter((finalizer) => typeof finalizer === 'string') : []
}

export const isMarked = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

const isPod = ({ group, kind }: Kind): boolean => group === '' && kind === 'Pod'

type Grace =
  | { readonly step: 'ungraceful' }
  | { readonly step: 'pending' }
  | { readonly step: 'graceful'; readonly seconds: number; readonly metadata: ObjectMeta }

const ungraceful: Grace = { step: 'ungraceful' }

/** Negative times count as one second. */
function decideGrace(pod: KubeObject, asked: number | undefined, now: string): Grace {
  const { metadata } = pod
  const wanted = asked !== undefined && asked < 0 ? 1 : asked
  const { deletionTimestamp, deletionGracePeriodSeconds: given } = metadata
  if (deletionTimestamp !== undefined) {
    if (typeof given !== 'number') return ungraceful
    return shorten(metadata, { deletionTimestamp, current: given < 0 ? 1 : given, wanted, now })
  }
  const seconds = graceOf(pod, wanted)
  const { generation = 0 } = metadata
  return {
    step: 'graceful',
    seconds,
    metadata: {
      ...metadata,
      ...(generation > 0 ? { generation: generation + 1 } : {}),
      deletionTimestamp: later(now, seconds),
      deletionGracePeriodSeconds: seconds,
    },
  }
}

type Running = {
  readonly deletionTimestamp: string
  readonly current: number
  readonly wanted: number | undefined
  readonly now: string
}

/** A pod that is ending can be made to end sooner, never later. */
function shorten(metadata: ObjectMeta, { deletionTimestamp, current, wanted, now }: Running): Grace {
  if (wanted === undefined || wanted >= current) return { step: 'pending' }
  const end = later(deletionTimestamp, wanted - current)
  const isPast = Date.parse(end) < Date.parse(now)
  const seconds = isPast && wanted !== 0 ? 1 : wanted
  return {
    step: 'graceful',
    seconds,
    metadata: { ...metadata, deletionTimestamp: isPast ? now : end, deletionGracePeriodSeconds: seconds },
  }
}

/** A pod that no node runs, or that has ended, has nothing to wait for. */
function graceOf(pod: KubeObject, wanted: number | undefined): number {
  const { nodeName = '', terminationGracePeriodSeconds } = fieldsOf(pod['spec'])
  const { phase } = fieldsOf(pod['status'])
  if (nodeName === '' || nodeName === null || phase === 'Failed' || phase === 'Succeeded') return 0
  const seconds = wanted ?? (typeof terminationGracePeriodSeconds === 'number' ? terminationGracePeriodSeconds : 0)
  return seconds < 0 ? 1 : seconds
}

const later = (timestamp: string, seconds: number): string =>
  `${new Date(Date.parse(timestamp) + seconds * 1000).toISOString().slice(0, 19)}Z`

/** For kinds without grace: an object with finalizers is marked as of now. */
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

function finalizersAfter(before: readonly string[], kind: Kind, options: DeletionOptions): readonly string[] {
  if (!kind.isGarbageCollected) return before
  const propagation = propagationOf(before, kind, options)
  const isOrphaning = propagation === 'Orphan'
  const isForeground = propagation === 'Foreground'
  if (before.includes(orphanFinalizer) === isOrphaning && before.includes(foregroundFinalizer) === isForeground) {
    return before
  }
  return withGarbageFinalizers(before, { isOrphaning, isForeground })
}

function propagationOf(before: readonly string[], kind: Kind, options: DeletionOptions): Propagation {
  const { orphanDependents, propagation } = options
  if (orphanDependents !== undefined) return orphanDependents ? 'Orphan' : 'Background'
  if (propagation !== undefined) return propagation
  const kept = before.find((finalizer) => finalizer === orphanFinalizer || finalizer === foregroundFinalizer)
  if (kept !== undefined) return kept === orphanFinalizer ? 'Orphan' : 'Foreground'
  return kind.defaultPropagation
}

/** Those of the garbage collector stand last. */
function withGarbageFinalizers(
  before: readonly string[],
  { isOrphaning, isForeground }: { readonly isOrphaning: boolean; readonly isForeground: boolean },
): readonly string[] {
  const others = before.filter((finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer)
  return [...others, ...(isOrphaning ? [orphanFinalizer] : []), ...(isForeground ? [foregroundFinalizer] : [])]
}

/**
 * The conditions of a namespace whose content is being deleted, with the messages of
 * kube-controller-manager.
 */
import { type Fields, fieldsOf, itemsOf, type KubeObject } from '../../api/object.ts'

/** The result of one attempt to delete all objects in a namespace. */
export type ContentReport = {
  /** For each resource whose objects could not be deleted, the reason. */
  readonly faults: readonly string[]
  /**
   * Number of remaining objects, by `plural.group`. Undefined if the attempt did not process all
   * resources.
   */
  readonly remaining: ReadonlyMap<string, number> | undefined
  /** For each finalizer, the number of objects whose deletion waits for it. */
  readonly finalizers: ReadonlyMap<string, number>
  /**
   * Group versions whose resources are unknown, because their remote server could not be reached.
   */
  readonly undiscovered?: readonly string[]
}

type ConditionValue = {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

const ok = (reason: string, message: string): ConditionValue => ({
  status: 'False',
  reason,
  message,
})

/** Returns the namespace with its conditions, or undefined if it already has them. */
export function withConditions(
  namespace: KubeObject,
  report: ContentReport,
  now: string,
): KubeObject | undefined {
  const status = fieldsOf(namespace['status'])
  const before = itemsOf(status['conditions'])
  const reported = conditionsOf(report)
  const changed = [...reported].filter(
    ([type, one]) =>
      !isSame(
        // Bounded: a namespace has only a few conditions, so each search is short
        before.find((old) => old['type'] === type),
        one,
      ),
  )
  if (changed.length === 0) return undefined
  const conditions = before.map((old) => {
    // Bounded: a namespace has only a few conditions, so each search is short
    const one = changed.find(([type]) => type === old['type'])?.[1]
    if (one === undefined) return old
    return { ...old, ...one, ...(old['status'] === one.status ? {} : { lastTransitionTime: now }) }
  })
  const known = new Set(before.map(({ type }) => type))
  const added = changed.filter(([type]) => !known.has(type))
  const all = [
    ...conditions,
    ...added.map(([type, one]) => ({ type, lastTransitionTime: now, ...one })),
  ]
  return { ...namespace, status: { ...status, conditions: all } }
}

function conditionsOf({
  faults,
  remaining,
  finalizers,
  undiscovered = [],
}: ContentReport): ReadonlyMap<string, ConditionValue> {
  return new Map([
    ['NamespaceDeletionDiscoveryFailure', discoveryOf(undiscovered)],
    [
      'NamespaceDeletionGroupVersionParsingFailure',
      ok('ParsedGroupVersions', 'All legacy kube types successfully parsed'),
    ],
    ['NamespaceDeletionContentFailure', deletionOf(faults)],
    ['NamespaceContentRemaining', remainingOf(remaining ?? new Map())],
    [
      'NamespaceFinalizersRemaining',
      finalizersOf(remaining === undefined ? new Map() : finalizers),
    ],
  ])
}

/**
 * Returns the condition for discovery failures, with the message of client-go's discovery client.
 */
function discoveryOf(undiscovered: readonly string[]): ConditionValue {
  if (undiscovered.length === 0)
    return ok('ResourcesDiscovered', 'All resources successfully discovered')
  const message = `Discovery failed for some groups, ${undiscovered.length} failing: ${undiscoveredText(undiscovered)}`
  return { status: 'True', reason: 'DiscoveryFailed', message }
}

export function undiscoveredText(undiscovered: readonly string[]): string {
  const each = undiscovered
    .toSorted()
    .map((place) => `${place}: stale GroupVersion discovery: ${place}`)
  return `unable to retrieve the complete list of server APIs: ${each.join(', ')}`
}

function deletionOf(faults: readonly string[]): ConditionValue {
  if (faults.length === 0)
    return ok('ContentDeleted', 'All content successfully deleted, may be waiting on finalization')
  const message = `Failed to delete all resource types, ${faults.length} remaining: ${faults.toSorted().join(', ')}`
  return { status: 'True', reason: 'ContentDeletionFailed', message }
}

function remainingOf(remaining: ReadonlyMap<string, number>): ConditionValue {
  if (remaining.size === 0) return ok('ContentRemoved', 'All content successfully removed')
  const all = Array.from(
    remaining,
    ([resource, count]) => `${resource} has ${count} resource instances`,
  )
  const message = `Some resources are remaining: ${all.toSorted().join(', ')}`
  return { status: 'True', reason: 'SomeResourcesRemain', message }
}

function finalizersOf(finalizers: ReadonlyMap<string, number>): ConditionValue {
  if (finalizers.size === 0)
    return ok('ContentHasNoFinalizers', 'All content-preserving finalizers finished')
  const all = Array.from(
    finalizers,
    ([finalizer, count]) => `${finalizer} in ${count} resource instances`,
  )
  const message = `Some content in the namespace has finalizers remaining: ${all.toSorted().join(', ')}`
  return { status: 'True', reason: 'SomeFinalizersRemain', message }
}

const isSame = (old: Fields | undefined, { status, reason, message }: ConditionValue): boolean =>
  old !== undefined &&
  old['status'] === status &&
  old['reason'] === reason &&
  old['message'] === message

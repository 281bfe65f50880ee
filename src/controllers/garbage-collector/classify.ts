/** Determines which owners of an object exist. */
import { Slices } from '../../lib/scheduling/slices.ts'
import type { Time } from '../../lib/time/timers.ts'
import type { ObjectHead, OwnerReference } from '../object-head.ts'
import { foregroundFinalizer, type Graph, type Key } from './graph.ts'
import type { SourceObject } from './source.ts'
import type { Sources } from './sources.ts'

export type ClassifiedOwners = {
  /** Owners that exist and are not waiting for the deletion of their dependents. */
  readonly solid: readonly OwnerReference[]
  /** Owners that do not exist. */
  readonly dangling: readonly OwnerReference[]
  /** Owners that exist but are waiting for the deletion of their dependents. */
  readonly waiting: readonly OwnerReference[]
}

export type Classifying = {
  readonly sources: Sources
  readonly graph: Graph
  readonly time: Time
  readonly at: 'any' | 'latest'
}

/**
 * Classifies the owners of an object. With 'any', uses the state in memory, and with 'latest', the
 * stored state. Returns 'kind' if the kind of an owner is not served, because it is then unknown
 * whether the owner exists. Returns 'scope' if the object is cluster-scoped and an owner is
 * namespaced.
 */
export async function classify(
  key: Key,
  { owners }: ObjectHead,
  { sources, graph, time, at }: Classifying,
): Promise<ClassifiedOwners | 'kind' | 'scope'> {
  const slices = new Slices(time, { isBackground: true })
  const solid: OwnerReference[] = []
  const dangling: OwnerReference[] = []
  const waiting: OwnerReference[] = []
  for (const reference of owners) {
    if (slices.isOver) await slices.turn()
    const led = sources.resolveOwner(reference, key)
    // The kind of the owner is no longer served. All objects of a kind are deleted before the kind
    // itself, so if the deletion of the owner was reported, the owner does not exist.
    if (led === 'kind' && graph.wasDeleted(reference.uid)) dangling.push(reference)
    else if (typeof led === 'string') return led
    else {
      const { source } = led
      const known = at === 'any' ? source.known(led.key) : 'unknown'
      const found = known === 'unknown' ? await source.get(led.key, at) : known
      groupOf(found, reference, { solid, dangling, waiting }).push(reference)
    }
  }
  return { solid, dangling, waiting }
}

function groupOf<T>(
  found: SourceObject | undefined,
  { uid }: OwnerReference,
  groups: { solid: T; dangling: T; waiting: T },
): T {
  if (found === undefined) return groups.dangling
  const owner = found.ownerHead()
  if (owner === undefined) return groups.solid
  if (owner.uid !== uid) return groups.dangling
  return owner.isMarked && owner.finalizers.includes(foregroundFinalizer)
    ? groups.waiting
    : groups.solid
}

/** Which owners of an object still count. */
import { ifDecodable } from '../../cache/if-decodable.ts'
import type { Item } from '../../cache/item.ts'
import { headOf, type ObjectHead, type OwnerReference } from '../object-head.ts'
import { foregroundFinalizer, type Graph, type Key } from './graph.ts'
import type { Sources } from './sources.ts'

export type Classified = {
  /** The owner exists. */
  readonly solid: readonly OwnerReference[]
  /** It does not. */
  readonly dangling: readonly OwnerReference[]
  /** It exists, and waits for the deletion of its dependents. */
  readonly waiting: readonly OwnerReference[]
}

/**
 * 'any': by what is in memory. 'latest': by what is stored now. 'kind': one of the owners is of a kind that is not served, so nobody can say.
 * 'scope': a cluster-scoped object names a namespaced owner.
 */
export async function classify(
  key: Key,
  { owners }: ObjectHead,
  { sources, graph, at }: { readonly sources: Sources; readonly graph: Graph; readonly at: 'any' | 'latest' },
): Promise<Classified | 'kind' | 'scope'> {
  const solid: OwnerReference[] = []
  const dangling: OwnerReference[] = []
  const waiting: OwnerReference[] = []
  for (const reference of owners) {
    const led = sources.lead(reference, key)
    // The last objects of a kind go before the kind: what was seen to go is gone.
    if (led === 'kind' && graph.wasDeleted(reference.uid)) dangling.push(reference)
    else if (typeof led === 'string') return led
    else {
      const { reader } = led.source
      const known = at === 'any' ? reader.known() : undefined
      const item = known === undefined ? (await reader.get(led.key, at)).item : known.get(led.key)
      groupOf(item, reference, { solid, dangling, waiting }).push(reference)
    }
  }
  return { solid, dangling, waiting }
}

function groupOf<T>(item: Item | undefined, { uid }: OwnerReference, groups: { solid: T; dangling: T; waiting: T }): T {
  if (item === undefined) return groups.dangling
  const owner = ownerHeadOf(item)
  if (owner === undefined) return groups.solid
  if (owner.uid !== uid) return groups.dangling
  return owner.isMarked && owner.finalizers.includes(foregroundFinalizer) ? groups.waiting : groups.solid
}

/** Undefined: the owner cannot be decoded. It is there, and nobody can say that it is another one: nothing is deleted because of it. */
export const ownerHeadOf = (item: Item): ObjectHead | undefined => ifDecodable(item, headOf)

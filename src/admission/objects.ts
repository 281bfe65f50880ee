/** How plugins see objects of other kinds: from memory, and, before they refuse something because of them, as they are now. */
import type { KubeObject } from '../api/object.ts'

type At = 'any' | 'latest'

export type ResourceId = { readonly group: string; readonly version: string; readonly plural: string }

export type NamespacedName = { readonly namespace: string; readonly name: string }

/** What memory has is there at once. */
export type Maybe<T> = T | Promise<T>

export type Objects = {
  /** Undefined: there is none. */
  readonly get: (resource: ResourceId, place: NamespacedName, at: At) => Maybe<KubeObject | undefined>
  /** Of one namespace, or of a resource without namespaces (''). Sorted by name. */
  readonly list: (resource: ResourceId, namespace: string, at: At) => Maybe<readonly KubeObject[]>
  /**
   * Stores the object with another status, which `decide` makes of it as it is now; undefined: it stays. Decided anew when somebody
   * else was first. Comes back with the resourceVersion that the object has then; undefined: there is no such object.
   */
  readonly changeStatus: (
    resource: ResourceId,
    place: NamespacedName,
    decide: (object: KubeObject) => KubeObject | undefined,
  ) => Promise<string | undefined>
}

/** What memory has; where it has none, what there is now. */
export async function getOrLatest(
  objects: Pick<Objects, 'get'>,
  resource: ResourceId,
  place: NamespacedName,
): Promise<KubeObject | undefined> {
  return (await objects.get(resource, place, 'any')) ?? objects.get(resource, place, 'latest')
}

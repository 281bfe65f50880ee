/**
 * How plugins read other objects: from the cache and, before they refuse something because of them,
 * in their latest state.
 */
import type { MaybePromise } from '../lib/concurrency/maybe-promise.ts'
import type { Requirement } from './label-selector.ts'
import type { KubeObject } from './object.ts'

type ReadFreshness = 'any' | 'latest'

export type ResourceId = {
  readonly group: string
  readonly version: string
  readonly plural: string
}

export type NamespacedName = { readonly namespace: string; readonly name: string }

/** Synchronous if it comes from the cache. */

export type WantedField = {
  /** The names that lead to the field. */
  readonly path: readonly string[]
  /** `json`: the value of the field; undefined if the object does not have it. */
  readonly isWanted: (json: Buffer | undefined) => boolean
  readonly countMax: number
}

export type Objects = {
  /** Undefined if there is no such object. */
  readonly get: (
    resource: ResourceId,
    place: NamespacedName,
    at: ReadFreshness,
  ) => MaybePromise<KubeObject | undefined>
  /** The objects of a namespace, or of a cluster-scoped resource (''). Sorted by name. */
  readonly list: (
    resource: ResourceId,
    namespace: string,
    at: ReadFreshness,
  ) => MaybePromise<readonly KubeObject[]>
  /**
   * The first objects of a namespace, in their latest state, of which a field is wanted. The others
   * are not decoded: they may be large, and many.
   */
  readonly pick: (
    resource: ResourceId,
    namespace: string,
    wanted: WantedField,
  ) => Promise<readonly KubeObject[]>
  /**
   * The objects of a namespace, or of a cluster-scoped resource (''), from the cache. Each is
   * decoded when it is asked for.
   */
  readonly select: (
    resource: ResourceId,
    namespace: string,
    requirements: readonly Requirement[],
  ) => Promise<readonly (() => KubeObject)[]>
  /**
   * Stores the status that `decide` computes from the current object; undefined changes nothing.
   * `decide` is called again after a conflict. Resolves to the resourceVersion that the object has
   * then; undefined if there is no such object.
   */
  readonly changeStatus: (
    resource: ResourceId,
    place: NamespacedName,
    decide: (object: KubeObject) => KubeObject | undefined,
  ) => Promise<string | undefined>
}

/** From the cache; if it is not there, the latest state. */
export async function getOrLatest(
  objects: Pick<Objects, 'get'>,
  resource: ResourceId,
  place: NamespacedName,
): Promise<KubeObject | undefined> {
  return (await objects.get(resource, place, 'any')) ?? objects.get(resource, place, 'latest')
}

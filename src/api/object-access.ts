/**
 * How plugins read other objects: from the cache, and in their latest state before they reject
 * something because of them.
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

/** A field by which `pick` selects objects without decoding them. */
export type WantedField = {
  /** Names that lead to the field. */
  readonly path: readonly string[]
  /**
   * Returns whether the object is wanted. `json` is the value of the field, or undefined if the
   * object does not have it.
   */
  readonly isWanted: (json: Buffer | undefined) => boolean
  readonly countMax: number
}

export type Objects = {
  /**
   * Returns an object, or undefined if it does not exist. Synchronous if the object comes from the
   * cache.
   */
  readonly get: (
    resource: ResourceId,
    place: NamespacedName,
    at: ReadFreshness,
  ) => MaybePromise<KubeObject | undefined>
  /**
   * Returns the objects of a namespace, or of a cluster-scoped resource (''), sorted by name.
   * Synchronous if they come from the cache.
   */
  readonly list: (
    resource: ResourceId,
    namespace: string,
    at: ReadFreshness,
  ) => MaybePromise<readonly KubeObject[]>
  /**
   * Resolves to the first objects of a namespace with a wanted field, in their latest state. Other
   * objects are not decoded, because they may be large, and many.
   */
  readonly pick: (
    resource: ResourceId,
    namespace: string,
    wanted: WantedField,
  ) => Promise<readonly KubeObject[]>
  /**
   * Resolves to the objects of a namespace, or of a cluster-scoped resource (''), from the cache.
   * Each is decoded when its function is called.
   */
  readonly select: (
    resource: ResourceId,
    namespace: string,
    requirements: readonly Requirement[],
  ) => Promise<readonly (() => KubeObject)[]>
  /**
   * Stores the status that `decide` computes from the current object; undefined changes nothing.
   * `decide` is called again after a conflict. Resolves to the resourceVersion that the object has
   * then, or to undefined if it does not exist.
   */
  readonly changeStatus: (
    resource: ResourceId,
    place: NamespacedName,
    decide: (object: KubeObject) => KubeObject | undefined,
  ) => Promise<string | undefined>
}

/** Reads an object from the cache, or its latest state if the cache does not have it. */
export async function getOrLatest(
  objects: Pick<Objects, 'get'>,
  resource: ResourceId,
  place: NamespacedName,
): Promise<KubeObject | undefined> {
  return (await objects.get(resource, place, 'any')) ?? objects.get(resource, place, 'latest')
}

/**
 * Gives admission plugins access to objects other than that of the request. A plugin first reads
 * such an object from the cache. Before it rejects a request because of the object, it reads the
 * latest state.
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

/**
 * The field that determines which objects `pick` returns. Objects are compared without being
 * decoded.
 */
export type WantedField = {
  /** Names of the fields on the path from the root of the object to this field. */
  readonly path: readonly string[]
  /**
   * Returns whether `pick` selects the object. `json` is the value of the field, or undefined if
   * the object does not have the field.
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
   * Synchronous if the objects come from the cache.
   */
  readonly list: (
    resource: ResourceId,
    namespace: string,
    at: ReadFreshness,
  ) => MaybePromise<readonly KubeObject[]>
  /**
   * Resolves to the first objects of a namespace that match `wanted`, in their latest state. Only
   * these objects are decoded, because a namespace can contain many large ones.
   */
  readonly pick: (
    resource: ResourceId,
    namespace: string,
    wanted: WantedField,
  ) => Promise<readonly KubeObject[]>
  /**
   * Resolves to functions, one for each object of a namespace, or of a cluster-scoped resource
   * (''), in the cache. Each function decodes its object.
   */
  readonly select: (
    resource: ResourceId,
    namespace: string,
    requirements: readonly Requirement[],
  ) => Promise<readonly (() => KubeObject)[]>
  /**
   * Stores the status that `decide` computes from the current object. If `decide` returns
   * undefined, nothing is stored. After a conflict, `decide` is called again with the new object.
   * Resolves to the object's new resourceVersion, or to undefined if the object does not exist.
   */
  readonly changeStatus: (
    resource: ResourceId,
    place: NamespacedName,
    decide: (object: KubeObject) => KubeObject | undefined,
  ) => Promise<string | undefined>
}

/** Reads an object from the cache, or from storage if the cache does not contain it. */
export async function getOrLatest(
  objects: Pick<Objects, 'get'>,
  resource: ResourceId,
  place: NamespacedName,
): Promise<KubeObject | undefined> {
  return (await objects.get(resource, place, 'any')) ?? objects.get(resource, place, 'latest')
}

/** What the verbs use of one resource: where its objects are, how they are read and how they are written. */
import type { Ids } from '../api/ids.ts'
import type { Admission } from '../admission/admission.ts'
import type { Labels } from '../api/label-selector.ts'
import type { KubeObject } from '../api/object.ts'
import type { ObjectReader } from '../cache/reader.ts'
import type { ConvertedYaml } from '../codec/yaml.ts'
import type { Allocator } from '../registry/allocations.ts'
import type { Resource, ResourceRequest, ValidateTools } from '../registry/resource.ts'
import type { ResourceKeys } from '../storage/keys.ts'
import type { ObjectStore, Stored } from '../storage/store.ts'
import type { HeldSelectors } from './held-selectors.ts'
import type { ResourceForms } from './represent/forms.ts'

/** Enough for reads. */
export type ReadAccess = {
  readonly keys: ResourceKeys
  readonly reader: Pick<ObjectReader, 'get' | 'list'>
  /** Other forms of its objects. */
  readonly forms: ResourceForms
}

export type WatchAccess = ReadAccess & {
  readonly reader: ObjectReader
  /** From 0 to below 1. */
  readonly random: () => number
  /** Whether a watch may ask for the objects that are there, and be told when it has them all: the gate WatchList. */
  readonly allowsWatchList: boolean
  /** A watch without a time of its own ends by chance between this and twice this, so that not all come back at once. */
  readonly watchMsMin: number
  /** Those of the watches of all resources. */
  readonly heldSelectors: HeldSelectors
  /** Told the events that leave for one watcher together. */
  readonly onFrames: (frames: readonly Buffer[]) => void
}

export type WriteAccess = ReadAccess & {
  readonly reader: ObjectReader
  readonly store: ObjectStore
  readonly decode: (stored: Stored) => KubeObject
  readonly ids: Ids
  /** Now, as a timestamp of metadata. */
  readonly now: () => string
  readonly admission: Admission
  /** Fails with Forbidden: an update that creates needs the right to create, too. */
  readonly authorizeCreate: (request: ResourceRequest) => Promise<void>
  /** Fails with Forbidden for who may not delete what cannot be read. Undefined: nobody can. */
  readonly authorizeUnsafeDelete: ((request: ResourceRequest) => Promise<void>) | undefined
  /** Fails with a YamlError. */
  readonly convertYaml: (bytes: Buffer) => Promise<ConvertedYaml>
  /** Matches patterns that take long. */
  readonly answerPattern: NonNullable<ValidateTools['answer']>
  /** Of the namespace of an object, as they are now. */
  readonly namespaceLabels: (namespace: string) => Promise<Labels>
  /** Undefined where objects of the resource need nothing of a pool. */
  readonly allocator: Allocator | undefined
  /** The same resource in another version of its group; undefined when there is none. */
  readonly inVersion: (apiVersion: string) => Resource | undefined
  /** Where only a webhook knows how: objects in another version. Fails with an ApiError. */
  readonly convertTo?: (
    objects: readonly KubeObject[],
    versions: { readonly from: Resource; readonly to: Resource },
  ) => Promise<readonly KubeObject[]>
  /** Where a webhook converts what is stored: what a reader gets of bytes that were stored, or would be. Fails with an ApiError. */
  readonly readBack?: (stored: Buffer) => Promise<KubeObject>
  /** Objects end by themselves after this time; undefined: never. */
  readonly ttlSeconds: number | undefined
}

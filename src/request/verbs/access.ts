/**
 * What the verbs use of one resource: where its objects are, how they are read and how they are
 * written.
 */
import type { Ids } from '../../api/ids.ts'
import type { Admission } from '../../admission/admission.ts'
import type { Labels } from '../../api/label-selector.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ObjectReader } from '../../storage/cache/reader.ts'
import type { ConvertedYaml } from '../../objects/codec/yaml.ts'
import type { InProgress } from '../../lib/concurrency/in-progress.ts'
import type { Allocator } from '../../registry/allocations.ts'
import type { Resource, ValidateTools } from '../../registry/resource.ts'
import type { ResourceRequest } from '../resource-request.ts'
import type { Key } from '../../storage/engine.ts'
import type { ResourceKeys } from '../../storage/keys.ts'
import type { ObjectStore, StoredValue } from '../../storage/store.ts'
import type { HeldSelectors } from './held-selectors.ts'
import type { ResourceForms } from './represent/forms.ts'

export type ReadAccess = {
  readonly keys: ResourceKeys
  readonly reader: Pick<ObjectReader, 'get' | 'list'>
  /** Other representations of its objects. */
  readonly forms: ResourceForms
  /**
   * How messages name an object that cannot be read. Undefined: nobody can delete such an object,
   * and messages do not name it.
   */
  readonly corruptKey?: ((key: Key) => string) | undefined
}

export type WatchAccess = ReadAccess & {
  readonly reader: ObjectReader
  /** A random number from 0 to below 1. */
  readonly random: () => number
  /**
   * Whether a watch may request initial events, and a bookmark at their end: the WatchList gate.
   */
  readonly allowsWatchList: boolean
  /**
   * A watch without timeoutSeconds lasts between this and twice this, at random, so that not all
   * clients reconnect at once.
   */
  readonly watchMsMin: number
  /** Shared by the watches of all resources. */
  readonly heldSelectors: HeldSelectors
  /** Called with the frames that are sent to one watcher together. */
  readonly onFrames: (frames: readonly { readonly length: number }[]) => void
}

export type WriteAccess = ReadAccess & {
  readonly reader: ObjectReader
  readonly storage: StorageAccess
  readonly versions: VersionAccess
  readonly permissions: WritePermissions
  readonly admission: Admission
  readonly validation: ValidationAccess
  readonly effects: WriteEffects
  readonly deletion: DeletionAccess
  readonly ids: Ids
  /** The current time, as a timestamp of metadata. */
  readonly now: () => string
  /** Fails with a YamlError. */
  readonly convertYaml: (bytes: Buffer) => Promise<ConvertedYaml>
}

/** How objects are stored. */
export type StorageAccess = {
  readonly store: ObjectStore
  readonly decode: (stored: StoredValue) => KubeObject
  /** Objects expire after this time; undefined: never. */
  readonly ttlSeconds?: number | undefined
  /**
   * Present if a webhook converts the resource: the object that a read returns for bytes that are
   * stored, or would be. Fails with an ApiError.
   */
  readonly readBack?: (stored: Buffer) => Promise<KubeObject>
}

/** The other versions of the resource. */
export type VersionAccess = {
  /** The same resource in another version of its group. Undefined: the version does not exist. */
  readonly inVersion: (apiVersion: string) => Resource | undefined
  /**
   * Present if a webhook converts the resource: objects in another version. Fails with an ApiError.
   */
  readonly convertTo?: (
    objects: readonly KubeObject[],
    versions: { readonly from: Resource; readonly to: Resource },
  ) => Promise<readonly KubeObject[]>
}

/** What the user needs besides the permission for the verb. */
export type WritePermissions = {
  /**
   * Fails with Forbidden if the user may not create the object: an update that creates also needs
   * that permission.
   */
  readonly authorizeCreate: (request: ResourceRequest) => Promise<void>
  /**
   * Fails with Forbidden if the object grants more than the user has. Absent where objects of the
   * resource grant nothing.
   */
  readonly confirmGrant?:
    | ((
        request: ResourceRequest,
        object: KubeObject,
        current: KubeObject | undefined,
      ) => Promise<void>)
    | undefined
  /** Fails with Forbidden if the user may not delete unreadable objects. Absent: nobody can. */
  readonly authorizeUnsafeDelete?: ((request: ResourceRequest) => Promise<void>) | undefined
}

/** What validation needs besides the object. */
export type ValidationAccess = {
  /** Matches patterns that take long, on a worker thread. */
  readonly answerPattern: NonNullable<ValidateTools['answer']>
  /** The current labels of a namespace. */
  readonly namespaceLabels: (namespace: string) => Promise<Labels>
}

/** What a write does besides storing the object. */
export type WriteEffects = {
  /**
   * Counts the creates in progress in each namespace. Absent: objects of the resource are not in
   * namespaces.
   */
  readonly creates?: Pick<InProgress, 'enter' | 'leave'> | undefined
  /**
   * Called after an update was stored, with the object and what it was before. Absent if nothing
   * depends on it.
   */
  readonly onUpdated?: ((object: KubeObject, previous: KubeObject) => void) | undefined
  /** Absent if objects of the resource need nothing from a pool (addresses, node ports). */
  readonly allocator?: Allocator | undefined
}

export type DeletionAccess = {
  /** Whether there is a garbage collector that a delete may wait for. */
  readonly collectsGarbage: boolean
  /** How many objects of a collection are deleted at once. */
  readonly deleteWorkers: number
}

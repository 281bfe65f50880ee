/**
 * Access of the verbs to one resource: where its objects are, how to read them and how to write
 * them.
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
  /** Encodes the objects in formats other than that of the cache. */
  readonly forms: ResourceForms
  /**
   * Returns how messages name an object that cannot be read. Undefined if such objects cannot be
   * deleted; messages do not name them then.
   */
  readonly corruptKey?: ((key: Key) => string) | undefined
}

export type WatchAccess = ReadAccess & {
  readonly reader: ObjectReader
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
  /**
   * Whether a watch may request initial events, and a bookmark at their end (feature gate
   * WatchList).
   */
  readonly allowsWatchList: boolean
  /**
   * Minimum duration of a watch without timeoutSeconds. The actual duration is random between this
   * and twice this, so that clients do not all reconnect at once.
   */
  readonly watchMsMin: number
  /** Limits the selectors of open watches. Shared by the watches of all resources. */
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
  /** Returns the current time in the format of metadata timestamps. */
  readonly now: () => string
  /** Converts YAML to JSON. Fails with a YamlError. */
  readonly convertYaml: (bytes: Buffer) => Promise<ConvertedYaml>
}

/** How the objects are stored. */
export type StorageAccess = {
  readonly store: ObjectStore
  readonly decode: (stored: StoredValue) => KubeObject
  /** Time after which objects expire. Undefined if they never expire. */
  readonly ttlSeconds?: number | undefined
  /**
   * Returns the object that a read would return for bytes that are stored, or would be stored.
   * Present only if a webhook converts the resource. Fails with an ApiError.
   */
  readonly readBack?: (stored: Buffer) => Promise<KubeObject>
}

/** The other versions of the resource. */
export type VersionAccess = {
  /**
   * Returns the resource in another version of its group. Undefined if that version does not exist.
   */
  readonly inVersion: (apiVersion: string) => Resource | undefined
  /**
   * Converts objects to another version. Present only if a webhook converts the resource. Fails
   * with an ApiError.
   */
  readonly convertTo?: (
    objects: readonly KubeObject[],
    versions: { readonly from: Resource; readonly to: Resource },
  ) => Promise<readonly KubeObject[]>
}

/** The permissions that a user needs besides that for the verb. */
export type WritePermissions = {
  /**
   * Fails with Forbidden if the user may not create the object. An update that creates an object
   * needs this permission as well.
   */
  readonly authorizeCreate: (request: ResourceRequest) => Promise<void>
  /**
   * Fails with Forbidden if the object grants more than the user has. Absent if objects of the
   * resource grant nothing.
   */
  readonly confirmGrant?:
    | ((
        request: ResourceRequest,
        object: KubeObject,
        current: KubeObject | undefined,
      ) => Promise<void>)
    | undefined
  /**
   * Fails with Forbidden if the user may not delete unreadable objects. Absent if this is disabled
   * for all users.
   */
  readonly authorizeUnsafeDelete?: ((request: ResourceRequest) => Promise<void>) | undefined
}

/** Tools for validation. */
export type ValidationAccess = {
  /** Matches slow patterns on a worker thread. */
  readonly answerPattern: NonNullable<ValidateTools['answer']>
  /** Returns the current labels of a namespace. */
  readonly namespaceLabels: (namespace: string) => Promise<Labels>
}

/** The effects of a write besides storing the object. */
export type WriteEffects = {
  /** Counts the creates in progress in each namespace. Absent for resources without namespaces. */
  readonly creates?: Pick<InProgress, 'enter' | 'leave'> | undefined
  /**
   * Called after an update was stored, with the new and the previous object. Absent if nothing
   * depends on it.
   */
  readonly onUpdated?: ((object: KubeObject, previous: KubeObject) => void) | undefined
  /** Allocates addresses and node ports. Absent if objects of the resource need none. */
  readonly allocator?: Allocator | undefined
}

export type DeletionAccess = {
  /** Whether there is a garbage collector that a delete may wait for. */
  readonly collectsGarbage: boolean
  /** Number of objects that a deletecollection deletes concurrently. */
  readonly deleteWorkers: number
}

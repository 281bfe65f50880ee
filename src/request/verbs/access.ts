/**
 * Gives the verbs access to the objects of one resource: the location of the objects, and the
 * functions to read and write them.
 */
import type { Ids } from '../../api/ids.ts'
import type { Admission } from '../../admission/admission.ts'
import type { Labels } from '../../api/label-selector.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ObjectReader } from '../../storage/cache/reader.ts'
import type { ConvertedYaml } from '../../objects/codec/yaml.ts'
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
  /** Encodes the objects in formats other than JSON, which is the format of the cache. */
  readonly forms: ResourceForms
  /**
   * Returns the key of an unreadable object in the format of error messages. Undefined if
   * unreadable objects cannot be deleted, because error messages then do not contain their keys.
   */
  readonly corruptKey?: ((key: Key) => string) | undefined
}

export type WatchAccess = ReadAccess & {
  readonly reader: ObjectReader
  /** Returns a random number in the range [0, 1). */
  readonly random: () => number
  /**
   * Whether a watch can request initial events, followed by a bookmark (feature gate WatchList).
   */
  readonly allowsWatchList: boolean
  /**
   * Minimum duration of a watch without timeoutSeconds. The actual duration is random between one
   * and two times this value, so that clients do not all reconnect at the same time.
   */
  readonly watchMsMin: number
  /** Limits the selectors of open watches. All resources share this object. */
  readonly heldSelectors: HeldSelectors
  /** Called with the frames of a watch that are sent together to one client. */
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
  /** Converts YAML to JSON. Fails with a YamlError if the text is not valid YAML. */
  readonly convertYaml: (bytes: Buffer) => Promise<ConvertedYaml>
}

/** Access to the storage of the objects. */
export type StorageAccess = {
  readonly store: ObjectStore
  readonly decode: (stored: StoredValue) => KubeObject
  /** Time after which objects expire. Undefined if they do not expire. */
  readonly ttlSeconds?: number | undefined
  /**
   * Returns the object that a read would return if these bytes were stored. Present only if a
   * webhook converts the resource. Fails with an ApiError if the conversion fails.
   */
  readonly readBack?: (stored: Buffer) => Promise<KubeObject>
}

/** Access to the other versions of the resource. */
export type VersionAccess = {
  /**
   * Returns the resource in another version of its group. Undefined if that version does not exist.
   */
  readonly inVersion: (apiVersion: string) => Resource | undefined
  /**
   * Converts objects to another version. Present only if a webhook converts the resource. Fails
   * with an ApiError if the conversion fails.
   */
  readonly convertTo?: (
    objects: readonly KubeObject[],
    versions: { readonly from: Resource; readonly to: Resource },
  ) => Promise<readonly KubeObject[]>
}

/** Permissions that a user needs in addition to the permission for the verb of the request. */
export type WritePermissions = {
  /**
   * Fails with Forbidden if the user is not allowed to create the object. An update that creates an
   * object also needs this permission.
   */
  readonly authorizeCreate: (request: ResourceRequest) => Promise<void>
  /** Fails with Forbidden if the user is not allowed to create the subresource of the request. */
  readonly authorizeConnect: (request: ResourceRequest) => Promise<void>
  /**
   * Fails with Forbidden if the object grants permissions that the user does not have. Absent if no
   * object of the resource grants permissions.
   */
  readonly confirmGrant?:
    | ((
        request: ResourceRequest,
        object: KubeObject,
        current: KubeObject | undefined,
      ) => Promise<void>)
    | undefined
  /**
   * Fails with Forbidden if the user is not allowed to delete unreadable objects. Absent if such
   * deletions are disabled for all users.
   */
  readonly authorizeUnsafeDelete?: ((request: ResourceRequest) => Promise<void>) | undefined
}

/** Functions for validation. */
export type ValidationAccess = {
  /** Matches strings against regular expressions that can be slow, in a worker thread. */
  readonly answerPattern: NonNullable<ValidateTools['answer']>
  /** Returns the current labels of a namespace. */
  readonly namespaceLabels: (namespace: string) => Promise<Labels>
}

/** Effects of a write in addition to storing the object. */
export type WriteEffects = {
  /**
   * Called after an update is stored, with the new and the previous object. Absent if no listener
   * is needed.
   */
  readonly onUpdated?: ((object: KubeObject, previous: KubeObject) => void) | undefined
  /** Allocates cluster IPs and node ports. Absent for resources that need no allocation. */
  readonly allocator?: Allocator | undefined
}

export type DeletionAccess = {
  /** Whether a garbage collector runs, for which a delete can wait. */
  readonly collectsGarbage: boolean
  /** Number of objects that a deletecollection deletes concurrently. */
  readonly deleteWorkers: number
}

/**
 * A resource whose objects the garbage collector reads and watches. It belongs to this server or to
 * a remote server.
 */
import type { Log } from '../../lib/telemetry/log.ts'
import type { Steps } from '../../lib/scheduling/slices.ts'
import type { Time } from '../../lib/time/timers.ts'
import type { Resource } from '../../registry/resource.ts'
import type { ObjectHead, OwnerReference } from '../object-head.ts'
import type { RemoteObjects } from '../remote/remote-objects.ts'
import type { Key } from './graph.ts'

/** An object that was read from a source. */
export type SourceObject = {
  /**
   * The key of the object. If the cache contains the object, this is the same string as in the
   * cache, so that storing the key costs no memory.
   */
  readonly key: Key
  readonly resourceVersion: string
  /** Returns the metadata of the object. Throws if the stored object cannot be decoded. */
  readonly head: () => ObjectHead
  /**
   * Returns the metadata of this object for the check of an owner reference that points to it.
   * Undefined if the object cannot be decoded. It might then be the owner, so its dependents must
   * not be deleted.
   */
  readonly ownerHead: () => ObjectHead | undefined
}

export type Keys = {
  /** Common prefix of all keys, which ends with a slash. */
  readonly prefix: Key
  readonly isNamespaced: boolean
  key(namespace: string | undefined, name: string): Key
  parse(key: Key): { readonly namespace: string | undefined; readonly name: string } | undefined
}

export type SourceListener = {
  /**
   * Called with the current state of an object. `head` is undefined if the object does not exist
   * any more. For an object with many owners, returns a generator that performs the rest of the
   * work. It must be run to its end before the next call for the same key.
   */
  readonly set: (key: Key, head: ObjectHead | undefined) => Steps<void> | undefined
  /** Returns the keys of all objects that `set` was called for and that still exist. */
  readonly known: () => Iterable<Key>
  readonly log: Log
  readonly time: Time
}

export type ObjectsInformer = {
  /** Resolves when all objects have been reported, or when the informer is stopped. */
  readonly listed: Promise<void>
  /**
   * Resolves when all objects have been reported, or when the first attempt to list the objects of
   * a remote server has failed.
   */
  readonly tried: Promise<void>
  /**
   * Resolves when `set` has been called for all writes that any server had acknowledged when this
   * function was called. For a remote resource, resolves immediately, although `set` may not have
   * been called for recent writes.
   */
  readonly latest: (signal: AbortSignal) => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export type Source = {
  /** The resource, in the version that is used for writes. */
  readonly resource: Pick<Resource, 'group' | 'version' | 'plural' | 'kind'>
  readonly keys: Keys
  /**
   * If this object is replaced by another one, the objects of the resource must be watched again.
   */
  readonly identity: object
  /** The objects on a remote server. Undefined for a resource of this server. */
  readonly remote: RemoteObjects | undefined
  /**
   * Returns an object from memory, or undefined if it does not exist. Returns 'unknown' if the
   * objects of the resource are not in memory.
   */
  readonly known: (key: Key) => SourceObject | 'unknown' | undefined
  /**
   * Returns an object in its stored state, or with 'any' in its cached state. An object on a remote
   * server is always requested from that server. Rejects if it is unknown whether the object
   * exists.
   */
  readonly get: (key: Key, at: 'any' | 'latest') => Promise<SourceObject | undefined>
  /** Whether an object with the name and the uid of the reference exists in any namespace. */
  readonly isSomewhere: (reference: OwnerReference) => Promise<boolean>
  readonly follow: (listener: SourceListener) => ObjectsInformer
}

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
   * The key. If the object is in the cache, this is the cache's own string, so that storing it
   * costs no memory.
   */
  readonly key: Key
  readonly resourceVersion: string
  /** Returns the metadata of the object. Throws if the stored object cannot be decoded. */
  readonly head: () => ObjectHead
  /**
   * Returns the metadata of an object to which an owner reference refers. Undefined if the object
   * cannot be decoded. Its dependents must then not be deleted, because the object might be the
   * owner that they name.
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
   * Called with the current state of an object. Undefined means that the object does not exist any
   * more. Returns the remaining work for an object with many owners, which must run before the next
   * call for the same key.
   */
  readonly set: (key: Key, head: ObjectHead | undefined) => Steps<void> | undefined
  /** Returns the keys of all objects that were reported. */
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
   * Resolves when everything that was acknowledged to any client before the call has been reported.
   * For a remote resource it resolves immediately, although recent writes may not have been
   * reported yet.
   */
  readonly latest: (signal: AbortSignal) => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export type Source = {
  /** The resource, in the version that is used for writes. */
  readonly resource: Pick<Resource, 'group' | 'version' | 'plural' | 'kind'>
  readonly keys: Keys
  /**
   * Identity of the watched objects. If the identity changes, the objects must be watched again.
   */
  readonly identity: object
  /** The remote objects. Undefined for a resource of this server. */
  readonly remote: RemoteObjects | undefined
  /**
   * Returns an object from memory. 'unknown' means that the objects of the resource are not in
   * memory.
   */
  readonly known: (key: Key) => SourceObject | 'unknown' | undefined
  /**
   * Returns the stored state of an object or, with 'any', its state in the cache. A remote object
   * is always requested from its server. Rejects if it is unknown whether the object exists.
   */
  readonly get: (key: Key, at: 'any' | 'latest') => Promise<SourceObject | undefined>
  /** Whether an object with the name and the uid of the reference exists in any namespace. */
  readonly isSomewhere: (reference: OwnerReference) => Promise<boolean>
  readonly follow: (listener: SourceListener) => ObjectsInformer
}

/**
 * A resource whose objects the collector reads and follows: one of this server, or of a remote one.
 */
import type { Log } from '../../lib/telemetry/log.ts'
import type { Steps } from '../../lib/scheduling/slices.ts'
import type { Time } from '../../lib/time/timers.ts'
import type { Resource } from '../../registry/resource.ts'
import type { ObjectHead, OwnerReference } from '../object-head.ts'
import type { RemoteObjects } from '../remote/remote-objects.ts'
import type { Key } from './graph.ts'

/** An object as it was read. */
export type SourceObject = {
  /** That of memory, if it is there: it costs nothing to keep. */
  readonly key: Key
  readonly resourceVersion: string
  /** Fails if what is stored cannot be decoded. */
  readonly head: () => ObjectHead
  /**
   * Undefined: it cannot be decoded. It is there, and nobody can say that it is another one:
   * nothing is deleted because of it.
   */
  readonly ownerHead: () => ObjectHead | undefined
}

export type Keys = {
  /** Ends in a slash. */
  readonly prefix: Key
  readonly isNamespaced: boolean
  key(namespace: string | undefined, name: string): Key
  parse(key: Key): { readonly namespace: string | undefined; readonly name: string } | undefined
}

export type SourceListener = {
  /**
   * Undefined: it is gone. Returns the rest of the work for an object with many owners, to be run
   * before the next call for its key.
   */
  readonly set: (key: Key, head: ObjectHead | undefined) => Steps<void> | undefined
  /** The keys of all objects that were told. */
  readonly known: () => Iterable<Key>
  readonly log: Log
  readonly time: Time
}

export type ObjectsInformer = {
  /** Resolves when all objects have been told, or when it is stopped. */
  readonly listed: Promise<void>
  /** Resolves when there is no use in waiting any longer for the objects. */
  readonly tried: Promise<void>
  /** Resolves when everything has been told that was acknowledged to any client before the call. */
  readonly latest: (signal: AbortSignal) => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export type Source = {
  /** In the version that is written to. */
  readonly resource: Pick<Resource, 'group' | 'version' | 'plural' | 'kind'>
  readonly keys: Keys
  /** Who follows one of another identity follows something else. */
  readonly identity: object
  /** Undefined: its objects are of this server. */
  readonly remote: RemoteObjects | undefined
  /** By what is in memory. 'unknown': it cannot be asked. */
  readonly known: (key: Key) => SourceObject | 'unknown' | undefined
  /** As it is stored now, or, with 'any', in memory. Fails if nobody can say. */
  readonly get: (key: Key, at: 'any' | 'latest') => Promise<SourceObject | undefined>
  /** Whether an object with the uid of the reference has its name, in any namespace. */
  readonly isSomewhere: (reference: OwnerReference) => Promise<boolean>
  readonly follow: (listener: SourceListener) => ObjectsInformer
}

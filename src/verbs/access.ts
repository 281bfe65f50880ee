/** What the verbs use of one resource: where its objects are, how they are read and how they are written. */
import type { KubeObject } from '../api/object.ts'
import type { Reader } from '../cache/reader.ts'
import type { ResourceKeys } from '../storage/keys.ts'
import type { Store, Stored } from '../storage/store.ts'

/** Enough for reads. */
export type ReadAccess = { readonly keys: ResourceKeys; readonly reader: Reader }

export type WatchAccess = ReadAccess & {
  /** From 0 to below 1. */
  readonly random: () => number
}

export type WriteAccess = ReadAccess & {
  readonly store: Store
  readonly decode: (stored: Stored) => KubeObject
  readonly ids: Ids
  /** Now, as a timestamp of metadata. */
  readonly now: () => string
}

export type Ids = {
  readonly uid: () => string
  /** The random end of a generated name. */
  readonly nameSuffix: () => string
}

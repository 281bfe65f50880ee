/**
 * Options of a cached resource: those of the resource itself, and those that all resources of a
 * cache share.
 */
import type { Log } from '../../lib/telemetry/log.ts'
import type { Engine, Key } from '../engine.ts'
import type { Feed } from '../feed.ts'
import type { Store } from '../store.ts'
import type { Transformer } from '../transform.ts'
import type { CacheCeiling } from './ceiling.ts'
import type { ContentsOptions } from './contents.ts'
import type { DecodedObjects } from './decoded-objects.ts'
import type { EvictionQueue } from './eviction-queue.ts'
import type { IndexLimits } from './field-index.ts'
import type { HistoryBudget } from './history.ts'
import type { ObjectCodec } from './item.ts'

export type ResourceSpec = ObjectCodec & {
  /** Name in log messages and errors, such as `configmaps`. */
  readonly name: string
  /** Prefix of the keys of the objects, which ends with a slash. */
  readonly prefix: Key
  /** Distinguishes the versions of a kind that is stored in one version and served in several. */
  readonly version?: string
  /** Type of the objects in kube-apiserver's messages, such as `*core.Secret`. */
  readonly goKind?: string
}

/** Options that all resources of a cache share. */
export type CachedResourceOptions = ContentsOptions & {
  readonly engine: Engine
  readonly store: Store
  readonly transformer: Transformer
  readonly feed: Feed
  readonly decoded: DecodedObjects
  readonly frames: EvictionQueue
  /** Returns a number that is unique in this process. */
  readonly newListing: () => number
  readonly histories: HistoryBudget
  readonly ceiling: CacheCeiling
  readonly indexes: IndexLimits
  /** Maximum time that a watch waits until its resource is listed. */
  readonly watchReadyMs: number
  readonly log: Log
}

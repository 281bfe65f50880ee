/**
 * Allocation from finite pools: the cluster IPs and node ports of Services. A write allocates what
 * the object needs before the object is validated. Afterwards it keeps the allocation or releases
 * it.
 */
import type { KubeObject } from '../api/object.ts'

export type AllocationRequest = {
  readonly object: KubeObject
  /** The stored object. Undefined for a new object. */
  readonly before: KubeObject | undefined
  readonly namespace: string
  readonly isDryRun: boolean
  /** Divides long work on a large object into parts. Absent for a small object. */
  readonly inParts?: <T>(work: () => T) => Promise<T>
}

export type Allocation = {
  /** The object with the allocated values. */
  readonly object: KubeObject
  /** Called when the write has succeeded: releases what only `before` had. Never fails. */
  readonly keep: () => Promise<void>
  /** Called when the write has failed: releases what was allocated. Never fails. */
  readonly undo: () => Promise<void>
}

export type Allocator = {
  /**
   * Allocates what the object needs. Throws an ApiError on failure, in which case nothing stays
   * allocated. A dry run never allocates anything.
   */
  readonly allocate: (wanted: AllocationRequest) => Promise<Allocation>
  /**
   * Called when the object has been removed. Never fails: a later repair finds anything that could
   * not be released.
   */
  readonly release: (object: KubeObject, namespace: string) => Promise<void>
}

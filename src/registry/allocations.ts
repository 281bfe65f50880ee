/**
 * Allocation from finite pools: the cluster IPs and node ports of Services. A write allocates what
 * the object needs before the object is validated, and afterwards keeps or releases it.
 */
import type { KubeObject } from '../api/object.ts'

export type AllocationRequest = {
  readonly object: KubeObject
  /** Undefined for a new object. */
  readonly before: KubeObject | undefined
  readonly namespace: string
  readonly isDryRun: boolean
  /** Divides long work on a large object. Absent for a small one. */
  readonly inParts?: <T>(work: () => T) => Promise<T>
}

export type Allocation = {
  /** The object with what was allocated to it. */
  readonly object: KubeObject
  /** The write succeeded: releases what only `before` had. Never fails. */
  readonly keep: () => Promise<void>
  /** The write failed: releases what was allocated. Never fails. */
  readonly undo: () => Promise<void>
}

export type Allocator = {
  /** Fails with an ApiError, and has then allocated nothing. A dry run never allocates anything. */
  readonly allocate: (wanted: AllocationRequest) => Promise<Allocation>
  /** The object was removed. Never fails: what could not be released is found by a later repair. */
  readonly release: (object: KubeObject, namespace: string) => Promise<void>
}

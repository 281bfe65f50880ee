/**
 * Allocation from finite pools, such as the cluster IPs and node ports of Services. Every write
 * allocates what its object needs before the object is validated. If the write succeeds, the
 * allocation is kept; otherwise it is released.
 */
import type { KubeObject } from '../api/object.ts'

export type AllocationRequest = {
  readonly object: KubeObject
  /** The stored object. Undefined for a new object. */
  readonly before: KubeObject | undefined
  readonly namespace: string
  readonly isDryRun: boolean
  /** Runs long work on a large object in time slices. Absent for a small object. */
  readonly inParts?: <T>(work: () => T) => Promise<T>
}

export type Allocation = {
  /** The object with the allocated values. */
  readonly object: KubeObject
  /**
   * Called after a successful write. Releases the values that the previous object used and the new
   * one does not use. Never rejects.
   */
  readonly keep: () => Promise<void>
  /**
   * Called after a failed write. Releases everything that this allocation acquired. Never rejects.
   */
  readonly undo: () => Promise<void>
}

export type Allocator = {
  /**
   * Allocates what the object needs. Throws an ApiError on failure, after releasing what was
   * already allocated. A dry run allocates nothing.
   */
  readonly allocate: (wanted: AllocationRequest) => Promise<Allocation>
  /**
   * Called after the object was removed. Never rejects: the repair loop later releases anything
   * that could not be released here.
   */
  readonly release: (object: KubeObject, namespace: string) => Promise<void>
}

/**
 * What objects of a kind are allocated from finite pools: the addresses and node ports of Services. A write allocates what the object
 * needs before the object is validated, and then keeps it or gives it back.
 */
import type { KubeObject } from '../api/object.ts'

export type AllocationRequest = {
  readonly object: KubeObject
  /** Undefined: the object is new. */
  readonly before: KubeObject | undefined
  readonly namespace: string
  readonly isDryRun: boolean
}

export type Allocation = {
  /** The object with what it was given. */
  readonly object: KubeObject
  /** The write was made: what `before` alone had goes back. Never fails. */
  readonly keep: () => Promise<void>
  /** The write was not made: what was taken goes back. Never fails. */
  readonly undo: () => Promise<void>
}

export type Allocator = {
  /** Fails with an ApiError, and then has taken nothing. Of a dry run nothing is ever taken. */
  readonly allocate: (wanted: AllocationRequest) => Promise<Allocation>
  /** The object is gone. Never fails: what could not be given back is found by a repair later. */
  readonly release: (object: KubeObject, namespace: string) => Promise<void>
}

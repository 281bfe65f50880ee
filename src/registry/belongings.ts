/**
 * What objects of a kind have beside themselves, out of pools that are not endless: the addresses and ports of Services. A write
 * takes what the object needs before it is checked, and then keeps it or gives it back.
 */
import type { KubeObject } from '../api/object.ts'

export type Taking = {
  readonly object: KubeObject
  /** Undefined: the object is new. */
  readonly before: KubeObject | undefined
  readonly namespace: string
  readonly isDryRun: boolean
}

export type Taken = {
  /** The object with what it was given. */
  readonly object: KubeObject
  /** The write was made: what `before` alone had goes back. Never fails. */
  readonly keep: () => Promise<void>
  /** The write was not made: what was taken goes back. Never fails. */
  readonly undo: () => Promise<void>
}

export type Belongings = {
  /** Fails with an ApiError, and then has taken nothing. Of a dry run nothing is ever taken. */
  readonly take: (taking: Taking) => Promise<Taken>
  /** The object is gone. Never fails: what could not be given back is found by a repair later. */
  readonly release: (object: KubeObject, namespace: string) => Promise<void>
}

/**
 * The messages between the engine and its thread. The values to store are sent together in one
 * buffer, so that a message needs only one copy.
 */
import type { KeyRevision, Revision } from '../engine.ts'
import type { StorageErrorCode } from '../errors.ts'
import type { CompactionNote } from '../interval-compactor.ts'
import type { RowBuffers, RowsOffset } from './packed-rows.ts'

/** Position of a value in the buffer of its message. */
type ByteRange = { readonly start: number; readonly end: number }

export type ChangeCall = {
  readonly op: 'change'
  readonly id: number
  readonly key: string
  readonly expected: Revision
  readonly unchanged?: readonly KeyRevision[] | undefined
  /** The new value. If absent, the key is deleted. */
  readonly put?: ByteRange
  readonly lease?: bigint
}

export type RangeCall = {
  readonly op: 'range'
  readonly id: number
  readonly from: string
  readonly to: string
  readonly revision: Revision
  readonly limit: number
  readonly values: 'all' | 'none' | 'count'
}

export type CommitsCall = {
  readonly op: 'commits'
  readonly id: number
  readonly after: Revision
  readonly most: number
  readonly previous: boolean
  /** The first key of the range. Events of keys outside the range are omitted. */
  readonly from: string
  readonly to: string
}

export type GrantCall = {
  readonly op: 'grant'
  readonly id: number
  readonly ttlSeconds: number
  /**
   * Wall-clock time at which the lease expires, because leases also expire while no process uses
   * the folder.
   */
  readonly expiresMs: number
}
export type RevokeCall = { readonly op: 'revoke'; readonly id: number; readonly lease: bigint }
export type CompactCall = {
  readonly op: 'compact'
  readonly id: number
  readonly revision: Revision
}
export type NoteCall = { readonly op: 'note'; readonly id: number; readonly note: CompactionNote }

export type Call =
  | ChangeCall
  | RangeCall
  | CommitsCall
  | GrantCall
  | RevokeCall
  | CompactCall
  | NoteCall

export type Calls = {
  readonly calls: readonly Call[]
  readonly bytes: Uint8Array
  /**
   * IDs of range calls whose callers no longer wait, so that the thread can stop reading these
   * ranges.
   */
  readonly cancelled: readonly number[]
}

/** Keys that were deleted in one revision. */
export type Deletions = { readonly revision: Revision; readonly keys: readonly string[] }

export type Answer =
  | {
      readonly op: 'won'
      readonly id: number
      readonly revision: Revision
      readonly created: Revision
    }
  | {
      readonly op: 'lost'
      readonly id: number
      readonly revision: Revision
      readonly current: RowsOffset | undefined
    }
  /** Rows of a range that has not been read to its end. */
  | { readonly op: 'rows'; readonly id: number; readonly rows: RowsOffset }
  | {
      readonly op: 'range'
      readonly id: number
      readonly revision: Revision
      readonly rows: RowsOffset
      readonly count: number
    }
  | {
      readonly op: 'commits'
      readonly id: number
      /**
       * The events, each followed by the previous version if it was requested. Undefined if the
       * events have been compacted.
       */
      readonly rows: RowsOffset | undefined
      readonly upTo: Revision
      readonly compacted: Revision
    }
  | { readonly op: 'granted'; readonly id: number; readonly lease: bigint }
  | { readonly op: 'revoked'; readonly id: number; readonly deletions: readonly Deletions[] }
  | { readonly op: 'compacted'; readonly id: number; readonly compacted: Revision }
  | { readonly op: 'noted'; readonly id: number }
  | {
      readonly op: 'failed'
      readonly id: number
      readonly code: StorageErrorCode
      readonly message: string
      readonly ambiguous: boolean
    }

export type Answers = RowBuffers & { readonly kind: 'answers'; readonly answers: readonly Answer[] }

export type OpenedMessage = {
  readonly kind: 'opened'
  readonly databaseId: string
  readonly revision: Revision
  readonly compacted: Revision
  readonly compactionNote: CompactionNote | undefined
  readonly leases: readonly {
    readonly id: bigint
    readonly ttlSeconds: number
    readonly expiresMs: number
  }[]
}

/** Reports the error with which writes fail, or undefined when they succeed again. */
export type Health = { readonly kind: 'health'; readonly fault: string | undefined }

/**
 * Reports the size of SQLite's log when the log has become long or has doubled, and 0 when it is no
 * longer long.
 */
export type LogLength = { readonly kind: 'log'; readonly bytes: number }

export type FromThread =
  | Answers
  | OpenedMessage
  | Health
  | LogLength
  | { readonly kind: 'refused'; readonly message: string }

/** Requests that the thread finish the work in progress, close the file, and exit. */
export type End = { readonly end: true }

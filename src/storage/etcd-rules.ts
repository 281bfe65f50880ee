/**
 * etcd's limits and refusals, for the engines in this process: clients see its words, and a cluster
 * can move there.
 */
import type { Key } from './engine.ts'
import { StorageError } from './errors.ts'

/** The timeout of a call, which is that of the etcd client. */
export const CALL_TIMEOUT_MS = 10_000
/** How often etcd looks for expired leases. */
export const LEASES_EVERY_MS = 500
/**
 * etcd's shortest lease with its default election timeout: one and a half of that, in whole
 * seconds.
 */
const TTL_SECONDS_MIN = 2
export const TTL_SECONDS_MAX = 9_000_000_000
/** etcd's default of --max-request-bytes. */
const REQUEST_BYTES_MAX = 1.5 * 1024 * 1024
/** The size of an etcd Txn request besides its value and its key, which it contains three times. */
const REQUEST_BYTES_AROUND = 64

/** `valueBytes`: 0 for a deletion. */
export function checkRequestSize(key: Key, valueBytes: number): void {
  const bytes = valueBytes + 3 * key.length + REQUEST_BYTES_AROUND
  if (bytes > REQUEST_BYTES_MAX)
    throw new StorageError('too-large', 'etcdserver: request is too large')
}

/** The time that a lease of this many seconds lives. */
export function grantedSeconds(ttlSeconds: number): number {
  if (ttlSeconds > TTL_SECONDS_MAX)
    throw new StorageError('unavailable', 'etcdserver: too large lease TTL')
  return Math.max(ttlSeconds, TTL_SECONDS_MIN)
}

export const keyMissing = (): StorageError =>
  new StorageError('unavailable', 'etcdserver: key is not provided')

export const compacted = (): StorageError =>
  new StorageError('compacted', 'etcdserver: mvcc: required revision has been compacted')

export const tooNew = (): StorageError =>
  new StorageError('too-new', 'etcdserver: mvcc: required revision is a future revision')

export const leaseNotFound = (): StorageError =>
  new StorageError('missing', 'etcdserver: requested lease not found')

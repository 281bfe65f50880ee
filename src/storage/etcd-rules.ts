/**
 * etcd's limits and errors, for engines inside this process. Clients get the same messages as with
 * etcd, and the data can be moved to etcd.
 */
import type { Key } from './engine.ts'
import { StorageError } from './errors.ts'

/** Timeout of a call, as in the etcd client. */
export const CALL_TIMEOUT_MS = 10_000
/** Interval at which etcd checks for expired leases. */
export const LEASES_EVERY_MS = 500
/**
 * etcd's shortest time to live with its default election timeout. It is one and a half times that
 * timeout, rounded up to whole seconds.
 */
const TTL_SECONDS_MIN = 2
export const TTL_SECONDS_MAX = 9_000_000_000
/** etcd's default of --max-request-bytes. */
const REQUEST_BYTES_MAX = 1.5 * 1024 * 1024
/**
 * Size of an etcd Txn request excluding its value and its key. The request contains the key three
 * times.
 */
const REQUEST_BYTES_AROUND = 64

/** Throws if etcd would reject a write of this size. `valueBytes` is 0 for a deletion. */
export function checkRequestSize(key: Key, valueBytes: number): void {
  const bytes = valueBytes + 3 * key.length + REQUEST_BYTES_AROUND
  if (bytes > REQUEST_BYTES_MAX)
    throw new StorageError('too-large', 'etcdserver: request is too large')
}

/** Returns the time to live of a lease for which `ttlSeconds` is requested. */
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

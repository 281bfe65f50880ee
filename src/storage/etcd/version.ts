/**
 * Checks whether a version of etcd sends the progress notifications of a watch stream in order with
 * its events. In older versions, a notification can overtake events that it covers (etcd issue
 * 15220, fixed in 3.4.25 and 3.5.8). Behind a proxy, it can also belong to another stream (issue
 * 17507, fixed in 3.4.31 and 3.5.13). A client that trusts such a notification misses changes
 * without noticing. kube-apiserver requires the same versions.
 */
import type { ConnectionCheck } from '../../net/grpc/channel.ts'
import { emptyRequest } from './codec/header.ts'
import { readStatus } from './codec/maintenance.ts'
import type { GrpcConnection } from '../../net/grpc/connection.ts'
import { GrpcError } from '../../net/grpc/errors.ts'
import { callUnary } from '../../net/grpc/unary.ts'
import { acquire } from '../../net/grpc/within.ts'

export const statusMethod = { path: '/etcdserverpb.Maintenance/Status', requireLeader: false }

/**
 * Whether this version sends reliable progress notifications. Returns false for a version that
 * cannot be parsed.
 */
export function isProgressReliable(version: string): boolean {
  const parts = /^(\d+)\.(\d+)\.(\d+)/.exec(version)
  if (parts === null) return false
  const [, major, minor, patch] = parts.map(Number)
  if (major !== 3) return Number(major) > 3
  if (minor === 4) return Number(patch) >= 31
  if (minor === 5) return Number(patch) >= 13
  return Number(minor) > 5
}

export const unreliable = (endpoint: string, version: string): string =>
  `etcd at ${endpoint} has version ${version || 'unknown'}, which reports the progress of watches incorrectly (etcd issues 15220 and 17507): upgrade it to 3.5.13 or newer`

/**
 * Checks the version once for each connection. This is sufficient: if a member is replaced by one
 * with an older version, the connection is also replaced.
 */
export class VersionCheck implements ConnectionCheck {
  readonly method = statusMethod
  readonly #checks = new WeakMap<GrpcConnection, Promise<void>>()

  /**
   * Rejects if the progress notifications on this connection are not reliable. The call was then
   * not sent, and another endpoint may be usable.
   */
  readonly check = (
    connection: GrpcConnection,
    headers: readonly string[],
    timeoutMs: number,
  ): Promise<void> => {
    const known = this.#checks.get(connection)
    if (known !== undefined) return known
    const checking = ask(connection, headers, timeoutMs)
    this.#checks.set(connection, checking)
    checking.catch(() => this.#checks.delete(connection))
    return checking
  }
}

async function ask(
  connection: GrpcConnection,
  headers: readonly string[],
  timeoutMs: number,
): Promise<void> {
  if (!connection.tryAcquire()) await acquire(connection, timeoutMs, undefined)
  const call = { headers, frame: emptyRequest(), read: readStatus, timeoutMs, signal: undefined }
  const { version } = await callUnary(connection, call)
  const { endpoint } = connection
  if (!isProgressReliable(version))
    throw new GrpcError('Unavailable', unreliable(endpoint, version), { endpoint })
}

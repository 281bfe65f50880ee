/**
 * A small client for etcd v3, based on the HTTP/2 implementation in net/http2:
 * - client.ts creates the services from the options.
 * - kv.ts, watch.ts, lease.ts, maintenance.ts, cluster.ts and auth.ts each implement one service
 *   of etcd.
 * - codec/ encodes and decodes the messages of these services.
 * - status-error.ts decides which failures leave the outcome of a write unknown.
 *
 * Calls and streams are those of net/grpc; net/grpc/channel.ts lists its files.
 *
 * Revisions and counts are JavaScript numbers; values beyond 2^53 are refused, never rounded. Lease
 * and member IDs are bigints. Returned keys and values are views of received bytes.
 */
import { type Clock, systemClock } from '../../lib/time/clock.ts'
import type { Dial } from '../../lib/net/dial.ts'
import { type Log, silent } from '../../lib/telemetry/log.ts'
import { Auth, type Password, UserToken } from './auth.ts'
import { Channel } from '../../net/grpc/channel.ts'
import { EtcdCluster } from './cluster.ts'
import { Endpoints } from '../../net/grpc/endpoints.ts'
import { Kv } from './kv.ts'
import { EtcdLeases } from './lease.ts'
import { Maintenance } from './maintenance.ts'
import { etcdStatusError } from './status-error.ts'
import type { TlsOptions } from '../../net/grpc/tls.ts'
import { VersionCheck } from './version.ts'
import { Watches } from './watch.ts'

export type EtcdOptions = {
  /** URLs with http:// or https://. The first one is preferred. */
  readonly endpoints: readonly string[]
  readonly tls?: TlsOptions | undefined
  /** Opens connections to the endpoints. If undefined, connections are direct. */
  readonly dial?: Dial | undefined
  readonly user?: string | undefined
  /**
   * The password, or a function that returns it. The function is called for each new token, so that
   * a changed password is used.
   */
  readonly password?: Password | undefined
  /** Default timeout of a call. */
  readonly timeoutMs?: number | undefined
  readonly clock?: Clock | undefined
  readonly log?: Log | undefined
  /**
   * First stream ID of each connection, for tests. Normally, the last ID is reached only after a
   * billion calls.
   */
  readonly firstStreamId?: number | undefined
}

/**
 * Default timeout of a call. It is longer than etcd's own limit for a proposal (about 7 s). Thus a
 * slow call fails with etcd's error and not with the client's timeout.
 */
const CALL_TIMEOUT_MS = 10_000

export class EtcdClient implements AsyncDisposable {
  readonly kv: Kv
  readonly watch: Watches
  readonly lease: EtcdLeases
  readonly maintenance: Maintenance
  readonly cluster: EtcdCluster
  readonly auth: Auth
  readonly #endpoints: Endpoints

  /** Connects when the first call is made. */
  constructor(options: EtcdOptions) {
    const {
      clock = systemClock,
      log = silent,
      timeoutMs = CALL_TIMEOUT_MS,
      tls,
      dial,
      firstStreamId,
    } = options
    this.#endpoints = new Endpoints({
      urls: options.endpoints,
      tls,
      dial,
      clock,
      log,
      statusError: etcdStatusError,
      firstStreamId,
    })
    const channel = new Channel({
      endpoints: this.#endpoints,
      clock,
      timeoutMs,
      connectionCheck: new VersionCheck(),
    })
    this.kv = new Kv(channel)
    this.watch = new Watches(channel)
    this.lease = new EtcdLeases(channel, { timeoutMs, clock })
    this.maintenance = new Maintenance(channel)
    this.cluster = new EtcdCluster(channel)
    this.auth = new Auth(channel)
    if (options.user !== undefined) {
      channel.authenticateWith(new UserToken(this.auth, options.user, options.password ?? ''))
    }
  }

  /**
   * Makes new calls use new connections, which read the certificate files again. Running calls and
   * streams finish on the old connections.
   */
  reload(): void {
    this.#endpoints.reload()
  }

  /** Ends all calls and streams. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#endpoints.close()
    return Promise.resolve()
  }
}

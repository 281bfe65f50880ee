/**
 * A thin client for etcd v3, on our own HTTP/2.
 *
 * client.ts       this file: options in, services out kv.ts …         one file per service of etcd:
 * kv, watch, lease, maintenance, cluster, auth codec/          the messages of these services
 * status-error.ts which failures leave a write in doubt, as etcd's messages say
 *
 * Calls and streams are those of net/grpc; net/grpc/channel.ts lists its files.
 *
 * Revisions and counts are JavaScript numbers (beyond 2^53 they are refused, never rounded), leases
 * and member ids are bigints. Keys and values that come out are borrowed views of received bytes.
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
  /** http:// or https:// URLs; the first is preferred. */
  readonly endpoints: readonly string[]
  readonly tls?: TlsOptions | undefined
  /** Undefined: the endpoints are connected to straight. */
  readonly dial?: Dial | undefined
  readonly user?: string | undefined
  /** A function is called for each new token, so that a renewed password is used. */
  readonly password?: Password | undefined
  /** The deadline of a call that names none. */
  readonly timeoutMs?: number | undefined
  readonly clock?: Clock | undefined
  readonly log?: Log | undefined
  /** The first stream ID of each connection, for tests: the last one is a billion calls away. */
  readonly firstStreamId?: number | undefined
}

/**
 * Longer than etcd's own limit for a proposal (about 7 s), so that a slow call fails with etcd's
 * answer rather than by our timeout.
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
   * New calls use new connections, which read the certificate files again. Running calls and
   * streams end on the old ones.
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

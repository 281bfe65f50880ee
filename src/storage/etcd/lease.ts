/** etcd's Lease service. When a lease expires, etcd deletes the keys attached to it. */
import type { Clock } from '../../lib/time/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { CallOptions, Channel, Method } from '../../net/grpc/channel.ts'
import { readHeaderOnly } from './codec/header.ts'
import {
  encodeLeaseGrant,
  encodeLeaseId,
  encodeLeaseTimeToLive,
  type Lease,
  type LeaseStatus,
  readLease,
  readLeaseStatus,
} from './codec/lease.ts'
import { WireReader } from '../../net/grpc/codec/reader.ts'
import { GrpcError } from '../../net/grpc/errors.ts'

export type KeepAliveHandler = {
  readonly onRenewed?: (ttlSeconds: number) => void
  /**
   * Called if the lease no longer exists or could not be renewed before it expired. Called at most
   * once, and not after stop().
   */
  readonly onLost: (error: GrpcError) => void
}

export type KeepAlive = { readonly stop: () => void }

/** Number of renewals within a time to live. It allows two failed attempts in a row. */
const RENEWALS_PER_TTL = 3

export class EtcdLeases {
  readonly #channel: Pick<Channel, 'stream' | 'unary'>
  readonly #timeoutMs: number
  readonly #clock: Clock

  constructor(
    channel: Pick<Channel, 'stream' | 'unary'>,
    options: { readonly timeoutMs: number; readonly clock: Clock },
  ) {
    this.#channel = channel
    this.#timeoutMs = options.timeoutMs
    this.#clock = options.clock
  }

  /** Grants a lease. etcd chooses its ID unless one is given. */
  grant(
    request: { readonly ttlSeconds: number; readonly id?: bigint },
    call?: CallOptions,
  ): Promise<Lease> {
    return this.#channel.unary(grant, encodeLeaseGrant(request.ttlSeconds, request.id), call)
  }

  revoke(id: bigint, call?: CallOptions): Promise<{ readonly revision: number }> {
    return this.#channel.unary(revoke, encodeLeaseId(id), call)
  }

  timeToLive(
    id: bigint,
    options: { readonly keys?: boolean } = {},
    call?: CallOptions,
  ): Promise<LeaseStatus> {
    return this.#channel.unary(timeToLive, encodeLeaseTimeToLive(id, options.keys ?? false), call)
  }

  /** Renews a lease once. Rejects with NotFound if the lease does not exist. */
  keepAliveOnce(id: bigint, call: CallOptions = {}): Promise<Lease> {
    const { signal, timeoutMs = this.#timeoutMs } = call
    return new Promise((resolve, reject) => {
      const stream = this.#channel.stream({
        path: '/etcdserverpb.Lease/LeaseKeepAlive',
        requireLeader: true,
        onMessage: (message) => settle(() => answer(message)),
        onEnd: (error) =>
          settle(() =>
            reject(error ?? new GrpcError('Unavailable', 'the stream ended unanswered')),
          ),
      })
      const answer = (message: Buffer): void => {
        try {
          const lease = readLease(new WireReader(message))
          if (lease.ttlSeconds > 0) resolve(lease)
          else reject(new GrpcError('NotFound', 'etcdserver: requested lease not found'))
        } catch (cause) {
          reject(
            new GrpcError('Internal', `unreadable answer: ${messageOf(cause)}`, {
              ambiguous: true,
              cause,
            }),
          )
        }
      }
      let isSettled = false
      const settle = (act: () => void): void => {
        if (isSettled) return
        isSettled = true
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        stream.close()
        act()
      }
      const onAbort = (): void =>
        settle(() =>
          reject(new GrpcError('Cancelled', 'the caller cancelled', { cause: signal?.reason })),
        )
      const timer = setTimeout(() => {
        settle(() =>
          reject(
            new GrpcError('DeadlineExceeded', `no answer within ${timeoutMs} ms`, {
              ambiguous: true,
            }),
          ),
        )
      }, timeoutMs)
      if (signal?.aborted === true) return onAbort()
      signal?.addEventListener('abort', onAbort)
      stream.send(encodeLeaseId(id))
    })
  }

  /** Keeps a lease alive until it is stopped or lost. */
  keepAlive(lease: Lease, handler: KeepAliveHandler): KeepAlive {
    return new KeepAliveLoop(this, this.#clock, lease, handler)
  }
}

class KeepAliveLoop implements KeepAlive {
  readonly #leases: EtcdLeases
  readonly #clock: Clock
  readonly #id: bigint
  readonly #handler: KeepAliveHandler
  readonly #stopped = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #ttlMs: number
  #renewedMs: number

  constructor(leases: EtcdLeases, clock: Clock, lease: Lease, handler: KeepAliveHandler) {
    this.#leases = leases
    this.#clock = clock
    this.#renewedMs = clock.monotonicMs()
    this.#id = lease.id
    this.#handler = handler
    this.#ttlMs = lease.ttlSeconds * 1000
    this.#schedule()
  }

  stop(): void {
    this.#stopped.abort()
    clearTimeout(this.#timer)
  }

  #schedule(): void {
    this.#timer = setTimeout(() => void this.#renew(), this.#ttlMs / RENEWALS_PER_TTL)
  }

  async #renew(): Promise<void> {
    // Count the time to live from the moment of the request, because the response may arrive much
    // later.
    const sentMs = this.#clock.monotonicMs()
    try {
      const timeoutMs = this.#ttlMs / RENEWALS_PER_TTL
      const lease = await this.#leases.keepAliveOnce(this.#id, {
        signal: this.#stopped.signal,
        timeoutMs,
      })
      this.#ttlMs = lease.ttlSeconds * 1000
      this.#renewedMs = sentMs
      this.#handler.onRenewed?.(lease.ttlSeconds)
    } catch (error) {
      if (this.#stopped.signal.aborted) return
      // Handle all errors here, because this promise is never awaited. After most errors, the next
      // attempt can still renew the lease.
      const reason =
        error instanceof GrpcError
          ? error
          : new GrpcError('Unknown', messageOf(error), { cause: error })
      const isOver = this.#clock.monotonicMs() - this.#renewedMs >= this.#ttlMs
      if (reason.code === 'NotFound' || isOver) return this.#handler.onLost(reason)
    }
    if (!this.#stopped.signal.aborted) this.#schedule()
  }
}

const grant = method('LeaseGrant', readLease)
const revoke = method('LeaseRevoke', readHeaderOnly)
const timeToLive = { ...method('LeaseTimeToLive', readLeaseStatus), isRead: true }

function method<T>(name: string, read: (reader: WireReader) => T): Method<T> {
  return { path: `/etcdserverpb.Lease/${name}`, read, isRead: false, requireLeader: true }
}

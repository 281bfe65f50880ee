/**
 * etcd's Maintenance service. These calls concern the member that responds, and not the cluster.
 */
import type { CallOptions, Channel, Method } from '../../net/grpc/channel.ts'
import { emptyRequest, readHeaderOnly } from './codec/header.ts'
import {
  type Alarm,
  encodeAlarm,
  readAlarms,
  readSnapshotChunk,
  readStatus,
  type MemberStatus,
} from './codec/maintenance.ts'
import { WireReader } from '../../net/grpc/codec/reader.ts'
import { GrpcError } from '../../net/grpc/errors.ts'

/**
 * Timeout of a defragmentation. A member rewrites its whole database file before it responds, which
 * takes several seconds per gigabyte.
 */
const DEFRAGMENT_TIMEOUT_MS = 300_000
/**
 * Maximum number of snapshot chunks that are queued for the reader before etcd is paused. A chunk
 * is 32 KB long.
 */
const SNAPSHOT_CHUNKS_MAX = 64

export class Maintenance {
  readonly #channel: Channel

  constructor(channel: Channel) {
    this.#channel = channel
  }

  status(call?: CallOptions): Promise<MemberStatus> {
    return this.#channel.unary(status, emptyRequest(), call)
  }

  async defragment(call: CallOptions = {}): Promise<void> {
    await this.#channel.unary(defragment, emptyRequest(), {
      timeoutMs: DEFRAGMENT_TIMEOUT_MS,
      ...call,
    })
  }

  alarms(call?: CallOptions): Promise<readonly Alarm[]> {
    return this.#channel.unary(alarm, encodeAlarm('get', { memberId: 0n, alarm: 'none' }), call)
  }

  /**
   * Deactivates an alarm and returns the deactivated alarms. Member ID 0n with 'none' denotes all
   * alarms of all members.
   */
  deactivateAlarm(which: Alarm, call?: CallOptions): Promise<readonly Alarm[]> {
    return this.#channel.unary(alarm, encodeAlarm('deactivate', which), call)
  }

  /**
   * Yields the member's database file, followed by its SHA-256 (32 bytes). A chunk is valid until
   * the next one is requested. Reading is slowed down to the speed of the reader, and leaving the
   * loop ends the call.
   */
  async *snapshot(
    options: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<Buffer, void, void> {
    const chunks: Buffer[] = []
    let end: { readonly error: GrpcError | undefined } | undefined
    let wake: (() => void) | undefined
    const stream = this.#channel.stream({
      path: '/etcdserverpb.Maintenance/Snapshot',
      requireLeader: false,
      onMessage: (message) => {
        chunks.push(readSnapshotChunk(new WireReader(message)).blob)
        if (chunks.length >= SNAPSHOT_CHUNKS_MAX) stream.pause()
        wake?.()
      },
      onEnd: (error) => {
        end = { error }
        wake?.()
      },
    })
    const onAbort = (): void => {
      end = {
        error: new GrpcError('Cancelled', 'the caller cancelled', {
          cause: options.signal?.reason,
        }),
      }
      wake?.()
    }
    options.signal?.addEventListener('abort', onAbort)
    try {
      if (options.signal?.aborted === true) onAbort()
      else {
        stream.send(emptyRequest())
        stream.finish()
      }
      for (;;) {
        const chunk = chunks.shift()
        if (chunk !== undefined) yield chunk
        else if (end?.error !== undefined) throw end.error
        else if (end !== undefined) return
        else {
          stream.resume()
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    } finally {
      options.signal?.removeEventListener('abort', onAbort)
      stream.close()
    }
  }
}

const status = method('Status', readStatus, { isRead: true })
const defragment = method('Defragment', readHeaderOnly)
const alarm = method('Alarm', readAlarms)

function method<T>(
  name: string,
  read: (reader: WireReader) => T,
  { isRead = false } = {},
): Method<T> {
  return { path: `/etcdserverpb.Maintenance/${name}`, read, isRead, requireLeader: false }
}

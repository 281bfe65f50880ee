/**
 * Compacts etcd's history, so that it does not grow without limit. All servers of one etcd,
 * including kube-apiserver, use a marker key to agree which of them compacts. At each interval, the
 * first server that increments the version of the marker compacts to the revision that it recorded
 * one interval ago. The other servers read the new version. History is therefore retained for one
 * to two intervals.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { EtcdClient } from './etcd/client.ts'
import { GrpcError } from '../net/grpc/errors.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { TIMER_MS_MAX } from '../lib/time/timers.ts'
import { compactionMarker, toBytes } from './keys.ts'

/** kube-apiserver's default for --etcd-compaction-interval. */
const COMPACTION_INTERVAL_MS = 5 * 60 * 1000

const markerKey = toBytes(compactionMarker)

export type CompactorOptions = {
  readonly client: EtcdClient
  readonly log: Log
  /** Interval between compactions. 0 disables them. */
  readonly intervalMs?: number
}

export class Compactor implements AsyncDisposable {
  readonly #client: EtcdClient
  readonly #log: Log
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  /** The last known version of the marker key, with which servers agree which of them compacts. */
  #version = 0
  /**
   * The revision of etcd when the version of the marker was last read. 0 before the first interval.
   */
  #recorded = 0

  constructor({ client, log, intervalMs = COMPACTION_INTERVAL_MS }: CompactorOptions) {
    this.#client = client
    this.#log = log
    this.#running = intervalMs === 0 ? Promise.resolve() : this.#run(intervalMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(intervalMs: number): Promise<void> {
    const { signal } = this.#stopping
    for (;;) {
      await sleep(Math.min(intervalMs, TIMER_MS_MAX), undefined, { signal, ref: false }).catch(
        () => undefined,
      )
      if (signal.aborted) return
      try {
        await this.#compactOnce()
      } catch (error) {
        if (signal.aborted) return
        this.#log('warn', 'compaction failed; retrying at the next interval', {
          error: String(error),
        })
      }
    }
  }

  async #compactOnce(): Promise<void> {
    const call = { signal: this.#stopping.signal }
    const { revision, succeeded, responses } = await this.#client.kv.txn(
      {
        compare: [{ key: markerKey, target: 'version', result: '=', value: this.#version }],
        success: [{ type: 'put', key: markerKey, value: Buffer.from(String(this.#recorded)) }],
        failure: [{ type: 'range', key: markerKey }],
      },
      call,
    )
    if (!succeeded) {
      const [answer] = responses
      this.#version = (answer?.type === 'range' ? answer.kvs[0]?.version : undefined) ?? 0
      this.#recorded = revision
      return
    }
    this.#version++
    if (this.#recorded > 0) await this.#compact(this.#recorded)
    this.#recorded = revision
  }

  async #compact(revision: number): Promise<void> {
    try {
      await this.#client.kv.compact({ revision }, { signal: this.#stopping.signal })
      this.#log('debug', 'compacted', { revision })
    } catch (error) {
      // This error is ignored, because it means that another client, such as an operator, has
      // already compacted to a later revision.
      if (!(error instanceof GrpcError && error.code === 'OutOfRange')) throw error
    }
  }
}

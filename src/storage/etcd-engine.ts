/** The engine for etcd. Each call is one request, and an event feed is one watch stream. */
import type { EtcdClient } from './etcd/client.ts'
import type { Compare } from './etcd/codec/kv-request.ts'
import type {
  CallOptions,
  ConditionalWrite,
  Engine,
  FeedStreamOptions,
  FeedRange,
  FeedListener,
  FeedStream,
  RangeResult,
  Key,
  Outcome,
  RangeQuery,
  Revision,
} from './engine.ts'
import { toStorageError } from './etcd-errors.ts'
import { EtcdFeedStream, toVersioned } from './etcd-feed-stream.ts'
import { keyAfter, toBytes } from './keys.ts'

export type EtcdEngineOptions = {
  /**
   * A key that never exists, for reads that need only the revision. etcd's access control must
   * allow this server to read it.
   */
  readonly emptyKey: Key
}

export class EtcdEngine implements Engine {
  readonly #client: EtcdClient
  readonly #emptyKey: Buffer
  databaseId: string | undefined

  /** Takes ownership of the client, which is closed when the engine is disposed of. */
  constructor(client: EtcdClient, options: EtcdEngineOptions = { emptyKey: '\0' }) {
    this.#client = client
    this.#emptyKey = toBytes(options.emptyKey)
  }

  async range(query: RangeQuery, options: CallOptions = {}): Promise<RangeResult> {
    try {
      const { revision, kvs, more, count } = await this.#client.kv.range(
        {
          key: toBytes(query.from),
          // etcd reads a single key faster than a range that contains only one key.
          rangeEnd: query.to === keyAfter(query.from) ? undefined : toBytes(query.to),
          revision: query.revision,
          limit: query.limit,
          keysOnly: query.keysOnly,
          countOnly: query.countOnly,
        },
        options,
      )
      return { revision: query.revision ?? revision, values: kvs.map(toVersioned), more, count }
    } catch (error) {
      throw toStorageError(error, { isWrite: false, signal: options.signal })
    }
  }

  async change(
    { key, expected, unchanged = [], write }: ConditionalWrite,
    options: CallOptions = {},
  ): Promise<Outcome> {
    const bytes = toBytes(key)
    try {
      const { revision, succeeded, responses } = await this.#client.kv.txn(
        {
          compare: [
            compareRevision(bytes, expected),
            ...unchanged.map((other) => compareRevision(toBytes(other.key), other.revision)),
          ],
          success: [
            write === 'delete'
              ? { type: 'delete', key: bytes }
              : { type: 'put', key: bytes, value: write.put, lease: write.lease },
          ],
          failure: [{ type: 'range', key: bytes }],
        },
        options,
      )
      if (succeeded) return { won: true, revision }
      const [answer] = responses
      const kv = answer?.type === 'range' ? answer.kvs[0] : undefined
      return { won: false, revision, current: kv && toVersioned(kv) }
    } catch (error) {
      throw toStorageError(error, { isWrite: true, signal: options.signal })
    }
  }

  async latest(options: CallOptions = {}): Promise<Revision> {
    try {
      const { revision, clusterId } = await this.#client.kv.head(this.#emptyKey, options)
      this.databaseId = String(clusterId)
      return revision
    } catch (error) {
      throw toStorageError(error, { isWrite: false, signal: options.signal })
    }
  }

  openFeed(
    ranges: readonly FeedRange[],
    sink: FeedListener,
    options: FeedStreamOptions = {},
  ): FeedStream {
    return new EtcdFeedStream(this.#client, { ranges, sink, ...options })
  }

  async grantLease(ttlSeconds: number, options: CallOptions = {}): Promise<bigint> {
    try {
      const { id } = await this.#client.lease.grant({ ttlSeconds }, options)
      return id
    } catch (error) {
      // If a lease was granted but the response was lost, the lease has no keys and expires by
      // itself. Therefore the caller can treat the failure like that of a read.
      throw toStorageError(error, { isWrite: false, signal: options.signal })
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#client[Symbol.asyncDispose]()
  }
}

const compareRevision = (key: Buffer, revision: Revision): Compare => ({
  key,
  target: 'mod',
  result: '=',
  value: revision,
})

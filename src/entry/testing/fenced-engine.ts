/**
 * Wraps an engine so that an operation cannot write if an earlier state was restored after the
 * operation began.
 */
import type { Restores } from '../../lib/concurrency/restores.ts'
import type {
  CallOptions,
  ConditionalWrite,
  Engine,
  FeedStreamOptions,
  FeedRange,
  FeedListener,
  FeedStream,
  RangeResult,
  Outcome,
  RangeQuery,
  Revision,
} from '../../storage/engine.ts'
import { StorageError } from '../../storage/errors.ts'

export class FencedEngine implements Engine {
  readonly #engine: Engine
  readonly #restores: Restores

  constructor(engine: Engine, restores: Restores) {
    this.#engine = engine
    this.#restores = restores
  }

  async change(change: ConditionalWrite, options?: CallOptions): Promise<Outcome> {
    if (this.#restores.isOutdated) {
      throw new StorageError(
        'unavailable',
        'the cluster was restored to another state since this was decided',
      )
    }
    return this.#engine.change(change, options)
  }

  range(query: RangeQuery, options?: CallOptions): Promise<RangeResult> {
    return this.#engine.range(query, options)
  }

  latest(options?: CallOptions): Promise<Revision> {
    return this.#engine.latest(options)
  }

  openFeed(
    ranges: readonly FeedRange[],
    sink: FeedListener,
    options?: FeedStreamOptions,
  ): FeedStream {
    return this.#engine.openFeed(ranges, sink, options)
  }

  grantLease(ttlSeconds: number, options?: CallOptions): Promise<bigint> {
    return this.#engine.grantLease(ttlSeconds, options)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine[Symbol.asyncDispose]()
  }
}

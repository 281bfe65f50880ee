/**
 * Wraps an engine and measures its requests and their latency. The metrics have kube-apiserver's
 * names.
 */
import { RequestTimings } from '../api/spent.ts'
import type { Count, Counter, Distribution, Histogram, Metrics } from '../lib/telemetry/metrics.ts'
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

const secondsBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45,
  60,
]

type Operation =
  | 'get'
  | 'list'
  | 'listWithCount'
  | 'create'
  | 'update'
  | 'delete'
  | 'latest'
  | 'grantLease'

type Series = {
  readonly labels: readonly string[]
  readonly seconds: Distribution
  readonly total: Count
  /** Whether the metrics were removed. A request that fails after that adds no metrics. */
  isRemoved: boolean
}
type OfResource = Map<Operation, Series>

/** The labels of the metrics, which identify the operation and the resource. */
export type RequestLabels = {
  readonly names: readonly string[]
  /** Returns the values for a key, which is relative to the root. */
  readonly of: (path: string, operation: string) => readonly string[]
}

export class MeasuredEngine implements Engine {
  readonly #engine: Engine
  readonly #root: Key
  readonly #requestLabels: RequestLabels
  readonly #monotonicMs: () => number
  readonly #seconds: Histogram
  readonly #total: Counter
  readonly #errors: Counter
  readonly #resources = new Map<string, OfResource>()
  #isServed: (path: string) => boolean = () => true

  /** `root` is the prefix of all keys. The following path segments identify the resource. */
  constructor(
    engine: Engine,
    {
      root,
      metrics,
      requestLabels,
      monotonicMs,
      sharesMetricsOf,
    }: {
      readonly root: Key
      readonly metrics: Metrics
      readonly requestLabels: RequestLabels
      readonly monotonicMs: () => number
      /** Another engine whose requests are counted in the same metrics. */
      readonly sharesMetricsOf?: MeasuredEngine | undefined
    },
  ) {
    this.#engine = engine
    this.#root = root
    this.#requestLabels = requestLabels
    this.#monotonicMs = monotonicMs
    if (sharesMetricsOf !== undefined) {
      this.#seconds = sharesMetricsOf.#seconds
      this.#total = sharesMetricsOf.#total
      this.#errors = sharesMetricsOf.#errors
      return
    }
    const labels = requestLabels.names
    const seconds = {
      name: 'etcd_request_duration_seconds',
      help: 'Latency of etcd requests in seconds.',
      labels,
    }
    this.#seconds = metrics.histogram(seconds, secondsBounds)
    this.#total = metrics.counter({
      name: 'etcd_requests_total',
      help: 'Number of etcd requests.',
      labels,
    })
    this.#errors = metrics.counter({
      name: 'etcd_request_errors_total',
      help: 'Number of failed etcd requests.',
      labels,
    })
  }

  get databaseId(): string | undefined {
    return this.#engine.databaseId
  }

  range(query: RangeQuery, options?: CallOptions): Promise<RangeResult> {
    const isOne = query.to === `${query.from}\0`
    const operation = isOne ? 'get' : query.countOnly ? 'listWithCount' : 'list'
    return this.#measure(operation, query.from, this.#engine.range(query, options), options?.signal)
  }

  change(change: ConditionalWrite, options?: CallOptions): Promise<Outcome> {
    const operation =
      change.write === 'delete' ? 'delete' : change.expected === 0 ? 'create' : 'update'
    return this.#measure(
      operation,
      change.key,
      this.#engine.change(change, options),
      options?.signal,
    )
  }

  latest(options?: CallOptions): Promise<Revision> {
    return this.#measure('latest', this.#root, this.#engine.latest(options))
  }

  grantLease(ttlSeconds: number, options?: CallOptions): Promise<bigint> {
    return this.#measure('grantLease', this.#root, this.#engine.grantLease(ttlSeconds, options))
  }

  openFeed(
    ranges: readonly FeedRange[],
    sink: FeedListener,
    options?: FeedStreamOptions,
  ): FeedStream {
    return this.#engine.openFeed(ranges, sink, options)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#engine[Symbol.asyncDispose]())
  }

  /**
   * Creates no metrics for paths for which `isServed` returns false. A path is a key relative to
   * the root. Requests that the server received before the end of their resource would otherwise
   * add metrics that nothing removes.
   */
  measureOnly(isServed: (path: string) => boolean): void {
    this.#isServed = isServed
  }

  /**
   * Removes the metrics of this key, because nothing is stored below it any more. Metrics that also
   * count requests for one of the `kept` keys remain.
   */
  forget(key: Key, kept: readonly Key[]): void {
    const resource = this.#resourceOf(key)
    const ofResource = this.#resources.get(resource)
    if (ofResource === undefined || kept.some((other) => this.#resourceOf(other) === resource))
      return
    for (const series of ofResource.values()) {
      series.isRemoved = true
      for (const metric of [this.#seconds, this.#total, this.#errors])
        metric.remove(...series.labels)
    }
    this.#resources.delete(resource)
  }

  async #measure<T>(
    operation: Operation,
    key: Key,
    answer: Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const startMs = this.#monotonicMs()
    const series = this.#seriesOf(operation, key)
    if (series !== undefined) series.total.value++
    try {
      return await answer
    } catch (error) {
      if (series?.isRemoved === false) this.#errors.with(...series.labels).value++
      throw error
    } finally {
      const ms = this.#monotonicMs() - startMs
      series?.seconds.observe(ms / 1000)
      const spent = signal && RequestTimings.of(signal)
      if (spent !== undefined) spent.storageMs += ms
    }
  }

  /** Returns undefined if the request is not counted. */
  #seriesOf(operation: Operation, key: Key): Series | undefined {
    const resource = this.#resourceOf(key)
    const ofResource = this.#resources.get(resource)
    const known = ofResource?.get(operation)
    if (known !== undefined) return known
    const path = this.#pathOf(key)
    if (!this.#isServed(path)) return undefined
    const labels = this.#requestLabels.of(path, operation)
    const made = {
      labels,
      seconds: this.#seconds.with(...labels),
      total: this.#total.with(...labels),
      isRemoved: false,
    }
    if (ofResource === undefined) this.#resources.set(resource, new Map([[operation, made]]))
    else ofResource.set(operation, made)
    return made
  }

  #resourceOf(key: Key): string {
    return this.#requestLabels.of(this.#pathOf(key), '').join('/')
  }

  #pathOf(key: Key): string {
    return key.slice(this.#root.length)
  }
}

/** Wraps an engine: what a traced request asks of etcd becomes spans, with upstream's names. */
import type { AsyncLocalStorage } from 'node:async_hooks'
import type { Span, SpanAttributes } from '../api/span.ts'
import type {
  CallOptions,
  ConditionalWrite,
  Engine,
  FeedOptions,
  FeedRange,
  FeedSink,
  FeedStream,
  Found,
  Key,
  Outcome,
  RangeQuery,
  Revision,
} from '../storage/engine.ts'

/** The span of the request that is being handled, in everything that is called for it. */
export type CurrentSpan = AsyncLocalStorage<Span>

export class TracedEngine implements Engine {
  readonly #engine: Engine
  readonly #current: CurrentSpan

  constructor(engine: Engine, current: CurrentSpan) {
    this.#engine = engine
    this.#current = current
  }

  get databaseId(): string | undefined {
    return this.#engine.databaseId
  }

  range(query: RangeQuery, options?: CallOptions): Promise<Found> {
    const span = this.#current.getStore()
    if (span === undefined) return this.#engine.range(query, options)
    const call = (inner: Span): Promise<Found> =>
      rpc(inner, 'Range', (more) => this.#engine.range(query, { ...options, ...more }))
    if (query.to === `${query.from}\0`) return call(span)
    const attributes = { key: query.from, limit: query.limit ?? 0 }
    return within(span, 'List(recursive=true) etcd3', attributes, call)
  }

  change(change: ConditionalWrite, options?: CallOptions): Promise<Outcome> {
    const span = this.#current.getStore()
    if (span === undefined) return this.#engine.change(change, options)
    const name =
      change.write === 'delete' ? 'Delete etcd3' : change.expected === 0 ? 'Create etcd3' : 'GuaranteedUpdate etcd3'
    return within(span, name, { key: change.key, resource: resourceOf(change.key) }, (inner) =>
      rpc(inner, 'Txn', (more) => this.#engine.change(change, { ...options, ...more })),
    )
  }

  latest(options?: CallOptions): Promise<Revision> {
    const span = this.#current.getStore()
    if (span === undefined) return this.#engine.latest(options)
    return rpc(span, 'Range', (more) => this.#engine.latest({ ...options, ...more }))
  }

  grantLease(ttlSeconds: number, options?: CallOptions): Promise<bigint> {
    return this.#engine.grantLease(ttlSeconds, options)
  }

  openFeed(ranges: readonly FeedRange[], sink: FeedSink, options?: FeedOptions): FeedStream {
    // It outlives the request that was the first to need it.
    return this.#current.exit(() => this.#engine.openFeed(ranges, sink, options))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#engine[Symbol.asyncDispose]())
  }
}

async function within<T>(
  parent: Span,
  name: string,
  attributes: SpanAttributes,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const span = parent.child(name, { attributes })
  try {
    const result = await work(span)
    span.end()
    return result
  } catch (error) {
    span.end({ error: String(error) })
    throw error
  }
}

/** A call of etcd itself, which may have spans of its own below it. */
async function rpc<T>(
  parent: Span,
  method: string,
  call: (options: Pick<CallOptions, 'headers'>) => Promise<T>,
): Promise<T> {
  const service = 'etcdserverpb.KV'
  const attributes = { 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': method }
  const span = parent.child(`${service}/${method}`, { kind: 'client', attributes })
  try {
    const result = await call({ headers: span.headers })
    span.set({ 'rpc.grpc.status_code': 0 })
    span.end()
    return result
  } catch (error) {
    span.end({ error: String(error) })
    throw error
  }
}

/** The part of a key that names its resource: /registry/pods/default/a. */
const resourceOf = (key: Key): string => key.split('/')[2] ?? ''

/**
 * Wraps an engine so that the etcd calls of a traced request become spans, with kube-apiserver's
 * span names.
 */
import type { AsyncLocalStorage } from 'node:async_hooks'
import { type Span, within } from '../../api/span.ts'
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
} from '../../storage/engine.ts'
import { resourceOfFolder } from '../../storage/keys.ts'

/** Provides the span of the current request to all code that runs on behalf of the request. */
export type CurrentSpan = AsyncLocalStorage<Span>

export class TracedEngine implements Engine {
  readonly #engine: Engine
  readonly #current: CurrentSpan
  readonly #root: Key

  /**
   * Wraps an engine. `root` is the prefix of all keys. As in kube-apiserver, the keys in spans do
   * not contain this prefix.
   */
  constructor(
    engine: Engine,
    { current, root }: { readonly current: CurrentSpan; readonly root: Key },
  ) {
    this.#engine = engine
    this.#current = current
    this.#root = root
  }

  get databaseId(): string | undefined {
    return this.#engine.databaseId
  }

  range(query: RangeQuery, options?: CallOptions): Promise<RangeResult> {
    const span = this.#current.getStore()
    if (span === undefined) return this.#engine.range(query, options)
    const call = (inner: Span): Promise<RangeResult> =>
      rpc(inner, 'Range', (more) => this.#engine.range(query, { ...options, ...more }))
    if (query.to === `${query.from}\0`) return call(span)
    const attributes = { key: this.#shown(query.from), limit: query.limit ?? 0 }
    const list = span.child('List(recursive=true) etcd3', { attributes })
    return within(list, () => call(list))
  }

  change(change: ConditionalWrite, options?: CallOptions): Promise<Outcome> {
    const span = this.#current.getStore()
    if (span === undefined) return this.#engine.change(change, options)
    const call = (inner: Span): Promise<Outcome> =>
      rpc(inner, 'Txn', (more) => this.#engine.change(change, { ...options, ...more }))
    // As in kube-apiserver, a deletion has only one span, for the etcd call.
    if (change.write === 'delete') return call(span)
    const key = this.#shown(change.key)
    const name = change.expected === 0 ? 'Create etcd3' : 'GuaranteedUpdate etcd3'
    const stored = span.child(name, { attributes: { key, resource: resourceOf(key) } })
    return within(stored, () => call(stored))
  }

  #shown(key: Key): string {
    return key.startsWith(this.#root) ? key.slice(this.#root.length - 1) : key
  }

  latest(options?: CallOptions): Promise<Revision> {
    const span = this.#current.getStore()
    if (span === undefined) return this.#engine.latest(options)
    return rpc(span, 'Range', (more) => this.#engine.latest({ ...options, ...more }))
  }

  grantLease(ttlSeconds: number, options?: CallOptions): Promise<bigint> {
    return this.#engine.grantLease(ttlSeconds, options)
  }

  openFeed(
    ranges: readonly FeedRange[],
    sink: FeedListener,
    options?: FeedStreamOptions,
  ): FeedStream {
    // The stream of changes from etcd is open longer than the request that first needed it.
    // Therefore the stream is opened without the span of that request.
    return this.#current.exit(() => this.#engine.openFeed(ranges, sink, options))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#engine[Symbol.asyncDispose]())
  }
}

/** Runs an etcd call in a span. The call can create child spans. */
function rpc<T>(
  parent: Span,
  method: string,
  call: (options: Pick<CallOptions, 'headers'>) => Promise<T>,
): Promise<T> {
  const service = 'etcdserverpb.KV'
  const attributes = { 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': method }
  const span = parent.child(`${service}/${method}`, { kind: 'client', attributes })
  return within(span, async () => {
    const result = await call({ headers: span.headers })
    span.set({ 'rpc.grpc.status_code': 0 })
    return result
  })
}

/**
 * Returns the resource of a key from which the root prefix was removed, such as /pods/default/a.
 */
const resourceOf = (key: string): string => resourceOfFolder(key.split('/')[1] ?? '')

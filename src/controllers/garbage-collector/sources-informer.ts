/**
 * Keeps the graph current with one watch for each resource. Begins and ends watches when
 * CustomResourceDefinitions or remote servers are added or removed.
 */
import type { Log } from '../../lib/telemetry/log.ts'
import type { Time } from '../../lib/time/timers.ts'
import type { Graph, Key } from './graph.ts'
import type { ObjectsInformer, Source } from './source.ts'
import type { Sources } from './sources.ts'

type SourceSubscription = { readonly identity: object; readonly objects: ObjectsInformer }

export type SourcesInformerOptions = {
  /** Called for each deleted object, after the graph is updated. */
  readonly onGone: (key: Key) => void
  /**
   * Called once per watch, when the graph contains all objects of the resource with this key
   * prefix.
   */
  readonly onListed: (prefix: Key) => void
  readonly log: Log
  readonly time: Time
}

export class SourcesInformer implements AsyncDisposable {
  readonly #graph: Graph
  readonly #options: SourcesInformerOptions
  readonly #subscriptions = new Map<Key, SourceSubscription>()
  /** Resources whose first list is complete, so that `onListed` was called. */
  readonly #listed = new Set<Key>()
  readonly #ending = new Set<Promise<void>>()
  #isStopped = false

  constructor(graph: Graph, options: SourcesInformerOptions) {
    this.#graph = graph
    this.#options = options
  }

  /**
   * Watches these sources and no others. Resolves when all their objects are in the graph, except
   * for those of unreachable remote servers, or when the informer is stopped.
   */
  async follow(sources: Sources): Promise<void> {
    if (this.#isStopped) return
    const all = sources.all()
    for (const [prefix, { identity }] of this.#subscriptions) {
      if (all.get(prefix)?.identity !== identity) this.#end(prefix)
    }
    for (const [prefix, source] of all)
      if (!this.#subscriptions.has(prefix)) this.#begin(prefix, source)
    await Promise.all(Array.from(this.#subscriptions.values(), ({ objects }) => objects.tried))
  }

  /**
   * Whether the graph has contained all objects of this resource at some time since the watch
   * began. If not, `onListed` will be called when it does.
   */
  isListed(prefix: Key): boolean {
    return this.#listed.has(prefix)
  }

  /**
   * Resolves when the graph contains everything that was acknowledged to any client before the
   * call.
   */
  async latest(signal: AbortSignal): Promise<void> {
    await Promise.all(
      Array.from(this.#subscriptions.values(), ({ objects }) => objects.latest(signal)),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    for (const prefix of [...this.#subscriptions.keys()]) this.#end(prefix)
    await Promise.all(this.#ending)
  }

  #begin(prefix: Key, source: Source): void {
    const graph = this.#graph
    const { onGone, onListed, log, time } = this.#options
    const objects = source.follow({
      set: (key, head) => {
        const steps = graph.set(key, head)
        if (head === undefined) onGone(key)
        return steps
      },
      *known() {
        for (const key of graph.keys()) if (key.startsWith(prefix)) yield key
      },
      log,
      time,
    })
    this.#subscriptions.set(prefix, { identity: source.identity, objects })
    void objects.listed.then(() => {
      // `listed` also resolves when the informer is stopped. The objects are then not listed.
      if (this.#subscriptions.get(prefix)?.objects !== objects) return
      this.#listed.add(prefix)
      onListed(prefix)
    })
  }

  #end(prefix: Key): void {
    const one = this.#subscriptions.get(prefix)
    if (one === undefined) return
    this.#subscriptions.delete(prefix)
    this.#listed.delete(prefix)
    const ending = one.objects[Symbol.asyncDispose]().finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }
}

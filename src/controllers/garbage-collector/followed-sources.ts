/** Keeps the graph current by watches of the cache, one for each resource. Resources come and go with their definitions. */
import { FollowedResource } from '../../cache/followed-resource.ts'
import type { Log } from '../../lib/log.ts'
import type { Time } from '../../lib/timers.ts'
import { headOf, type ObjectHead } from '../object-head.ts'
import type { Graph, Key } from './graph.ts'
import type { Source, Sources } from './sources.ts'

type Followed = {
  readonly reader: Source['reader']
  readonly followed: FollowedResource<ObjectHead>
  readonly started: Promise<void>
}

export type FollowedSourcesParts = {
  /** Is told of each object that is deleted, after the graph. */
  readonly onGone: (key: Key) => void
  /** All objects of the resource with this prefix are in the graph, for the first time since it is followed. */
  readonly onListed: (prefix: Key) => void
  readonly log: Log
  readonly time: Time
}

export class FollowedSources implements AsyncDisposable {
  readonly #graph: Graph
  readonly #parts: FollowedSourcesParts
  readonly #followed = new Map<Key, Followed>()
  /** Those whose first list has ended: `onListed` was called. */
  readonly #listed = new Set<Key>()
  readonly #ending = new Set<Promise<void>>()
  #isStopped = false

  constructor(graph: Graph, parts: FollowedSourcesParts) {
    this.#graph = graph
    this.#parts = parts
  }

  /** Follows these and no others. Resolves when all their objects are in the graph, or when it is stopped. */
  async follow(sources: Sources): Promise<void> {
    if (this.#isStopped) return
    const all = sources.all()
    for (const [prefix, { reader }] of this.#followed) {
      const source = all.get(prefix)
      // After a change of the definition the reader is another one.
      if (source?.reader !== reader) this.#end(prefix)
    }
    for (const [prefix, source] of all) if (!this.#followed.has(prefix)) this.#begin(prefix, source)
    await Promise.all(Array.from(this.#followed.values(), ({ started }) => started))
  }

  /** Whether all objects of this resource have been in the graph since it is followed; if not, `onListed` will tell. */
  isListed(prefix: Key): boolean {
    return this.#listed.has(prefix)
  }

  /** Resolves when the graph has everything that was acknowledged to any client before the call. */
  async latest(signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from(this.#followed.values(), ({ followed }) => followed.latest(signal)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    for (const prefix of [...this.#followed.keys()]) this.#end(prefix)
    await Promise.all(this.#ending)
  }

  #begin(prefix: Key, { resource, keys, reader }: Source): void {
    const graph = this.#graph
    const { onGone, onListed, log, time } = this.#parts
    const followed = new FollowedResource<ObjectHead>({
      name: `${resource.plural} of the garbage collector`,
      reader,
      range: keys.range(),
      read: headOf,
      set: (key, head) => {
        graph.set(key, head)
        if (head === undefined) onGone(key)
      },
      // One that cannot be decoded is there, and so are those that it owns.
      unreadable: () => undefined,
      *known() {
        for (const key of graph.keys()) if (key.startsWith(prefix)) yield key
      },
      log,
      time,
    })
    const started = followed.start().then(() => {
      // A stop ends the wait, too.
      if (this.#followed.get(prefix)?.followed !== followed) return
      this.#listed.add(prefix)
      onListed(prefix)
    })
    this.#followed.set(prefix, { reader, followed, started })
  }

  #end(prefix: Key): void {
    const one = this.#followed.get(prefix)
    if (one === undefined) return
    this.#followed.delete(prefix)
    this.#listed.delete(prefix)
    const ending = one.followed[Symbol.asyncDispose]().finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }
}

/**
 * What small controllers share: each object of one resource that concerns them is looked at when it
 * comes and when it changes.
 */
import type { Fields, Json, KubeObject } from '../api/object.ts'
import { request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import type { ApiResponse } from '../api/request.ts'
import { Informer } from '../storage/cache/informer.ts'
import type { Item } from '../storage/cache/item.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { systemTimers, type Timers } from '../lib/time/timers.ts'
import type { Registry } from '../registry/registry.ts'
import type { Resource } from '../registry/resource.ts'
import type { QueueMetrics } from '../lib/telemetry/queue-metrics.ts'
import type { CacheAccess, CacheAccessOf } from './cache-access.ts'
import { objectPath } from './served-resources.ts'
import { WorkQueue } from '../lib/concurrency/work-queue.ts'
import { type Outcome, outcomeOrThrow, requireChange } from './write-outcome.ts'

export type ObjectControllerOptions = {
  readonly handle: Handler
  readonly registry: Registry
  readonly accessOf: CacheAccessOf
  readonly metrics: QueueMetrics
  readonly log: Log
  /** Absent: those of the system. */
  readonly timers?: Timers | undefined
}

export type Concern = {
  /** For the log. */
  readonly name: string
  /** As upstream names the queue. */
  readonly queue: string
  readonly workersMax: number
  readonly group: string
  readonly plural: string
  /** Absent: all namespaces. */
  readonly namespace?: string
  /** By what the cache has of it, which is read without decoding. */
  readonly concerns: (item: Item) => boolean
  /** The object as it is stored now. A number: it is to be looked at again after so many ms. */
  readonly work: (object: KubeObject, write: WriteObject) => Promise<number | undefined>
}

/** Writes one object. One that somebody else has changed meanwhile is looked at again. */
export type WriteObject = {
  /** The object itself, or through a subresource. */
  readonly update: (object: KubeObject, subresource?: string) => Promise<Outcome>
  /** Through a subresource, by a forced server-side apply of this manager. */
  readonly apply: (subresource: string, body: Fields, manager: string) => Promise<Outcome>
  /** On condition of the uid, and of more if it is given. */
  readonly delete: (
    object: KubeObject,
    options?: { readonly [field: string]: Json },
  ) => Promise<Outcome>
}

/** The wait before an object that somebody else has changed is looked at again. */
const CHANGED_MS = 10

export class ObjectController implements AsyncDisposable {
  readonly #concern: Concern
  readonly #options: ObjectControllerOptions
  readonly #stopping = new AbortController()
  readonly #queue: WorkQueue
  readonly #keys = new Set<string>()
  readonly #source: (CacheAccess & { readonly resource: Resource }) | undefined
  readonly #informers: Informer<boolean> | undefined

  constructor(concern: Concern, options: ObjectControllerOptions) {
    const { registry, accessOf, metrics, log, timers = systemTimers } = options
    const { name, queue, workersMax, group, plural, namespace, concerns } = concern
    this.#concern = concern
    this.#options = options
    const measured = { metrics, as: queue }
    this.#queue = new WorkQueue({
      name,
      workersMax,
      work: (key) => this.#work(key),
      log,
      timers,
      measured,
    })
    const resource = registry.find({ group, version: 'v1', plural })
    if (resource === undefined) return
    const { keys, reader } = accessOf(resource)
    this.#source = { resource, keys, reader }
    this.#informers = new Informer<boolean>({
      isBackground: true,
      name: plural,
      reader,
      range: keys.range(namespace),
      read: concerns,
      prepare: async (item, slices) => {
        await item.objectInParts(slices)
        await item.prepare(slices)
      },
      set: (key, isConcerned) => {
        if (isConcerned !== true) {
          this.#keys.delete(key)
          // It may be queued for a time weeks from now.
          this.#queue.drop(key)
        } else {
          this.#keys.add(key)
          this.#queue.add(key)
        }
      },
      known: () => this.#keys,
      log,
    })
    // Never fails.
    void this.#informers.start()
  }

  /** Looks at an object again, if it concerns this controller. */
  again(namespace: string | undefined, name: string): void {
    const key = this.#source?.keys.key(namespace, name)
    if (key !== undefined && this.#keys.has(key)) this.#queue.add(key)
  }

  /** The same for all. */
  allAgain(): void {
    for (const key of this.#keys) this.#queue.add(key)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await Promise.all([
      this.#informers?.[Symbol.asyncDispose](),
      this.#queue[Symbol.asyncDispose](),
    ])
  }

  async #work(key: string): Promise<number | undefined> {
    const source = this.#source
    const object = source && (await (await source.reader.get(key, 'latest')).item?.objectInParts())
    if (source === undefined || object === undefined || !this.#keys.has(key)) return undefined
    const { handle } = this.#options
    const { signal } = this.#stopping
    const { namespace, name = '', uid = '' } = object.metadata
    const path = objectPath(source.resource, namespace, name)
    let hasChanged = false
    const noted = (response: ApiResponse): Outcome => {
      const outcome = outcomeOrThrow(path, response)
      hasChanged ||= outcome === 'changed'
      return outcome
    }
    const againMs = await this.#concern.work(object, {
      update: async (body, subresource) => {
        const at = subresource === undefined ? path : `${path}/${subresource}`
        return noted(await request(handle, { method: 'PUT', path: at, body, signal }))
      },
      apply: async (subresource, body, manager) => {
        const sent = {
          method: 'PATCH',
          path: `${path}/${subresource}`,
          body,
          manager,
          isApply: true,
          signal,
        }
        return noted(await request(handle, sent))
      },
      delete: async (_, options = {}) => {
        const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid }, ...options }
        return noted(await request(handle, { method: 'DELETE', path, body, signal }))
      },
    })
    // It may have gone meanwhile.
    if (!this.#keys.has(key)) return undefined
    if (!hasChanged) return againMs
    const now = (await source.reader.get(key, 'latest')).item
    requireChange(path, object.metadata.resourceVersion, now && String(now.revision))
    return CHANGED_MS
  }
}

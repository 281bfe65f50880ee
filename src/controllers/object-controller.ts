/**
 * The common part of small controllers: processes each relevant object of one resource when it is
 * created and whenever it changes.
 */
import type { Fields, KubeObject } from '../api/object.ts'
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
  /** Timers of the controller. Defaults to the system timers. */
  readonly timers?: Timers | undefined
}

export type Concern = {
  /** A short description of the controller's work, for log messages. */
  readonly name: string
  /** Name of the queue in metrics, as in kube-controller-manager. */
  readonly queue: string
  readonly workersMax: number
  readonly group: string
  readonly plural: string
  /** The namespace to watch. Defaults to all namespaces. */
  readonly namespace?: string
  /**
   * Returns whether the controller has to process an object. Should decode the object only if this
   * is necessary to decide.
   */
  readonly concerns: (item: Item) => boolean
  /**
   * Processes the stored object. If the promise resolves to a number, the object is processed again
   * after this number of milliseconds.
   */
  readonly work: (object: KubeObject, write: WriteObject) => Promise<number | undefined>
}

/**
 * Writes to one object. If another client has changed the object since it was read, the write
 * fails, and the object is processed again.
 */
export type WriteObject = {
  /** Updates the object, or a subresource. */
  readonly update: (object: KubeObject, subresource?: string) => Promise<Outcome>
  /** Updates a subresource by a forced server-side apply with this field manager. */
  readonly apply: (subresource: string, body: Fields, manager: string) => Promise<Outcome>
  /** Deletes the object, unless it has changed. `options` adds fields to the DeleteOptions. */
  readonly delete: (options?: Fields) => Promise<Outcome>
}

/** Delay before an object is processed again because another client has changed it. */
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
          // The object might be queued for a time in the distant future, so remove it from the
          // queue.
          this.#queue.drop(key)
        } else {
          this.#keys.add(key)
          this.#queue.add(key)
        }
      },
      known: () => this.#keys,
      log,
    })
    // The promise returned by `start` never rejects, so it need not be awaited here.
    void this.#informers.start()
  }

  /** Queues an object if it is relevant for this controller. */
  again(namespace: string | undefined, name: string): void {
    const key = this.#source?.keys.key(namespace, name)
    if (key !== undefined && this.#keys.has(key)) this.#queue.add(key)
  }

  /** Queues all relevant objects. */
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
    const { namespace, name = '', uid = '', resourceVersion = '' } = object.metadata
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
      delete: async (options) => {
        const preconditions = { uid, resourceVersion }
        const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions, ...options }
        return noted(await request(handle, { method: 'DELETE', path, body, signal }))
      },
    })
    // If the object was deleted during the work, it must not be queued again.
    if (!this.#keys.has(key)) return undefined
    if (!hasChanged) return againMs
    const now = (await source.reader.get(key, 'latest')).item
    requireChange(path, resourceVersion, now && String(now.revision))
    return CHANGED_MS
  }
}

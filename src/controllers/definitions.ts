/**
 * Serves what CustomResourceDefinitions define: follows them, accepts their names, puts their resources into the registry and takes them
 * out again, and removes the objects of those that go. Each replica follows by itself; who is first to write a status has written it.
 */
import type { KubeObject } from '../api/object.ts'
import type { Item } from '../cache/item.ts'
import type { ObjectReader, WatchOptions } from '../cache/reader.ts'
import { eventsOf } from '../cache/watch.ts'
import type { Log } from '../lib/log.ts'
import { type CustomResource, customResources } from '../registry/custom/custom-resource.ts'
import { type Definition, type Names, readDefinition } from '../registry/custom/definition.ts'
import type { Registry } from '../registry/registry.ts'
import type { Resource } from '../registry/resource.ts'
import { NamesInUse } from './definition-names.ts'
import { type Condition, conditionOf, isTrue, nextStatus, withStatus } from './definition-status.ts'

/** Status writes at once; more would only wait for the database together. */
const WRITES_MAX = 8
/** How often to look whether others have let go of the last objects. */
const CLEANUP_RETRY_MS = 1_000
/** After the watch of definitions was lost. */
const WATCH_RETRY_MS = 200

export type DefinitionsParts = {
  readonly registry: Registry
  readonly reader: ObjectReader
  readonly range: WatchOptions['range']
  /** Changes the status of a definition; undefined leaves it. */
  readonly changeStatus: (name: string, decide: (object: KubeObject) => KubeObject | undefined) => Promise<boolean>
  /** Takes the finalizer away together with the last word on it. */
  readonly release: (name: string, decide: (object: KubeObject) => KubeObject | undefined) => Promise<void>
  /** Deletes all objects; how many are left, since others hold them. */
  readonly deleteObjects: (resource: Resource) => Promise<number>
  /** What was kept for the resource is of no use any longer; if it is gone for good, what was counted neither. */
  readonly forget: (resource: Resource, isGone: boolean) => void
  /** A version of a group that is now served, or no longer. */
  readonly announce: (place: { readonly group: string; readonly version: string }, isServed: boolean) => Promise<void>
  readonly now: () => string
  readonly log: Log
}

/** Where a definition stands as bytes in the cache: schemas are large, and most are never used. */
type Source = { item: Item }

type Known = {
  readonly source: Source
  readonly definition: Definition
  readonly names: Names
  readonly resources: readonly CustomResource[]
  /** By what the resources were made; another one needs others. */
  readonly mark: string
  /** Cached objects are as good as before while this stays. */
  readonly formMark: string
}

export class Definitions implements AsyncDisposable {
  readonly #parts: DefinitionsParts
  readonly #known = new Map<string, Known>()
  readonly #inUse = new NamesInUse()
  readonly #waiting = new Set<string>()
  readonly #refused = new Map<string, Item>()
  readonly #cleaning = new Set<string>()
  readonly #stopping = new AbortController()
  readonly #tasks = new Set<Promise<void>>()
  #writing = 0

  constructor(parts: DefinitionsParts) {
    this.#parts = parts
  }

  /** Comes back when everything that was defined before is served. */
  async start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#run(() => this.#follow(resolve))
    await promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#tasks)
  }

  async #follow(onListed: () => void): Promise<void> {
    const { reader, range, log } = this.#parts
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        const watcher = await reader.watch({ range, start: { initial: 'latest', markEnd: true } })
        signal.addEventListener('abort', () => watcher.close(), { once: true })
        const listed = new Set<string>()
        let isListed = false
        for await (const events of eventsOf(watcher)) {
          for (const event of events) {
            if (event.type !== 'BOOKMARK') {
              const name = event.item.key.slice(event.item.key.lastIndexOf('/') + 1)
              if (!isListed) listed.add(name)
              if (event.type === 'DELETED') this.#remove(name)
              else this.#put(name, event.item)
            } else if (event.initialEventsEnd) {
              isListed = true
              for (const name of this.#known.keys()) if (!listed.has(name)) this.#remove(name)
              onListed()
            }
          }
        }
      } catch (error) {
        if (!signal.aborted) log('warn', 'definitions cannot be followed yet', { error: String(error) })
      }
      await this.#sleep(WATCH_RETRY_MS)
    }
    onListed()
  }

  #put(name: string, item: Item): void {
    const object = item.peek()
    this.#serve(name, object, item)
    if (object.metadata.deletionTimestamp !== undefined) this.#cleanUp(name)
    this.#refused.delete(name)
    if (nextStatus(object, this.#inUse, this.#parts.now()) === undefined) {
      if (!isTrue(object, 'NamesAccepted')) this.#refused.set(name, item)
      return
    }
    this.#waiting.add(name)
    this.#write()
  }

  #serve(name: string, object: KubeObject, item: Item): void {
    const { registry, forget } = this.#parts
    const before = this.#known.get(name)
    const source: Source = { item }
    const definition = readDefinition(object, () => source.item.peek())
    const isServed = isTrue(object, 'NamesAccepted') || isTrue(object, 'Established')
    const form = JSON.stringify([
      object.metadata.uid,
      object.metadata.generation,
      definition.names,
      definition.storedVersions,
      isServed,
    ])
    const mark = `${form} ${definition.isTerminating}`
    if (before?.mark === mark) {
      // The older one would hold on to memory.
      before.source.item = item
      return
    }
    const resources = isServed ? customResources(definition) : []
    if (before !== undefined) this.#inUse.remove(name, before.definition.group, before.names)
    this.#inUse.add(name, definition.group, definition.names)
    this.#known.set(name, { source, definition, names: definition.names, resources, mark, formMark: form })
    const was = before?.resources ?? []
    registry.replace(definition.group, { before: was.filter(isShown), after: resources.filter(isShown) })
    if (before !== undefined && before.formMark !== form) for (const resource of was) forget(resource, false)
    this.#announce(definition.group, was, resources)
  }

  #remove(name: string): void {
    const { registry, forget } = this.#parts
    this.#waiting.delete(name)
    this.#refused.delete(name)
    const known = this.#known.get(name)
    if (known === undefined) return
    const { definition, names, resources } = known
    this.#known.delete(name)
    this.#inUse.remove(name, definition.group, names)
    registry.replace(definition.group, { before: resources.filter(isShown), after: [] })
    for (const resource of resources) forget(resource, true)
    this.#announce(definition.group, resources, [])
    // What it had may be what others wait for.
    for (const [other, item] of this.#refused)
      if (this.#known.get(other)?.definition.group === definition.group) this.#put(other, item)
  }

  /** A version of a group is there as long as any definition has it. */
  #announce(group: string, before: readonly CustomResource[], after: readonly CustomResource[]): void {
    const { registry, announce } = this.#parts
    const versions = new Set([...before, ...after].filter(isShown).map(({ version }) => version))
    for (const version of versions) {
      const wasThere = before.some((resource) => isShown(resource) && resource.version === version)
      const isThere = registry.inGroup(group).some((resource) => resource.version === version)
      if (wasThere !== isThere || !wasThere) this.#run(() => announce({ group, version }, isThere))
    }
  }

  #write(): void {
    while (this.#writing < WRITES_MAX && this.#waiting.size > 0) {
      const [name = ''] = this.#waiting
      this.#waiting.delete(name)
      this.#writing++
      this.#run(async () => {
        try {
          await this.#parts.changeStatus(name, (object) => nextStatus(object, this.#inUse, this.#parts.now()))
        } finally {
          this.#writing--
          this.#write()
        }
      })
    }
  }

  /** Deletes the objects of a definition that goes, waits for who holds them, and lets the definition go. */
  #cleanUp(name: string): void {
    if (this.#cleaning.has(name)) return
    this.#cleaning.add(name)
    this.#run(async () => {
      try {
        while (!(await this.#triedCleanUp(name))) await this.#sleep(CLEANUP_RETRY_MS)
      } finally {
        this.#cleaning.delete(name)
      }
    })
  }

  /** Whether there is nothing left to do. What failed, as a webhook or etcd may, is done again. */
  async #triedCleanUp(name: string): Promise<boolean> {
    try {
      await this.#cleanUpOnce(name)
      return true
    } catch (error) {
      if (this.#stopping.signal.aborted || !this.#known.has(name)) return true
      this.#parts.log('warn', 'a definition cannot be cleaned up yet', { name, error: String(error) })
      return false
    }
  }

  async #cleanUpOnce(name: string): Promise<void> {
    const { changeStatus, release, deleteObjects, now } = this.#parts
    const known = this.#known.get(name)
    const uid = known?.definition.uid
    const telling =
      (condition: Condition) =>
      (object: KubeObject): KubeObject | undefined => {
        const { finalizers = [], uid: found } = object.metadata
        const isOurs = found === uid && finalizers.includes(finalizer)
        const isTold = conditionOf(object, 'Terminating')?.['reason'] === condition.reason
        return isOurs && !isTold ? withStatus(object, {}, { conditions: [condition], now: now() }) : undefined
      }
    await changeStatus(name, telling(inProgress))
    const served = toDeleteThrough(known?.resources ?? [])
    while (served !== undefined && this.#known.get(name)?.definition.uid === uid) {
      if ((await deleteObjects(served)) === 0) break
      await this.#sleep(CLEANUP_RETRY_MS)
      if (this.#stopping.signal.aborted) return
    }
    await release(name, (object) => {
      const told = telling(served === undefined ? never : completed)(object)
      if (told === undefined) return undefined
      const finalizers = (told.metadata.finalizers ?? []).filter((one) => one !== finalizer)
      return { ...told, metadata: { ...told.metadata, finalizers } }
    })
  }

  #run(task: () => Promise<void>): void {
    const running = task().catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) this.#parts.log('warn', 'a definition waits', { error: String(error) })
    })
    this.#tasks.add(running)
    void running.finally(() => this.#tasks.delete(running))
  }

  async #sleep(ms: number): Promise<void> {
    const { signal } = this.#stopping
    if (signal.aborted) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
    })
  }
}

/** In the version that objects are stored in, if it is served: that one needs no webhook, which may have gone before its definition. */
const toDeleteThrough = (resources: readonly CustomResource[]): CustomResource | undefined =>
  resources.find(({ isServed, storageVersion }) => isServed && storageVersion === undefined) ??
  resources.find(({ isServed }) => isServed) ??
  resources[0]

const isShown = ({ isServed }: CustomResource): boolean => isServed

export const finalizer = 'customresourcecleanup.apiextensions.k8s.io'

const terminating = { type: 'Terminating' } as const
const inProgress: Condition = {
  ...terminating,
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
}
const completed: Condition = {
  ...terminating,
  status: 'False',
  reason: 'InstanceDeletionCompleted',
  message: 'removed all instances',
}
const never: Condition = {
  ...terminating,
  status: 'False',
  reason: 'NeverEstablished',
  message: 'resource was never established',
}

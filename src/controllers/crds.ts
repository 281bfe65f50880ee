/**
 * Serves custom resources. The controller watches CustomResourceDefinitions, accepts their names,
 * adds their resources to the registry or removes them, and deletes the objects of deleted
 * definitions. Every replica does this independently; if several write a status, the first write
 * succeeds. Failures are retried until they succeed.
 */
import type { KubeObject } from '../api/object.ts'
import type { Item } from '../storage/cache/item.ts'
import type { WatchOptions } from '../storage/cache/open-watch.ts'
import type { ObjectReader } from '../storage/cache/reader.ts'
import type { WatchEvent } from '../storage/cache/event.ts'
import { type EventSource, takeAll, takeUntilClosed } from '../storage/cache/watch.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { Restores } from '../lib/concurrency/restores.ts'
import { sleep, systemTimers, type Timers } from '../lib/time/timers.ts'
import { type CustomResource, customResources } from '../registry/custom/custom-resource.ts'
import { type Crd, formOf, readCrd } from '../registry/custom/crd.ts'
import type { Registry } from '../registry/registry.ts'
import type { Resource } from '../registry/resource.ts'
import { cleanUp, type CrdCleanupOptions, needsCleanUp } from './crd-cleanup.ts'
import { NamesInUse } from './crd-names.ts'
import { claimOf, isTrue, nextStatus } from './crd-status.ts'
import { WorkQueue } from '../lib/concurrency/work-queue.ts'

/** Maximum number of concurrent status writes. More writes would only wait for the database. */
const WRITES_MAX = 8
/**
 * Maximum number of definitions that are cleaned up concurrently. Each cleanup lists the objects
 * and deletes several of them at a time.
 */
const CLEANUPS_MAX = 8
/**
 * Delay after which a definition is checked again after its cleanup. If a backup was restored in
 * the meantime, the definition may exist again although the watch reported no event.
 */
const LOOK_AGAIN_MS = 5_000
/** Delay before an interrupted watch of definitions is reopened. */
const WATCH_RETRY_MS = 200

export type CrdControllerOptions = CrdCleanupOptions & {
  readonly registry: Registry
  readonly reader: ObjectReader
  /**
   * Returns a number that identifies the state of the database. It changes when the database was
   * replaced by another one, or restored from a backup.
   */
  readonly life: () => number
  readonly range: WatchOptions['range']
  /**
   * Removes the resource from all caches. If the definition was deleted (`isGone`), also removes
   * the metrics of the resource.
   */
  readonly forget: (resource: Resource, isGone: boolean) => void
  /** Creates or deletes the APIService of a group version. Rejects if this fails. */
  readonly announce: (
    place: { readonly group: string; readonly version: string },
    isServed: boolean,
  ) => Promise<void>
  /**
   * Returns the group versions, as `group/version`, that have an APIService created by any server
   * and might no longer be served.
   */
  readonly listAnnounced: () => Promise<readonly string[]>
  readonly log: Log
  readonly timers?: Timers
}

/**
 * The encoded definition in the cache. It is decoded when needed, because schemas are large and
 * most of them are never used.
 */
type Source = { item: Item }

type CrdEntry = {
  readonly source: Source
  readonly crd: Crd
  readonly resources: readonly CustomResource[]
  /**
   * Identifies the content from which the resources were built. If it changes, the resources are
   * built again.
   */
  readonly mark: string
  /**
   * Identifies the parts of the definition that affect how objects are decoded. As long as this
   * string is the same, cached objects stay valid.
   */
  readonly formMark: string
  /**
   * The result of the `life` option when the definition was read. If `life` now returns a different
   * number, the database was replaced.
   */
  readonly life: number
  /** Whether the definition is being deleted, together with its objects. */
  isDoomed: boolean
}

export class CrdController implements AsyncDisposable {
  readonly #options: CrdControllerOptions
  readonly #known = new Map<string, CrdEntry>()
  readonly #inUse = new NamesInUse()
  /** Definitions that wait for names that other definitions have. */
  readonly #refused = new Set<string>()
  /** Definitions whose status might have to be written when the initial list is complete. */
  readonly #unjudged = new Set<string>()
  /** Definitions that cannot be decoded, so that their versions are unknown. */
  readonly #unreadable = new Set<string>()
  /**
   * The definitions in `#unreadable` that could not be decrypted, according to the current watch.
   */
  readonly #undecryptable = new Set<string>()
  readonly #stopping = new AbortController()
  readonly #statuses: WorkQueue
  readonly #cleanups: WorkQueue
  readonly #announcements: WorkQueue
  /**
   * APIServices that might have to be deleted: those that existed before the definitions were
   * listed, and those that might belong to a definition in `#unreadable`.
   */
  #announced: readonly string[] = []
  #following: Promise<void> = Promise.resolve()
  #restored: Disposable | undefined
  #watcher: EventSource | undefined
  /** Processes the available events of the watch immediately. */
  #takeNow: (() => void) | undefined
  /** Whether the watch has delivered its initial events. */
  #isListed = false

  constructor(options: CrdControllerOptions) {
    const { log, timers = systemTimers } = options
    this.#options = options
    const queue = (
      name: string,
      workersMax: number,
      work: (key: string) => Promise<number | undefined>,
    ): WorkQueue => new WorkQueue({ name, workersMax, work, log, timers })
    this.#statuses = queue('the status of a definition', WRITES_MAX, (name) =>
      this.#writeStatus(name),
    )
    this.#cleanups = queue('the clean-up of a definition', CLEANUPS_MAX, (name) =>
      this.#cleanUp(name),
    )
    this.#announcements = queue('the APIService of a definition', WRITES_MAX, (place) =>
      this.#announce(place),
    )
  }

  /** Resolves when all existing definitions are served. */
  async start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#restored = Restores.current()?.follow({
      changesFollowers: true,
      latest: () => this.latest(),
    })
    this.#following = this.#follow(resolve)
    await promise
  }

  /**
   * Resolves when all definitions that were acknowledged before the call are served. Rejects if the
   * definitions are currently not being watched.
   */
  async latest(): Promise<void> {
    const { reader, range } = this.#options
    await reader.list({ from: range.from, to: range.from }, 'latest')
    if (!this.#isListed) throw new Error('CustomResourceDefinitions are still being listed')
    this.#takeNow?.()
    // If the watch was too slow to receive all events, `#takeNow` has closed it.
    if (this.#watcher?.state !== 'live')
      throw new Error('CustomResourceDefinitions have to be listed again')
  }

  /**
   * Called when the APIService of a version was deleted. Recreates the APIService if the version is
   * served.
   */
  announceAgain(group: string, version: string): void {
    const place = `${group}/${version}`
    if (this.#isListed && this.#isServed(place)) this.#announcements.add(place)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#restored?.[Symbol.dispose]()
    this.#stopping.abort()
    const queues = [this.#statuses, this.#cleanups, this.#announcements]
    await Promise.all([this.#following, ...queues.map((queue) => queue[Symbol.asyncDispose]())])
  }

  async #follow(onListed: () => void): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        using watching = new DisposableStack()
        const watcher = await this.#watch()
        const close = (): void => watcher.close()
        signal.addEventListener('abort', close)
        watching.defer(() => {
          signal.removeEventListener('abort', close)
          this.#watcher = undefined
          this.#takeNow = undefined
          this.#isListed = false
        })
        if (signal.aborted) close()
        await this.#takeFrom(watcher, onListed)
      } catch (error) {
        if (!signal.aborted)
          this.#options.log('warn', 'failed to watch CustomResourceDefinitions; retrying', {
            error: String(error),
          })
      }
      // `sleep` rejects only when the server stops, which the loop condition checks.
      await sleep(this.#options.timers ?? systemTimers, WATCH_RETRY_MS, signal).catch(
        () => undefined,
      )
    }
    onListed()
  }

  /**
   * Opens the watch. While the database is unavailable, this waits. Rejects if the server stops in
   * the meantime.
   */
  async #watch(): Promise<EventSource> {
    const { reader, range } = this.#options
    const { signal } = this.#stopping
    this.#undecryptable.clear()
    const opening = this.#readAnnounced().then(() =>
      reader.watch({
        range,
        start: { initial: 'latest', markEnd: true },
        onUnreadable: (key, state) =>
          this.#recordUnreadable(key.slice(key.lastIndexOf('/') + 1), state),
      }),
    )
    const { promise: stopped, reject } = Promise.withResolvers<never>()
    const onAbort = (): void => {
      reject(signal.reason)
      opening.then(
        (late) => late.close(),
        () => undefined,
      )
    }
    signal.addEventListener('abort', onAbort)
    try {
      return await Promise.race([opening, stopped])
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /**
   * Lists the APIServices. If a definition is deleted while no server runs, its APIServices are
   * left behind. They must be listed before the definitions, because an APIService that another
   * replica creates later may belong to a definition that is not in the list. Never rejects,
   * because definitions are served even without the list.
   */
  async #readAnnounced(): Promise<void> {
    try {
      this.#announced = await this.#options.listAnnounced()
    } catch (error) {
      this.#options.log('warn', 'failed to list the APIServices of CustomResourceDefinitions', {
        error: String(error),
      })
    }
  }

  async #takeFrom(watcher: EventSource, onListed: () => void): Promise<void> {
    const listed = new Set<string>()
    const take = (events: readonly WatchEvent[]): void => {
      for (const event of events) {
        if (event.type !== 'BOOKMARK') {
          const name = event.item.key.slice(event.item.key.lastIndexOf('/') + 1)
          if (!this.#isListed) listed.add(name)
          if (event.type === 'DELETED') this.#remove(name)
          else this.#tryPut(name, event.item)
        } else if (event.initialEventsEnd) {
          for (const name of [...this.#known.keys(), ...this.#unreadable])
            if (!listed.has(name) && !this.#undecryptable.has(name)) this.#remove(name)
          this.#isListed = true
          for (const name of this.#unjudged) this.#write(name)
          this.#unjudged.clear()
          onListed()
        }
      }
      this.#withdraw()
    }
    this.#watcher = watcher
    this.#takeNow = () => takeAll(watcher, take)
    await takeUntilClosed(watcher, take)
  }

  /**
   * Records that a definition cannot be decrypted, or is gone. A definition that was served before
   * is still served if it cannot be decrypted. A new one is not served.
   */
  #recordUnreadable(name: string, state: 'unreadable' | 'gone'): void {
    if (state === 'gone') {
      this.#undecryptable.delete(name)
      this.#remove(name)
      return
    }
    this.#undecryptable.add(name)
    this.#unreadable.add(name)
    this.#options.log('error', 'a CustomResourceDefinition cannot be decrypted', { name })
  }

  /**
   * Queues the deletion of APIServices that are no longer needed. An APIService may belong to a
   * definition that currently cannot be decoded. So no APIService is deleted until every definition
   * can be decoded or is deleted.
   */
  #withdraw(): void {
    if (!this.#isListed || this.#unreadable.size > 0) return
    for (const place of this.#announced) if (!this.#isServed(place)) this.#announcements.add(place)
    this.#announced = []
  }

  /** Serves a definition. If it cannot be decoded, other definitions must still be served. */
  #tryPut(name: string, item: Item): void {
    try {
      this.#put(name, item)
      this.#unreadable.delete(name)
    } catch (error) {
      this.#unreadable.add(name)
      this.#options.log('error', 'a CustomResourceDefinition cannot be served', {
        name,
        error: String(error),
      })
    }
  }

  #put(name: string, item: Item): void {
    const object = item.peek()
    this.#serve(name, object, item)
    const known = this.#known.get(name)
    const isDoomed = needsCleanUp(object)
    if (known !== undefined) {
      // The queue retries a cleanup until it is complete, so it is queued only once. If the
      // database was then replaced by an older backup, the definition is listed again, and the
      // cleanup must also run again.
      if (isDoomed && !(known.isDoomed && this.#isListed)) this.#cleanups.add(name)
      known.isDoomed = isDoomed
    }
    this.#checkStatus(name, object)
  }

  /**
   * Queues a status write if the definition or the names of other definitions require a different
   * status.
   */
  #checkStatus(name: string, object: KubeObject): void {
    this.#refused.delete(name)
    if (nextStatus(object, this.#inUse, this.#options.now()) !== undefined) this.#write(name)
    else if (!isTrue(object, 'NamesAccepted')) this.#refused.add(name)
  }

  /**
   * Queues a write of the status. If the initial list is not complete yet, the write waits for it,
   * because a definition that is still missing may have one of the names.
   */
  #write(name: string): void {
    if (this.#isListed) this.#statuses.add(name)
    else this.#unjudged.add(name)
  }

  async #writeStatus(name: string): Promise<undefined> {
    const { changeStatus, now } = this.#options
    await changeStatus(name, (object) => {
      const seen = this.#known.get(name)?.source.item.revision ?? 0
      // The watch has not delivered this revision yet, so an earlier request for a name may be
      // unknown. The status is computed again when the watch delivers the revision.
      if (Number(object.metadata.resourceVersion) > seen) return undefined
      if (!this.#isListed) {
        this.#unjudged.add(name)
        return undefined
      }
      const next = nextStatus(object, this.#inUse, now())
      // Since this write was queued, another definition has received the names. Record that this
      // definition waits for them.
      if (next === undefined && !isTrue(object, 'NamesAccepted')) this.#refused.add(name)
      return next
    })
  }

  #serve(name: string, object: KubeObject, item: Item): void {
    const { registry, forget } = this.#options
    const before = this.#known.get(name)
    const source: Source = { item }
    const crd = readCrd(object, () => source.item.peek())
    this.#claim(name, object, crd.group)
    const isServed = isTrue(object, 'NamesAccepted') || isTrue(object, 'Established')
    const form = `${formOf(crd)} ${isServed}`
    const mark = `${form} ${crd.isTerminating}`
    // Also compare the state of the database, because the same uid and generation can have a
    // different schema after a restore.
    const life = this.#options.life()
    const isSameDatabase = before?.life === life
    if (before?.mark === mark && isSameDatabase) {
      // Store the new item. A reference to the older item would retain the bytes of that item in
      // memory.
      before.source.item = item
      return
    }
    const resources = isServed ? customResources(crd, registry.release) : []
    const isDoomed = before?.crd.uid === crd.uid && before.isDoomed
    this.#known.set(name, { source, crd, resources, mark, formMark: form, life, isDoomed })
    const was = before?.resources ?? []
    registry.replace(crd.group, {
      before: was.filter(isShown),
      after: resources.filter(isShown),
    })
    if (before !== undefined && (before.formMark !== form || !isSameDatabase))
      for (const resource of was) forget(resource, false)
    this.#announceChanges(crd.group, was, resources)
  }

  /**
   * Records the names of a definition. If this may have freed a name, checks other definitions that
   * may be waiting for the name.
   */
  #claim(name: string, object: KubeObject, group: string): void {
    const claim = claimOf(object)
    if (this.#inUse.set(name, claim)) this.#checkRefused(group, name)
  }

  #remove(name: string): void {
    const { registry, forget } = this.#options
    this.#refused.delete(name)
    this.#unreadable.delete(name)
    const known = this.#known.get(name)
    if (known === undefined) return
    const { crd, resources } = known
    this.#known.delete(name)
    this.#inUse.delete(name)
    registry.replace(crd.group, { before: resources.filter(isShown), after: [] })
    for (const resource of resources) forget(resource, true)
    this.#announceChanges(crd.group, resources, [])
    this.#checkRefused(crd.group, name)
  }

  #checkRefused(group: string, except: string): void {
    for (const name of [...this.#refused]) {
      const known = name === except ? undefined : this.#known.get(name)
      if (known?.crd.group === group) this.#checkStatus(name, known.source.item.peek())
    }
  }

  /**
   * Queues the versions that the definition started or stopped serving. Another definition may also
   * serve a version. `#announce` takes this into account.
   */
  #announceChanges(
    group: string,
    before: readonly CustomResource[],
    after: readonly CustomResource[],
  ): void {
    const [old, now] = [shownVersions(before), shownVersions(after)]
    for (const version of new Set([...old, ...now])) {
      if (old.has(version) !== now.has(version)) this.#announcements.add(`${group}/${version}`)
    }
  }

  async #announce(place: string): Promise<undefined> {
    const { registry, announce } = this.#options
    const [group = '', version = ''] = place.split('/')
    // The APIServices of built-in groups are created at startup by `Bootstrap`.
    if (registry.inGroup(group).some(({ isCustom }) => !isCustom)) return
    const isServed = this.#isServed(place)
    if (!isServed && this.#unreadable.size > 0) this.#announced = [...this.#announced, place]
    else await announce({ group, version }, isServed)
  }

  #isServed(place: string): boolean {
    const [group = '', version = ''] = place.split('/')
    return this.#options.registry.inGroup(group).some((resource) => resource.version === version)
  }

  async #cleanUp(name: string): Promise<number | undefined> {
    const known = this.#known.get(name)
    if (known === undefined) return undefined
    const object = await known.source.item.peekInParts()
    if (!needsCleanUp(object)) return undefined
    try {
      return (
        (await cleanUp({ name, object, resources: known.resources }, this.#options)) ??
        LOOK_AGAIN_MS
      )
    } catch (error) {
      // Ignore the error if the definition no longer exists, because another replica has then
      // completed the cleanup.
      if (this.#known.get(name)?.crd.uid !== known.crd.uid) return undefined
      throw error
    }
  }
}

const isShown = ({ isServed }: CustomResource): boolean => isServed

const shownVersions = (resources: readonly CustomResource[]): Set<string> =>
  new Set(resources.filter(isShown).map(({ version }) => version))

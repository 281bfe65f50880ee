/**
 * Watches the objects of one resource of a remote server, by a list and a watch that this server
 * forwards. While the remote server is unreachable, no change is reported, and known objects stay
 * known. Objects that are missing from a new list are reported as deleted.
 */
import { request } from '../../api/own-request.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import { deadline, sleep } from '../../lib/time/timers.ts'
import { askRemote, failureText, FAILURE } from './ask-remote.ts'
import { acceptList, acceptObject, readEvent, readPage, type RemoteHead } from './remote-heads.ts'
import type { RemoteObjects } from './remote-objects.ts'
import { WatchLines } from './watch-lines.ts'

/**
 * Number of objects per page. The metadata of an object, including managedFields, takes a few KB.
 */
const PAGE_ITEMS = 250
/** Memory limits of one resource. A resource that exceeds them is not watched. */
const OBJECTS_MAX = 100_000
const HEADS_BYTES_MAX = 64 << 20
/**
 * HEAD_BYTES is the estimated size of an object without its owners, finalizers and key. OWNER_BYTES
 * is the estimated size of an owner without its strings.
 */
const HEAD_BYTES = 300
const OWNER_BYTES = 500
/**
 * Lifetime of a watch, as in client-go. If the server does not end the watch after this time, this
 * client aborts it shortly afterward.
 */
const WATCH_SECONDS = 300
const WATCH_MS_MAX = (WATCH_SECONDS + 30) * 1_000
/**
 * First and maximum delay before the objects are listed again after a failure. The first delay also
 * applies before the next watch.
 */
const RETRY_MS_FIRST = 1_000
const RETRY_MS_MAX = 30_000
/** Delay before a resource with too many objects is listed again. */
const TOO_MANY_MS = 600_000

class TooManyObjects extends Error {
  override readonly message =
    `the resource has more than ${OBJECTS_MAX} objects or ${HEADS_BYTES_MAX} bytes of metadata`
}

export type RemoteListener = {
  /**
   * Called with the current state of an object. `head` is undefined if the object does not exist
   * any more.
   */
  readonly set: (key: string, head: RemoteHead | undefined) => void
  /** Returns the keys of the objects that were reported before this informer was created. */
  readonly known: () => Iterable<string>
}

export class RemoteInformer implements AsyncDisposable {
  readonly #objects: RemoteObjects
  readonly #listener: RemoteListener
  readonly #stopping = new AbortController()
  readonly #heads = new Map<string, RemoteHead>()
  readonly #listed = Promise.withResolvers<void>()
  readonly #tried = Promise.withResolvers<void>()
  readonly #running: Promise<void>
  #isListed = false
  #headsBytes = 0

  constructor(objects: RemoteObjects, listener: RemoteListener) {
    this.#objects = objects
    this.#listener = listener
    this.#running = this.#run()
  }

  /**
   * Resolves when all objects have been reported, or when the informer is stopped. Does not resolve
   * while the remote server is unreachable.
   */
  get listed(): Promise<void> {
    return this.#listed.promise
  }

  /** Resolves when the first attempt has finished, successfully or not. */
  get tried(): Promise<void> {
    return this.#tried.promise
  }

  /**
   * Returns the metadata of an object. Undefined means that the object does not exist or, unless
   * `isListed` is true, that it is not listed yet.
   */
  get(key: string): RemoteHead | undefined {
    return this.#heads.get(key)
  }

  all(): Iterable<readonly [string, RemoteHead]> {
    return this.#heads
  }

  get isListed(): boolean {
    return this.#isListed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  /** Lists and watches the objects until the informer is stopped. Never rejects. */
  async #run(): Promise<void> {
    const { log, time } = this.#objects.options
    const signal = AbortSignal.any([this.#stopping.signal, this.#objects.options.signal])
    for (let failures = 0; !signal.aborted; ) {
      const since = time.monotonicMs()
      let waitMs = RETRY_MS_FIRST
      try {
        await this.#followOnce(signal)
        failures = 0
      } catch (error) {
        if (signal.aborted) break
        // After a long time without a failure, count this one as the first.
        failures = time.monotonicMs() - since > RETRY_MS_MAX ? 1 : failures + 1
        waitMs = Math.min(RETRY_MS_FIRST * 2 ** (failures - 1), RETRY_MS_MAX)
        if (error instanceof TooManyObjects) waitMs = TOO_MANY_MS
        const { path } = this.#objects
        log('info', 'failed to list or watch objects of an aggregated API server; retrying', {
          path,
          error: String(error),
        })
      }
      this.#tried.resolve()
      await sleep(time, waitMs, signal).catch(() => undefined)
    }
    this.#tried.resolve()
    this.#listed.resolve()
  }

  async #followOnce(signal: AbortSignal): Promise<void> {
    let version = await this.#list(signal)
    this.#isListed = true
    this.#listed.resolve()
    this.#tried.resolve()
    // The server ends each watch after some minutes. The next watch continues after the last event.
    while (!signal.aborted) {
      version = await this.#watch(version, signal)
      await sleep(this.#objects.options.time, RETRY_MS_FIRST, signal)
    }
  }

  async #list(signal: AbortSignal): Promise<string> {
    const { path, options } = this.#objects
    const { handle, time } = options
    const seen = new Set<string>()
    const query: Record<string, string> = { limit: `${PAGE_ITEMS}` }
    for (;;) {
      const asked = {
        method: 'GET',
        path,
        query: { ...query },
        accept: acceptList,
        signal,
        timers: time,
      }
      const answer = await askRemote(handle, asked)
      if (answer.status >= FAILURE) throw new Error(failureText(path, answer))
      const before = seen.size
      const { next, resourceVersion } = await readPage(answer.bytes, (head) => {
        if (head.name === '' || head.uid === '') throw new Error('an object has no name or no uid')
        const key = this.#keyOf(head)
        if (key === undefined) return
        seen.add(key)
        this.#set(key, head)
      })
      if (next === '') {
        await this.#emitGone(seen)
        return resourceVersion
      }
      if (seen.size === before) throw new Error('a page without new objects is not the last one')
      query['continue'] = next
    }
  }

  async #emitGone(seen: ReadonlySet<string>): Promise<void> {
    const slices = new Slices(this.#objects.options.time)
    for (const keys of [this.#heads.keys(), this.#listener.known()]) {
      for (const key of [...keys]) {
        if (!seen.has(key)) this.#set(key, undefined)
        if (slices.isOver) await slices.turn()
      }
    }
  }

  /**
   * Watches the objects until the server ends the watch. Resolves to the resourceVersion of the
   * last event. Rejects if the watch was aborted, or if all objects must be listed again.
   */
  async #watch(version: string, signal: AbortSignal): Promise<string> {
    const { path, options } = this.#objects
    using late = deadline(options.time, WATCH_MS_MAX)
    const both = AbortSignal.any([signal, late.signal])
    const query = {
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: `${WATCH_SECONDS}`,
      resourceVersion: version,
    }
    const response = await request(options.handle, {
      method: 'GET',
      path,
      query,
      accept: acceptObject,
      signal: both,
    })
    if (!('frames' in response) || response.status >= FAILURE) {
      if ('body' in response && 'close' in response.body) response.body.close?.()
      if ('frames' in response) response.frames.close()
      throw new Error(`a watch of ${path} returned status ${response.status}`)
    }
    const { frames } = response
    const onAbort = (): void => frames.close()
    both.addEventListener('abort', onAbort, { once: true })
    const lines = new WatchLines()
    let last = version
    try {
      for (let taken = frames.take(); taken !== undefined; taken = frames.take()) {
        both.throwIfAborted()
        for (const line of lines.add(taken)) last = await this.#onEvent(line, last)
        if (taken.length === 0) await new Promise<void>((resolve) => frames.onReady(resolve))
      }
      both.throwIfAborted()
      return last
    } finally {
      both.removeEventListener('abort', onAbort)
      frames.close()
    }
  }

  async #onEvent(line: string, last: string): Promise<string> {
    const { type, head, code } = await readEvent(line)
    if (type === 'ERROR') throw new Error(`a watch ended with code ${code}`)
    const key = this.#keyOf(head)
    if (key !== undefined && type === 'DELETED') this.#set(key, undefined)
    else if (key !== undefined && (type === 'ADDED' || type === 'MODIFIED')) {
      this.#set(key, head)
    }
    return head.resourceVersion || last
  }

  /**
   * Returns the key of an object. Returns undefined if the object must be ignored, because the
   * name, uid or scope is invalid.
   */
  #keyOf({ namespace, name, uid }: RemoteHead): string | undefined {
    const { keys } = this.#objects
    if (name === '' || uid === '' || (namespace !== '') !== keys.isNamespaced) return undefined
    const key = keys.key(namespace, name)
    return keys.parse(key) === undefined ? undefined : key
  }

  #set(key: string, head: RemoteHead | undefined): void {
    const before = this.#heads.get(key)
    if (before !== undefined) this.#headsBytes -= sizeOf(key, before)
    if (head === undefined) this.#heads.delete(key)
    else {
      this.#headsBytes += sizeOf(key, head)
      this.#heads.set(key, head)
    }
    this.#listener.set(key, head)
    if (this.#heads.size > OBJECTS_MAX || this.#headsBytes > HEADS_BYTES_MAX)
      throw new TooManyObjects()
  }
}

const sizeOf = (key: string, { owners, finalizers }: RemoteHead): number =>
  HEAD_BYTES +
  key.length +
  finalizers.reduce((sum, one) => sum + one.length, 0) +
  owners.reduce(
    (sum, { name, kind, apiVersion }) =>
      sum + OWNER_BYTES + name.length + kind.length + apiVersion.length,
    0,
  )

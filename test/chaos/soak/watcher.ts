/**
 * A watcher lists once, and then watches. When its watch ends, it resumes from the last
 * resourceVersion that it received. It lists again only if `listsAgain` is set and the server
 * reports that the resourceVersion is too old.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { readList, readObject, type SoakClient } from './client.ts'

const RETRY_MS = 100

export type WatcherOptions = { readonly onEnd?: () => void; readonly listsAgain?: boolean }

export class Watcher {
  /** resourceVersions of the objects, by name. */
  readonly state = new Map<string, string>()
  events = 0
  resumes = 0
  readonly faults: string[] = []
  readonly #client: SoakClient
  readonly #path: string
  readonly #onEnd: () => void
  readonly #listsAgain: boolean
  #seen = ''
  #isGone = false

  /** Creates a watcher. `onEnd` is called when a watch ends, with or without an error. */
  constructor(
    client: SoakClient,
    path: string,
    { onEnd = () => undefined, listsAgain = false }: WatcherOptions = {},
  ) {
    this.#client = client
    this.#path = path
    this.#onEnd = onEnd
    this.#listsAgain = listsAgain
  }

  get seen(): number {
    return Number(this.#seen)
  }

  async list(): Promise<void> {
    const { status, body } = await this.#client.call('GET', this.#path)
    if (status !== 200) throw new Error(`list: ${status}`)
    const { resourceVersion, items } = readList(body)
    this.state.clear()
    for (const { metadata } of items) this.state.set(metadata.name, metadata.resourceVersion)
    this.#seen = resourceVersion
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (this.#isGone) await this.list()
        this.#isGone = false
        const query = `?watch=1&allowWatchBookmarks=true&resourceVersion=${this.#seen}`
        for await (const event of this.#client.lines(this.#path + query)) {
          if (!this.#see(event)) return
          if (signal.aborted) return
        }
        this.#onEnd()
      } catch {
        this.#onEnd()
        await sleep(RETRY_MS)
      }
      this.resumes++
    }
  }

  /** Handles an event. Returns false if the watch cannot continue. */
  #see(event: unknown): boolean {
    if (typeof event !== 'object' || event === null || !('type' in event) || !('object' in event)) {
      return this.#fault(`not an event: ${JSON.stringify(event).slice(0, 200)}`)
    }
    if (event.type === 'ERROR' && this.#listsAgain && isTooOld(event.object)) throw this.#gone()
    if (event.type === 'ERROR')
      return this.#fault(`from ${this.#seen}: ${JSON.stringify(event.object).slice(0, 300)}`)
    const { name, resourceVersion } = readObject(event.object).metadata
    const isLater = Number(resourceVersion) > this.seen
    if (event.type === 'BOOKMARK') {
      if (Number(resourceVersion) >= this.seen) this.#seen = resourceVersion
      return true
    }
    this.events++
    if (!isLater)
      return this.#fault(`${String(event.type)} ${name} at ${resourceVersion}, after ${this.#seen}`)
    const isKnown = this.state.has(name)
    if ((event.type === 'ADDED') === isKnown)
      return this.#fault(`${String(event.type)} ${name}, which was ${isKnown ? '' : 'not '}there`)
    this.#seen = resourceVersion
    if (event.type === 'DELETED') this.state.delete(name)
    else this.state.set(name, resourceVersion)
    return true
  }

  #gone(): Error {
    this.#isGone = true
    return new Error('the resourceVersion is too old')
  }

  #fault(what: string): false {
    this.faults.push(what)
    return false
  }
}

const isTooOld = (status: unknown): boolean =>
  typeof status === 'object' && status !== null && 'code' in status && status.code === 410

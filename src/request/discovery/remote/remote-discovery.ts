/**
 * Reads the resources of remote servers for aggregated discovery. As in kube-apiserver, the
 * versions of an unreachable server are listed as stale, without resources. One response of a
 * server is used for all APIServices that refer to this server.
 */
import type { Log } from '../../../lib/telemetry/log.ts'
import { systemTime, type Time } from '../../../lib/time/timers.ts'
import { Refresher } from './refresher.ts'
import {
  isAggregatedType,
  readAggregated,
  readPlain,
  type RemoteResources,
} from './remote-resources.ts'
import type { ListedApiService, RemoteServers } from './remote-servers.ts'

/** Timeout of a request, as in kube-apiserver. */
const TIMEOUT_MS = 5_000
/**
 * Maximum length of a response, which contains all groups of a server. With 10,000 custom
 * resources, it is 3 MB long.
 */
const ANSWER_BYTES_MAX = 8 << 20
/**
 * Maximum number of servers that are queried concurrently. Servers that do not respond must not
 * delay the others for long.
 */
const WORKERS_MAX = 16
/**
 * Maximum time for which remote servers can delay the readiness of this server. It is enough for
 * two rounds of requests without a response.
 */
const FIRST_ROUND_MS_MAX = 2 * TIMEOUT_MS
/**
 * Maximum delay after a failure. It equals the interval for a server that responds, so that
 * aggregated discovery soon includes a server that is available again.
 */
const RETRY_MS_MAX = 60_000

const accept = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(',')
const aggregatorName = 'system:kube-aggregator'

/** A version of a group, as discovery lists it. */
export type RemoteVersion = {
  readonly service: ListedApiService
  /** The resources as a JSON list. Undefined if they are unknown. */
  readonly resources: string | undefined
  readonly isStale: boolean
}

/** The response of a server to a request for its resources. */
type DiscoveryAnswer = {
  readonly resources: RemoteResources
  /**
   * Names of the APIServices for which the response was read. The response cannot be used for other
   * APIServices.
   */
  readonly names: ReadonlySet<string>
  readonly etag: string
  readonly sinceMs: number
}

/** An APIService, and the time of its last change. */
type MarkedService = { readonly service: ListedApiService; readonly markedMs: number }

type DiscoveredResources = Pick<RemoteVersion, 'resources' | 'isStale'>

const unknown: DiscoveredResources = { resources: undefined, isStale: true }

export type RemoteDiscoveryOptions = {
  readonly servers: RemoteServers
  readonly log: Log
  readonly time?: Time
}

export class RemoteDiscovery implements AsyncDisposable {
  readonly #options: RemoteDiscoveryOptions
  readonly #time: Time
  readonly #refresher: Refresher
  readonly #services = new Map<string, MarkedService>()
  readonly #found = new Map<string, DiscoveredResources>()
  /** Responses by service. Several APIServices can reference the same service. */
  readonly #answered = new Map<string, DiscoveryAnswer>()
  #following: Disposable | undefined
  readonly #firstRound = new Set<string>()
  #onFirstRound: (() => void) | undefined
  #changes = 0
  readonly #listeners = new Set<() => void>()

  constructor(options: RemoteDiscoveryOptions) {
    this.#options = options
    this.#time = options.time ?? systemTime
    this.#refresher = new Refresher({
      refresh: (name, signal) => this.#refresh(name, signal),
      workersMax: WORKERS_MAX,
      retryMsMax: RETRY_MS_MAX,
      timers: this.#time,
    })
  }

  /**
   * Resolves when every existing APIService has been queried once, or at the latest after a fixed
   * time.
   */
  async start(): Promise<void> {
    this.#following = this.#options.servers.onChange((name, service) => this.#follow(name, service))
    for (const name of this.#services.keys()) this.#firstRound.add(name)
    if (this.#firstRound.size === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onFirstRound = resolve
    const timer = this.#time.after(FIRST_ROUND_MS_MAX, resolve)
    await promise
    timer.close()
  }

  /**
   * Number of changes. Data that is derived from the versions is valid until this number changes.
   */
  get changes(): number {
    return this.#changes
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) }
  }

  /**
   * Returns the versions that have been queried. A new version appears when its server has
   * responded or failed.
   */
  *versions(): Generator<RemoteVersion> {
    for (const [name, { service }] of this.#services) {
      const found = this.#found.get(name)
      if (found !== undefined) yield { service, ...found }
    }
  }

  #follow(name: string, service: ListedApiService | undefined): void {
    if (service?.remote === undefined) {
      this.#remove(name)
      return
    }
    this.#services.set(name, { service, markedMs: this.#time.monotonicMs() })
    const found = this.#found.get(name)
    // As in kube-apiserver, if the server of a version is not available yet, the version is marked
    // as stale from the beginning.
    if (found === undefined && !service.isAvailable) this.#found.set(name, unknown)
    this.#recordChange()
    this.#refresher.mark(name)
  }

  #recordChange(): void {
    this.#changes++
    for (const listener of this.#listeners) listener()
  }

  #remove(name: string): void {
    if (!this.#services.delete(name)) return
    this.#refresher.drop(name)
    this.#recordRound(name)
    if (this.#found.delete(name)) this.#recordChange()
    this.#forgetUnused()
  }

  #forgetUnused(): void {
    const used = new Set([...this.#services.values()].map(({ service }) => keyOf(service)))
    for (const key of this.#answered.keys()) if (!used.has(key)) this.#answered.delete(key)
  }

  async #refresh(name: string, signal: AbortSignal): Promise<boolean> {
    const known = this.#services.get(name)
    if (known === undefined) return true
    const found = await this.#find(known, signal)
    const now = this.#services.get(name)
    // The APIService now references another server, which is queried next.
    if (signal.aborted || now === undefined || keyOf(now.service) !== keyOf(known.service))
      return true
    const before = this.#found.get(name)
    this.#found.set(name, found)
    if (before?.resources !== found.resources || before?.isStale !== found.isStale)
      this.#recordChange()
    this.#recordRound(name)
    return !found.isStale
  }

  async #find(known: MarkedService, signal: AbortSignal): Promise<DiscoveredResources> {
    const { service } = known
    try {
      return { resources: await this.#ask(known, signal), isStale: false }
    } catch (error) {
      this.#options.log('info', 'cannot read the resources of an aggregated API server', {
        apiService: service.name,
        error: String(error),
      })
      return unknown
    }
  }

  async #ask(
    { service, markedMs }: MarkedService,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const place = `${service.group}/${service.version}`
    const answered = this.#answered.get(keyOf(service))
    const known = answered?.names.has(service.name) === true ? answered : undefined
    const sinceMs = this.#time.monotonicMs()
    // Use the response that was requested for another APIService of the same server. It was
    // requested after this APIService had changed, so it is recent enough.
    if (known !== undefined && known.sinceMs > markedMs && sinceMs - known.sinceMs < SHARED_MS_MAX)
      return known.resources.get(place)
    const etag = known?.etag ?? ''
    const limits = { timeoutMs: TIMEOUT_MS, bytesMax: ANSWER_BYTES_MAX, signal }
    const { fetch } = this.#options.servers
    const user = { name: aggregatorName, uid: '', groups: ['system:masters'] }
    const document = await fetch(service, '/apis', { accept, etag, user, ...limits })
    if (document.status === NOT_MODIFIED && known !== undefined) {
      this.#answered.set(keyOf(service), { ...known, sinceMs })
      return known.resources.get(place)
    }
    if (document.status === UNAVAILABLE) throw new Error(`the server sent status ${UNAVAILABLE}`)
    if (document.status === OK && isAggregatedType(document.type)) {
      const names = new Set(this.#services.keys())
      const resources = await readAggregated(document.body, (group, version) =>
        names.has(`${version}.${group}`),
      )
      this.#answered.set(keyOf(service), { resources, names, etag: document.etag, sinceMs })
      return resources.get(place)
    }
    const plainUser = { name: aggregatorName, uid: '', groups: [] }
    const asked = { accept: 'application/json', user: plainUser, ...limits }
    const plain = await fetch(service, `/apis/${place}`, asked)
    if (plain.status !== OK) throw new Error(`the server sent status ${plain.status}`)
    return readPlain(plain.body)
  }

  #recordRound(name: string): void {
    this.#firstRound.delete(name)
    if (this.#firstRound.size === 0) this.#onFirstRound?.()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#following?.[Symbol.dispose]()
    this.#onFirstRound?.()
    await this.#refresher[Symbol.asyncDispose]()
  }
}

/**
 * Time for which a response for one APIService is used for other APIServices of the same server.
 * Within this time, all of them are refreshed in the same round.
 */
const SHARED_MS_MAX = 10_000

const OK = 200
const NOT_MODIFIED = 304
const UNAVAILABLE = 503

const keyOf = ({ remote }: ListedApiService): string => {
  const { namespace = '', name = '', port = 0 } = remote?.service ?? {}
  return `${namespace}/${name}:${port}`
}

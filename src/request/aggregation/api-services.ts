/**
 * Watches the APIServices in the cache, and keeps one client for each remote server. A request is
 * forwarded to a remote server if the APIService of its group and version references a Service.
 * Otherwise this server handles the request.
 */
import { type InformerAccess, informByName } from '../../storage/cache/informer-by-name.ts'
import type { Informer } from '../../storage/cache/informer.ts'
import { informedStore } from '../../storage/cache/informed-store.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { type ApiService, isSameRemote, readApiService } from './api-service.ts'
import { RemoteMemory } from './remote-pool.ts'
import { Remote, type RemoteOptions } from './remote.ts'

export type ApiServicesInformerOptions = {
  /**
   * Returns access to APIServices. Returns undefined if APIServices are not served; there are then
   * no remote servers.
   */
  readonly access: () => InformerAccess | undefined
  readonly remotes: RemoteOptions
  readonly log: Log
}

/**
 * An APIService. `remote` is the remote server for its group and version, or undefined if this
 * server serves them.
 */
export type RegisteredApiService = {
  readonly service: ApiService
  readonly remote: Remote | undefined
}

/** Called for each change. `known` is undefined if the APIService was deleted. */
export type OnApiService = (name: string, known: RegisteredApiService | undefined) => void

/**
 * Name of the APIService of the legacy group. It covers all paths below /api, as in kube-apiserver.
 */
const legacyName = 'v1.'

export class ApiServicesInformer implements AsyncDisposable {
  readonly #options: ApiServicesInformerOptions
  readonly #known = new Map<string, RegisteredApiService>()
  readonly #remote = new Map<string, RegisteredApiService & { readonly remote: Remote }>()
  readonly #listeners = new Set<OnApiService>()
  readonly #memory = new RemoteMemory()
  #informer: Informer<KubeObject> | undefined

  constructor(options: ApiServicesInformerOptions) {
    this.#options = options
  }

  /**
   * Resolves when all APIServices have been loaded. It must be awaited before the first request is
   * accepted.
   */
  async start(): Promise<void> {
    const [followed] = informByName<KubeObject>(
      {
        name: 'apiservices.apiregistration.k8s.io',
        access: this.#options.access(),
        log: this.#options.log,
      },
      {
        read: (object) => object,
        set: (name, object) => this.#set(name, object),
        names: () => this.#known.keys(),
      },
    )
    this.#informer = followed
    await followed?.start()
  }

  /** Returns all APIServices, both local and remote. */
  all(): Iterable<RegisteredApiService> {
    return this.#known.values()
  }

  get(name: string): RegisteredApiService | undefined {
    return this.#known.get(name)
  }

  /** Returns the remote server for a group and version. */
  remoteOf(
    group: string,
    version: string,
  ): (RegisteredApiService & { readonly remote: Remote }) | undefined {
    if (this.#remote.size === 0) return undefined
    return this.#remote.get(group === '' ? legacyName : `${version}.${group}`)
  }

  /** Returns the remote server for a path below /apis/<group>/<version> or /api. */
  remoteAt(path: string): (RegisteredApiService & { readonly remote: Remote }) | undefined {
    if (this.#remote.size === 0) return undefined
    const [, root = '', group = '', version = ''] = path.split('/', 4)
    if (root === 'api') return this.#remote.get(legacyName)
    return root === 'apis' && group !== '' && version !== ''
      ? this.#remote.get(`${version}.${group}`)
      : undefined
  }

  /**
   * Calls the listener with every known APIService, and then with every change, including changes
   * of a condition. Returns a function that removes the listener.
   */
  onChange(listener: OnApiService): () => void {
    this.#listeners.add(listener)
    for (const [name, known] of this.#known) listener(name, known)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Returns a store whose writes resolve only after the informer of this class has received them.
   */
  informedStore(store: ObjectStore): ObjectStore {
    return informedStore(store, () => this.#informer)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#informer?.[Symbol.asyncDispose]()
    for (const { remote } of this.#remote.values()) remote.close()
  }

  #set(name: string, object: KubeObject | undefined): void {
    const before = this.#known.get(name)?.remote
    const service = object && readApiService(object)
    // As in kube-apiserver, requests for APIServices are always handled by this server. Otherwise,
    // an APIService that redirects them to another server could not be deleted.
    const spec = service?.group === 'apiregistration.k8s.io' ? undefined : service?.remote
    const isKept = before !== undefined && spec !== undefined && isSameRemote(before.spec, spec)
    const remote = isKept
      ? before
      : spec && new Remote(spec, { ...this.#options.remotes, memory: this.#memory })
    if (!isKept) before?.close()
    if (service === undefined) this.#known.delete(name)
    else this.#known.set(name, { service, remote })
    if (service === undefined || remote === undefined) this.#remote.delete(name)
    else this.#remote.set(name, { service, remote })
    for (const listener of this.#listeners) listener(name, this.#known.get(name))
  }
}

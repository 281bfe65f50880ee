/**
 * The OpenAPI documents of remote servers. For 3.0, only the index of each server is stored, and a
 * request for a document is forwarded to the server that has it. For 2.0, the paths of each
 * APIService are stored, because they are merged into one document. While a server fails, its last
 * response remains in use.
 */
import { hash } from 'node:crypto'
import { parseText } from '../../../api/json-value.ts'
import { fieldsOf, textOf } from '../../../api/object.ts'
import type { User } from '../../../api/user.ts'
import type { Log } from '../../../lib/telemetry/log.ts'
import { systemTime, type Time } from '../../../lib/time/timers.ts'
import { convertOlder } from './convert-older.ts'
import { type OlderSpec, readOlderSpec, sizeOf, withPaths } from './older-spec.ts'
import { Refresher } from './refresher.ts'
import type { ListedApiService, RemoteDocument, RemoteServers } from './remote-servers.ts'

/** Timeout of a request, as in kube-apiserver. */
const TIMEOUT_MS = 60_000
const RETRY_MS_MAX = 60 * 60_000
/** Limits for an index, which has one path for each group and version. */
const INDEX_BYTES_MAX = 1 << 20
const INDEX_KEYS_MAX = 4_096
/**
 * Maximum length of a 2.0 document. kube-apiserver's own document is 4 MB long. While a document is
 * read, it uses three times as much memory.
 */
const OLDER_BYTES_MAX = 16 << 20
/** Default size limit for the 2.0 documents of all servers together. */
const OLDER_CHARS_MAX = 64 << 20
/**
 * Maximum number of servers that are queried concurrently. If a server does not respond, it must
 * not delay the others.
 */
const WORKERS_MAX = 8

const aggregatorUser: User = { name: 'system:aggregator', uid: '', groups: [] }

/** A 3.0 document that this server generated for a remote server that supports only 2.0. */
export type ConvertedDocument = {
  readonly json: Buffer
  readonly hash: string
  readonly modifiedMs: number
}

/** Index of the 3.0 documents on the server of an APIService. */
type Index = {
  /** URLs of the documents, by key. */
  readonly urls: ReadonlyMap<string, string>
  readonly converted?: ConvertedDocument
}

/** A 2.0 document. `digest` is its hash, which is needed because some servers send no ETag. */
type Older = {
  readonly etag: string
  readonly digest: string
  readonly spec: OlderSpec
  readonly size: number
}

export type RemoteOpenApiOptions = {
  readonly servers: RemoteServers
  readonly log: Log
  readonly time?: Time
  /** Size limit for the 2.0 documents of all servers together. */
  readonly olderCharsMax?: number
}

export class RemoteOpenApi implements AsyncDisposable {
  readonly #options: RemoteOpenApiOptions
  readonly #time: Time
  readonly #services = new Map<string, ListedApiService>()
  readonly #indexes = new Map<string, Index>()
  readonly #olders = new Map<string, Older>()
  readonly #refreshers: readonly Refresher[]
  #following: Disposable | undefined
  #changes = 0

  constructor(parts: RemoteOpenApiOptions) {
    this.#options = parts
    this.#time = parts.time ?? systemTime
    const refresher = (
      version: string,
      refresh: (service: ListedApiService, signal: AbortSignal) => Promise<void>,
    ) =>
      new Refresher({
        refresh: (name, signal) => this.#tryTo(name, signal, { version, refresh }),
        workersMax: WORKERS_MAX,
        retryMsMax: RETRY_MS_MAX,
        timers: this.#time,
      })
    this.#refreshers = [
      refresher('v2', (service, signal) => this.#refreshOlder(service, signal)),
      refresher('v3', (service, signal) => this.#refreshIndex(service, signal)),
    ]
  }

  start(): void {
    this.#following = this.#options.servers.onChange((name, service) => this.#follow(name, service))
  }

  /**
   * Number of changes. Data that is derived from the documents is valid until this number changes.
   */
  get changes(): number {
    return this.#changes
  }

  /**
   * Returns the 2.0 documents in the order in which they are merged: by group priority, then by
   * name.
   */
  olderSpecs(): readonly (readonly [ListedApiService, OlderSpec])[] {
    const priorities = new Map<string, number>()
    for (const { group, groupPriorityMinimum } of this.#services.values())
      priorities.set(group, Math.max(priorities.get(group) ?? 0, groupPriorityMinimum))
    const priorityOf = ({ group }: ListedApiService): number => priorities.get(group) ?? 0
    return [...this.#services.values()]
      .toSorted((a, b) => priorityOf(b) - priorityOf(a) || (a.name < b.name ? -1 : 1))
      .flatMap((service): [ListedApiService, OlderSpec][] => {
        const older = this.#olders.get(service.name)
        return older === undefined ? [] : [[service, older.spec]]
      })
  }

  /**
   * Returns the URLs of the 3.0 documents, by key. The document for the version of an APIService
   * comes from the server of that APIService.
   */
  urls(): ReadonlyMap<string, string> {
    const urls = new Map<string, string>()
    for (const [name, { urls: own }] of this.#sortedIndexes())
      for (const [key, url] of own)
        if (!urls.has(key) || this.#isOwnKey(name, key)) urls.set(key, url)
    return urls
  }

  /** Returns the location of the document with this key. Undefined if no remote server has it. */
  find(
    key: string,
  ):
    | { readonly service: ListedApiService; readonly converted: ConvertedDocument | undefined }
    | undefined {
    const all = this.#sortedIndexes().filter(([, { urls }]) => urls.has(key))
    const [name, index] = all.find(([one]) => this.#isOwnKey(one, key)) ?? all[0] ?? []
    const service = name === undefined ? undefined : this.#services.get(name)
    return service === undefined ? undefined : { service, converted: index?.converted }
  }

  /**
   * Whether the document describes the version of an APIService and is on the server of that
   * APIService.
   */
  owns(key: string): boolean {
    const [, group = '', version = ''] = key.split('/')
    return this.#indexes.get(`${version}.${group}`)?.urls.has(key) ?? false
  }

  #sortedIndexes(): [string, Index][] {
    return [...this.#indexes].toSorted(([a], [b]) => (a < b ? -1 : 1))
  }

  #isOwnKey(name: string, key: string): boolean {
    const service = this.#services.get(name)
    return service !== undefined && keyOf(service) === key
  }

  #follow(name: string, service: ListedApiService | undefined): void {
    if (service?.remote === undefined || isOwn(service.remote.service)) {
      this.#remove(name)
      return
    }
    this.#services.set(name, service)
    for (const refresher of this.#refreshers) refresher.mark(name)
  }

  #remove(name: string): void {
    if (!this.#services.delete(name)) return
    for (const refresher of this.#refreshers) refresher.drop(name)
    const hadIndex = this.#indexes.delete(name)
    const hadOlder = this.#olders.delete(name)
    if (hadIndex || hadOlder) this.#changes++
  }

  async #tryTo(
    name: string,
    signal: AbortSignal,
    task: {
      readonly version: string
      readonly refresh: (service: ListedApiService, signal: AbortSignal) => Promise<void>
    },
  ): Promise<boolean> {
    const service = this.#services.get(name)
    if (service === undefined) return true
    try {
      await task.refresh(service, signal)
      return true
    } catch (error) {
      if (!signal.aborted)
        this.#options.log('info', 'cannot read the OpenAPI document of an aggregated API server', {
          apiService: name,
          version: task.version,
          error: String(error),
        })
      return false
    }
  }

  async #refreshIndex(service: ListedApiService, signal: AbortSignal): Promise<void> {
    const document = await this.#fetch(service, '/openapi/v3', {
      signal,
      bytesMax: INDEX_BYTES_MAX,
    })
    const index =
      document.status === NOT_FOUND
        ? await this.#convertedIndex(service, signal)
        : readIndex(document)
    if (!this.#isKnown(service) || index === undefined) return
    const before = this.#indexes.get(service.name)
    if (before !== undefined && isSame(before.urls, index.urls)) return
    this.#indexes.set(service.name, index)
    this.#changes++
  }

  async #convertedIndex(
    service: ListedApiService,
    signal: AbortSignal,
  ): Promise<Index | undefined> {
    const document = await this.#fetch(service, '/openapi/v2', {
      signal,
      bytesMax: OLDER_BYTES_MAX,
    })
    if (document.status === NOT_FOUND) return undefined
    requireOk(document)
    const made = await convertOlder(await readOlderSpec(document.body))
    const key = keyOf(service)
    const urls = new Map([[key, `/openapi/v3/${key}?hash=${made.hash}`]])
    return { urls, converted: { ...made, modifiedMs: this.#time.wallMs() } }
  }

  async #refreshOlder(service: ListedApiService, signal: AbortSignal): Promise<void> {
    const known = this.#olders.get(service.name)
    const options = { signal, bytesMax: OLDER_BYTES_MAX, etag: known?.etag }
    const document = await this.#fetch(service, '/openapi/v2', options)
    // A server that does not have the document adds no paths. If it had a document before, that
    // document is retained, as in kube-apiserver.
    if (document.status === NOT_FOUND || (document.status === NOT_MODIFIED && known !== undefined))
      return
    requireOk(document)
    const digest = hash('sha256', document.body)
    if (known?.digest === digest) return
    const prefix = `/${keyOf(service)}/`
    const spec = await withPaths(await readOlderSpec(document.body), (path) =>
      path.startsWith(prefix),
    )
    if (!this.#isKnown(service)) return
    const size = sizeOf(spec)
    let others = 0
    for (const [name, older] of this.#olders) if (name !== service.name) others += older.size
    const { olderCharsMax = OLDER_CHARS_MAX } = this.#options
    if (others + size > olderCharsMax)
      throw new Error(`the documents of all servers have more than ${olderCharsMax} characters`)
    this.#olders.set(service.name, { etag: document.etag, digest, spec, size })
    this.#changes++
  }

  #fetch(
    service: ListedApiService,
    path: string,
    options: {
      readonly signal: AbortSignal
      readonly bytesMax: number
      readonly etag?: string | undefined
    },
  ): Promise<RemoteDocument> {
    const asked = {
      accept: 'application/json',
      user: aggregatorUser,
      timeoutMs: TIMEOUT_MS,
      ...options,
    }
    return this.#options.servers.fetch(service, path, asked)
  }

  /**
   * Whether the APIService is unchanged. If it changed during the request, its server is queried
   * again.
   */
  #isKnown(service: ListedApiService): boolean {
    return this.#services.get(service.name) === service
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#following?.[Symbol.dispose]()
    await Promise.all(this.#refreshers.map((one) => one[Symbol.asyncDispose]()))
  }
}

const OK = 200
const NOT_MODIFIED = 304
const NOT_FOUND = 404

/** Whether the service is this server, which must not request its own documents. */
const isOwn = ({
  namespace,
  name,
}: {
  readonly namespace: string
  readonly name: string
}): boolean => namespace === 'default' && name === 'kubernetes'

function requireOk({ status }: RemoteDocument): void {
  if (status !== OK) throw new Error(`the server sent status ${status}`)
}

function readIndex(document: RemoteDocument): Index {
  requireOk(document)
  const { paths } = fieldsOf(parseText(document.body.toString()))
  const entries = Object.entries(fieldsOf(paths))
  if (entries.length > INDEX_KEYS_MAX)
    throw new Error(`the index has more than ${INDEX_KEYS_MAX} documents`)
  return {
    urls: new Map(
      entries.map(([key, value]) => [key, textOf(fieldsOf(value)['serverRelativeURL'])]),
    ),
  }
}

const keyOf = ({ group, version }: ListedApiService): string => `apis/${group}/${version}`

const isSame = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean =>
  one.size === other.size && [...one].every(([key, url]) => other.get(key) === url)

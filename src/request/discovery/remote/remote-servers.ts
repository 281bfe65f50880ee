/**
 * The interface through which the discovery and OpenAPI documents use APIServices and aggregated
 * API servers. The aggregated API servers that APIServices reference are called remote servers
 * here.
 */
import type { User } from '../../../api/user.ts'

/**
 * An APIService. It defines the priorities of a version in discovery, and the server of that
 * version.
 */
export type ListedApiService = {
  /** The name, which is `<version>.<group>`. */
  readonly name: string
  readonly group: string
  readonly version: string
  readonly groupPriorityMinimum: number
  readonly versionPriority: number
  /** The remote server of the version. Undefined if this server serves the version. */
  readonly remote: { readonly service: ServiceId } | undefined
  /** Whether the Available condition of the APIService is True. */
  readonly isAvailable: boolean
  /**
   * Whether this server creates and deletes the APIService, for a version that it serves itself.
   */
  readonly isManaged: boolean
}

type ServiceId = { readonly namespace: string; readonly name: string; readonly port: number }

export type DocumentRequest = {
  readonly accept: string
  /** The ETag of the document from the previous response. */
  readonly etag?: string | undefined
  /** The user of the request. The request contains headers that identify the user. */
  readonly user: User
  readonly timeoutMs: number
  /** Maximum length of the response. A longer response is an error. */
  readonly bytesMax: number
  readonly signal: AbortSignal
}

export type RemoteDocument = {
  readonly status: number
  /** The Content-Type header. Empty if it is absent. */
  readonly type: string
  readonly etag: string
  readonly body: Buffer
}

/**
 * Called with an APIService that was added or changed. `service` is undefined if it was deleted.
 */
export type OnListedApiService = (name: string, service: ListedApiService | undefined) => void

export type RemoteServers = {
  /** Returns all APIServices, including local ones. */
  readonly list: () => Iterable<ListedApiService>
  /** Returns the number of changes to APIServices so far. */
  readonly changes: () => number
  /**
   * Calls the listener with all existing APIServices, and then with every change, including changes
   * of a condition.
   */
  readonly onChange: (listener: OnListedApiService) => Disposable
  /**
   * Sends a request to the server of an APIService, even if that server is marked as unavailable.
   * Fails if the server cannot be reached.
   */
  readonly fetch: (
    service: ListedApiService,
    path: string,
    asked: DocumentRequest,
  ) => Promise<RemoteDocument>
}

/** An implementation without remote servers, for a server without an aggregation layer. */
export const noRemoteServers: RemoteServers = {
  list: () => [],
  changes: () => 0,
  onChange: () => ({ [Symbol.dispose]: () => undefined }),
  fetch: async ({ name }) => {
    throw new Error(`${name} has no remote server`)
  },
}

/**
 * The access of this server's documents to APIServices, and to the aggregated API servers that they
 * name, which are called remote servers here.
 */
import type { User } from '../../../api/user.ts'

/** An APIService: where discovery lists a version of a group, and which server has it. */
export type ListedApiService = {
  /** The name, which is `<version>.<group>`. */
  readonly name: string
  readonly group: string
  readonly version: string
  readonly groupPriorityMinimum: number
  readonly versionPriority: number
  /** Undefined if this server has the version. */
  readonly remote: { readonly service: ServiceId } | undefined
  /** Whether its condition Available is True. */
  readonly isAvailable: boolean
  /**
   * Whether this server creates and deletes the APIService, for a version that it serves itself.
   */
  readonly isManaged: boolean
}

type ServiceId = { readonly namespace: string; readonly name: string; readonly port: number }

export type DocumentRequest = {
  readonly accept: string
  /** The ETag of the document that is already known. */
  readonly etag?: string | undefined
  /** The user of the request, which its headers name. */
  readonly user: User
  readonly timeoutMs: number
  /** A longer response is a failure. */
  readonly bytesMax: number
  readonly signal: AbortSignal
}

export type RemoteDocument = {
  readonly status: number
  /** The Content-Type header, or empty if there is none. */
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
  /** Returns how often they have changed. */
  readonly changes: () => number
  /**
   * Calls the listener with all existing APIServices, and then with every change, including changes
   * of a condition.
   */
  readonly onChange: (listener: OnListedApiService) => Disposable
  /**
   * Sends a request to the server of an APIService, whether available or not. Fails if the server
   * cannot be reached.
   */
  readonly fetch: (
    service: ListedApiService,
    path: string,
    asked: DocumentRequest,
  ) => Promise<RemoteDocument>
}

/** The remote servers of a server without aggregation. */
export const noRemoteServers: RemoteServers = {
  list: () => [],
  changes: () => 0,
  onChange: () => ({ [Symbol.dispose]: () => undefined }),
  fetch: async ({ name }) => {
    throw new Error(`${name} has no remote server`)
  },
}

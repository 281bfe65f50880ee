/**
 * What the documents of this server need of APIServices, and of the remote servers that they name.
 */
import type { User } from '../../../api/user.ts'

/** An APIService: where discovery lists a version of a group, and which server has it. */
export type ListedApiService = {
  /** `<version>.<group>` */
  readonly name: string
  readonly group: string
  readonly version: string
  readonly groupPriorityMinimum: number
  readonly versionPriority: number
  /** Undefined: this server has it. */
  readonly remote: { readonly service: ServiceId } | undefined
  /** Whether its condition Available is True. */
  readonly isAvailable: boolean
  /** Whether this server creates and deletes it, for what it serves itself. */
  readonly isManaged: boolean
}

type ServiceId = { readonly namespace: string; readonly name: string; readonly port: number }

export type DocumentRequest = {
  readonly accept: string
  /** Of what is known. */
  readonly etag?: string | undefined
  /** Who asks, in the words of request headers. */
  readonly user: User
  readonly timeoutMs: number
  /** A longer answer is a failure. */
  readonly bytesMax: number
  readonly signal: AbortSignal
}

export type RemoteDocument = {
  readonly status: number
  /** The header; empty: none. */
  readonly type: string
  readonly etag: string
  readonly body: Buffer
}

/** `service`: undefined: it is deleted. */
export type OnListedApiService = (name: string, service: ListedApiService | undefined) => void

export type RemoteServers = {
  /** All APIServices, local ones too. */
  readonly list: () => Iterable<ListedApiService>
  /** How often they have changed. */
  readonly changes: () => number
  /** Calls back with every change, also of a condition, and first with all that there are. */
  readonly onChange: (listener: OnListedApiService) => Disposable
  /** Asks the server of an APIService, available or not. Fails if it cannot be reached. */
  readonly fetch: (
    service: ListedApiService,
    path: string,
    asked: DocumentRequest,
  ) => Promise<RemoteDocument>
}

/** For a server without aggregation. */
export const noRemoteServers: RemoteServers = {
  list: () => [],
  changes: () => 0,
  onChange: () => ({ [Symbol.dispose]: () => undefined }),
  fetch: async ({ name }) => {
    throw new Error(`${name} has no remote server`)
  },
}

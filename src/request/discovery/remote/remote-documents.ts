/** Access to the parts of this server's documents that come from remote servers. */
import type { RequestContext } from '../../../api/context.ts'
import type { ApiRequest, ApiResponse } from '../../../api/request.ts'
import type { RemoteDiscovery } from './remote-discovery.ts'
import type { RemoteOpenApi } from './remote-openapi.ts'
import type { ListedApiService, RemoteServers } from './remote-servers.ts'

export type RemoteDocuments = {
  readonly servers: RemoteServers
  readonly discovery: RemoteDiscovery
  readonly openApi: RemoteOpenApi
  /** Forwards a request to the server of an APIService. */
  readonly handOn: (
    service: ListedApiService,
    request: ApiRequest,
    context: RequestContext,
  ) => Promise<ApiResponse>
}

/** What documents of this server say about remote ones. */
import type { RequestContext } from '../../../api/context.ts'
import type { ApiRequest, ApiResponse } from '../../../api/request.ts'
import type { RemoteDiscovery } from './remote-discovery.ts'
import type { RemoteOpenApi } from './remote-openapi.ts'
import type { ListedApiService, RemoteServers } from './remote-servers.ts'

export type RemoteDocuments = {
  readonly servers: RemoteServers
  readonly discovery: RemoteDiscovery
  readonly openApi: RemoteOpenApi
  /** Hands a request on to the server of an APIService. */
  readonly handOn: (
    service: ListedApiService,
    request: ApiRequest,
    context: RequestContext,
  ) => Promise<ApiResponse>
}

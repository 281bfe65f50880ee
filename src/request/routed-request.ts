import type { RequestContext } from '../api/context.ts'
import type { ApiRequest } from '../api/request.ts'
import type { ResourceRequest } from './resource-request.ts'

/**
 * An authorized request, together with its target: a document, an aggregated API server or a
 * resource.
 */
export type RoutedRequest =
  | { readonly kind: 'path'; readonly http: ApiRequest; readonly context: RequestContext }
  | { readonly kind: 'remote'; readonly http: ApiRequest; readonly context: RequestContext }
  | ({ readonly kind: 'resource' } & ResourceRequest)

import type { RequestContext } from '../api/context.ts'
import type { ApiRequest } from '../api/request.ts'
import type { ResourceRequest } from './resource-request.ts'

/** An authorized request and what serves it: a document, an aggregated server or a resource. */
export type RoutedRequest =
  | { readonly kind: 'path'; readonly http: ApiRequest; readonly context: RequestContext }
  | { readonly kind: 'remote'; readonly http: ApiRequest; readonly context: RequestContext }
  | ({ readonly kind: 'resource' } & ResourceRequest)

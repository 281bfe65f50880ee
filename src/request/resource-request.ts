import type { RequestContext } from '../api/context.ts'
import type { ApiRequest } from '../api/request.ts'
import type { User } from '../api/user.ts'
import type { Resource, Verb } from '../registry/resource.ts'

/** An authorized request for a resource, with its user and verb. */
export type ResourceRequest = {
  readonly verb: Verb
  readonly resource: Resource
  /** Empty: all namespaces, or a cluster-scoped resource. */
  readonly namespace: string
  /** Empty for collections; a watch through the deprecated path may have one. */
  readonly name: string
  /** Empty: the object itself. */
  readonly subresource: string
  readonly user: User
  readonly context: RequestContext
  readonly http: ApiRequest
}

import type { RequestContext } from '../api/context.ts'
import type { ApiRequest } from '../api/request.ts'
import type { User } from '../api/user.ts'
import type { Resource, Verb, View } from '../registry/resource.ts'

/** An authorized request for a resource, with its user and verb. */
export type ResourceRequest = {
  readonly verb: Verb
  readonly resource: Resource
  /**
   * Namespace in the path. Empty for requests across all namespaces, and for cluster-scoped
   * resources.
   */
  readonly namespace: string
  /**
   * Name in the path. Empty for collections, except on the deprecated watch path, which may have a
   * name.
   */
  readonly name: string
  /** Subresource in the path. Empty for the object itself. */
  readonly subresource: string
  /**
   * The view that the path selects, such as a Scale. Undefined if the path selects the objects
   * themselves.
   */
  readonly view: View | undefined
  readonly user: User
  readonly context: RequestContext
  readonly http: ApiRequest
}

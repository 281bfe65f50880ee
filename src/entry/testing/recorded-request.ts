import type { ResourceInfo } from '../../api/context.ts'

/** A request as the history records it, with its target and its sender. */
export type RecordedRequest = {
  /** The time according to the clock of the cluster. */
  readonly time: Date
  /**
   * The verb of the request, such as `create`, `update`, `patch` or `delete`. Empty if the change
   * was not made by a request, for example if an Event expired.
   */
  readonly verb: string
  /** The plural name, such as `configmaps`. */
  readonly resource: string
  /** The API group. Empty for the core group. */
  readonly group: string
  /** The subresource of the request. Empty for the object itself. */
  readonly subresource: string
  /** The namespace. Empty if the resource is not namespaced. */
  readonly namespace: string
  /** The name of the object. Empty if the request does not name an object, such as a list. */
  readonly name: string
  /**
   * The origin of the request. `client` is a client of the cluster. `test` is `cluster.request` or
   * `restore`. `server` is the server itself, including its controllers.
   */
  readonly source: 'client' | 'test' | 'server'
  /** The user of the request, or undefined if the user is not known. */
  readonly user: { readonly name: string; readonly groups: readonly string[] } | undefined
  readonly userAgent: string
  /**
   * The field manager of the request or, if the request specifies none, the default field manager
   * for its user agent. Empty if there was no request.
   */
  readonly fieldManager: string
}

/** Selects requests. An absent field matches all requests. */
export type HistoryFilter = {
  readonly resource?: string
  readonly group?: string
  readonly namespace?: string
  readonly name?: string
  readonly user?: string
  readonly verb?: string
  readonly source?: RecordedRequest['source']
  /** Selects only requests after this resourceVersion. */
  readonly after?: string
}

/**
 * The fields of a recorded request that describe the request itself and not an object. If a request
 * causes several writes, they all have the same values.
 */
export type RequestSender = Pick<
  RecordedRequest,
  'verb' | 'subresource' | 'source' | 'user' | 'userAgent' | 'fieldManager'
>

export type RequestTarget = Pick<RecordedRequest, 'resource' | 'group' | 'namespace' | 'name'>

/**
 * Returns the target of a request. In the path of a Namespace, its own name is the namespace, but
 * the target has no namespace, because Namespaces are cluster-scoped.
 */
export const targetOf = ({ plural, group, namespace, name }: ResourceInfo): RequestTarget => ({
  resource: plural,
  group,
  namespace: group === '' && plural === 'namespaces' ? '' : namespace,
  name,
})

/** Whether a recorded request matches a filter. Does not compare `group` and `after`. */
export function isMatchButGroup(
  one: Omit<RequestTarget & RequestSender, 'group'>,
  { resource, namespace, name, user, verb, source }: HistoryFilter,
): boolean {
  return (
    (resource === undefined || resource === one.resource) &&
    (namespace === undefined || namespace === one.namespace) &&
    (name === undefined || name === one.name) &&
    (user === undefined || user === one.user?.name) &&
    (verb === undefined || verb === one.verb) &&
    (source === undefined || source === one.source)
  )
}

/** Returns the number of characters that these fields of a recorded request occupy in memory. */
export function charactersOf({ userAgent, fieldManager, user }: RequestSender): number {
  const texts = [userAgent, fieldManager, user?.name ?? '', ...(user?.groups ?? [])]
  return texts.reduce((sum, { length }) => sum + length, 0)
}

/** The estimated size of a recorded request, excluding its data. */
export const ENTRY_BYTES = 256

/**
 * Labels that identify a request in kube-apiserver's metrics: its verb and scope and, for the few
 * paths that are counted, its path.
 */
import type { RequestInfo } from '../../api/context.ts'
import type { ApiRequest } from '../../api/request.ts'

/**
 * Verbs for which kube-apiserver's metrics report the HTTP method. The verb deletecollection is
 * also reported as DELETE.
 */
const reported: { readonly [verb: string]: string } = {
  create: 'POST',
  update: 'PUT',
  deletecollection: 'DELETE',
}
/** Subresources whose requests are reported as CONNECT, for all verbs. */
const connecting: ReadonlySet<string> = new Set(['log', 'exec', 'portforward', 'attach', 'proxy'])
const applyType = 'application/apply-patch+yaml'
const methods: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

type ReportedTarget = {
  readonly verb: string
  readonly subresource: string
  readonly name: string
  readonly namespace: string
}

export function reportedVerb(
  { verb, subresource }: Pick<ReportedTarget, 'verb' | 'subresource'>,
  http: ApiRequest,
): string {
  if (subresource !== '' && connecting.has(subresource)) return 'CONNECT'
  if (verb === 'patch') return http.headers['content-type'] === applyType ? 'APPLY' : 'PATCH'
  return reported[verb] ?? verb.toUpperCase()
}

export const reportedScope = ({
  verb,
  name,
  namespace,
}: Omit<ReportedTarget, 'subresource'>): string =>
  name !== '' || verb === 'create' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster'

/**
 * Returns the value of the label `dry_run`. kube-apiserver joins all values of the parameter,
 * although only `All` is valid.
 */
export function reportedDryRun({ query }: Pick<ApiRequest, 'query'>): string {
  const value = query.get('dryRun') ?? ''
  return value === '' || value === 'All' ? value : 'invalid'
}

const fieldValidations: ReadonlySet<string> = new Set(['', 'Ignore', 'Warn', 'Strict'])

export function reportedFieldValidation({ query }: Pick<ApiRequest, 'query'>): string {
  const value = query.get('fieldValidation') ?? ''
  return fieldValidations.has(value) ? value : 'invalid'
}

export const reportedMethod = (method: string): string =>
  method === 'HEAD' ? 'GET' : methods.has(method) ? method : 'other'

export type CountedPath = { readonly subresource: string; readonly component: string }

/**
 * Returns the labels for a path without a resource, or undefined if kube-apiserver does not count
 * requests for the path. For `/api` and `/apis`, kube-apiserver counts only requests for aggregated
 * discovery.
 */
export function countedPath(path: string): CountedPath | undefined {
  switch (path) {
    case '/healthz':
    case '/livez':
    case '/readyz':
      return { subresource: path, component: '' }
    case '/api':
    case '/apis':
      return { subresource: path.slice(1), component: 'apiserver' }
    case '/openapi/v3':
      return { subresource: 'openapi/v3', component: '' }
    default:
      return path.startsWith('/openapi/v3/')
        ? { subresource: 'openapi/v3/', component: '' }
        : undefined
  }
}

/**
 * Returns the labels of a request for an unavailable aggregated API server. For a path without a
 * resource, the path is reported as the subresource, as in kube-apiserver.
 */
export function remoteRequest(http: ApiRequest, info: RequestInfo | undefined): EndedRequestLabels {
  if (info?.kind === 'resource') return endedRequest(http, info, () => true)
  const none = { group: '', version: '', resource: '', scope: '' }
  return { ...none, subresource: http.path, verb: reportedMethod(http.method) }
}

/** Labels of a request that ended before the server knew whether the resource exists. */
export type EndedRequestLabels = {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly scope: string
  readonly verb: string
}

/**
 * Returns the labels of an ended request. `isServed` is whether the resource exists. All requests
 * for unknown resources share the same labels, so that clients cannot create an unlimited number of
 * series.
 */
export function endedRequest(
  http: ApiRequest,
  info: RequestInfo | undefined,
  isServed: (info: RequestInfo & { kind: 'resource' }) => boolean,
): EndedRequestLabels {
  const none = { group: '', version: '', resource: '', subresource: '', scope: '' }
  if (info?.kind !== 'resource') return { ...none, verb: reportedMethod(http.method) }
  if (!isServed(info))
    return { ...none, scope: reportedScope(info), verb: reportedMethod(http.method) }
  const { group, version, plural: resource, subresource } = info
  const verb = info.verb === '' ? 'other' : reportedVerb(info, http)
  return { group, version, resource, subresource, scope: reportedScope(info), verb }
}

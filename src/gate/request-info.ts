/**
 * What a request is about, read from its method, path and query alone: nothing is looked up. Access is decided on this,
 * so that who has no rights does not learn what exists.
 */
import { ApiError, noRequestInfo } from '../api/errors.ts'
import { parseFieldSelector } from '../api/field-selector.ts'
import { checkPathSegment } from '../api/names.ts'
import type { ApiRequest } from '../api/request.ts'

export type RequestInfo = PathInfo | ResourceInfo

/** A path outside of the resources: discovery, health. */
export type PathInfo = { readonly kind: 'path'; readonly verb: string; readonly path: string }

export type ResourceInfo = {
  readonly kind: 'resource'
  /** A Kubernetes verb; empty for a method that means none. */
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly subresource: string
  /** Empty: none was named. */
  readonly namespace: string
  /** From the path, or, for lists and watches, the one name that a field selector lets through. */
  readonly name: string
  /** Whether the path goes through a namespace, rather than to one. */
  readonly isInNamespace: boolean
  /** Whether the name stands in the path. */
  readonly isNamed: boolean
  /** `/watch/…`: the old way to ask for a watch. */
  readonly isWatchPath: boolean
}

const verbOfMethod: { readonly [method: string]: string } = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** Below a namespace these are parts of the namespace itself, not resources in it. */
const namespaceSubresources: ReadonlySet<string> = new Set(['status', 'finalize'])

type Request = Pick<ApiRequest, 'method' | 'path' | 'query'>

export function requestInfo(request: Request): RequestInfo {
  const { method, path } = request
  const parts = path.replace(/^\/+|\/+$/g, '').split('/')
  const [root, ...rest] = parts
  const isCore = root === 'api'
  if ((!isCore && root !== 'apis') || rest.length < (isCore ? 2 : 3)) {
    return { kind: 'path', verb: method.toLowerCase(), path }
  }
  const group = isCore ? '' : (rest.shift() ?? '')
  const version = rest.shift() ?? ''
  const isWatchPath = rest[0] === 'watch'
  if (isWatchPath) rest.shift()
  if (rest.length === 0) throw noRequestInfo(path)
  const { namespace, isInNamespace, segments } = splitNamespace(rest)
  const [plural = '', name = '', subresource = ''] = segments
  const verb = isWatchPath ? 'watch' : resolveVerb(request, name)
  const isCollection = verb === 'list' || verb === 'watch'
  return {
    kind: 'resource',
    verb,
    group,
    version,
    plural,
    subresource,
    namespace,
    name: name === '' && isCollection ? nameInSelector(request.query) : name,
    isInNamespace,
    isNamed: name !== '',
    isWatchPath,
  }
}

/** `namespaces/x/pods` is about pods in x, `namespaces/x` and `namespaces/x/status` are about x itself. */
function splitNamespace(parts: readonly string[]): Pick<ResourceInfo, 'namespace' | 'isInNamespace'> & {
  segments: readonly string[]
} {
  if (parts[0] !== 'namespaces') return { namespace: '', isInNamespace: false, segments: parts }
  const [, namespace = '', next = ''] = parts
  const isInside = parts.length > 2 && !namespaceSubresources.has(next)
  return { namespace, isInNamespace: isInside && namespace !== '', segments: isInside ? parts.slice(2) : parts }
}

function resolveVerb({ method, query }: Request, name: string): string {
  const verb = verbOfMethod[method] ?? ''
  if (name !== '') return verb
  if (verb === 'get') return isTrue(query.get('watch')) ? 'watch' : 'list'
  return verb === 'delete' ? 'deletecollection' : verb
}

/** Any value but these two is a yes, the empty one too. */
const isTrue = (value: string | null): boolean => value !== null && value.toLowerCase() !== 'false' && value !== '0'

function nameInSelector(query: URLSearchParams): string {
  try {
    const terms = parseFieldSelector(query.get('fieldSelector') ?? '')
    const name = terms.find(({ field, isEqual }) => field === 'metadata.name' && isEqual)?.value ?? ''
    return checkPathSegment(name).length === 0 ? name : ''
  } catch (error) {
    // A selector that cannot be read names nobody here; the verb refuses it.
    if (error instanceof ApiError) return ''
    throw error
  }
}

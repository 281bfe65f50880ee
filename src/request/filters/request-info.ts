/**
 * Derives the RequestInfo of a request from its method, path and query, without looking up whether
 * the resource exists. Authorization uses only the RequestInfo, so that a caller without access
 * cannot find out which resources exist.
 */
import type { AccessSelectors } from '../../api/access.ts'
import { accessSelectors, SELECTOR_CHARACTERS_MAX } from '../../api/access-selectors.ts'
import type { RequestInfo, ResourceInfo } from '../../api/context.ts'
import { ApiError, noRequestInfo } from '../../api/errors.ts'
import { parseFieldSelector } from '../../api/field-selector.ts'
import { parseLabelSelector } from '../../api/label-selector.ts'
import { checkPathSegment } from '../../api/names.ts'
import type { ApiRequest } from '../../api/request.ts'
import { parseBoolean } from '../verbs/options.ts'

/** Verbs by method. This is a Map because a method can be any token, such as `constructor`. */
const verbOfMethod: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
])

/**
 * Path segments after the version that determine the verb, as in `/api/v1/watch/pods`. They were
 * used in the first releases of Kubernetes.
 */
const verbWords: ReadonlySet<string> = new Set(['watch', 'proxy'])
/**
 * Subresources of a namespace. In a path, they follow the name of the namespace, like the resources
 * in the namespace.
 */
export const namespaceSubresources: ReadonlySet<string> = new Set(['status', 'finalize'])

type Request = Pick<ApiRequest, 'method' | 'path' | 'query'>

/**
 * Parses a request. Throws a TextError if the path ends after a segment that determines the verb,
 * as in `/api/v1/watch`.
 */
export function requestInfo(request: Request): RequestInfo {
  const { method, path } = request
  const parts = splitPath(path)
  const isCore = parts[0] === 'api'
  if ((!isCore && parts[0] !== 'apis') || parts.length < (isCore ? 3 : 4)) {
    return { kind: 'path', verb: method.toLowerCase(), path }
  }
  const group = isCore ? '' : (parts[1] ?? '')
  const version = parts[isCore ? 1 : 2] ?? ''
  const rest = parts.slice(isCore ? 2 : 3)
  const word = rest[0] ?? ''
  if (!verbWords.has(word)) return resourceInfo(request, { group, version, segments: rest })
  if (rest.length === 1) throw noRequestInfo(path)
  return resourceInfo(request, { group, version, segments: rest.slice(1), verbWord: word })
}

/**
 * Splits a path into segments. Slashes at both ends of the path are ignored. All other slashes
 * separate segments, which can be empty. Segments beyond the maximum are dropped.
 */
function splitPath(path: string): string[] {
  let from = 0
  let to = path.length
  while (path.charCodeAt(from) === SLASH) from++
  while (to > from && path.charCodeAt(to - 1) === SLASH) to--
  return path.slice(from, to).split('/', SEGMENTS_MAX)
}

const SLASH = 0x2f
/**
 * Maximum number of path segments that are read. The first nine determine the resource and the
 * verb, and a path with a tenth segment does not exist.
 */
const SEGMENTS_MAX = 16

type ResourcePath = {
  readonly group: string
  readonly version: string
  readonly segments: readonly string[]
  readonly verbWord?: string
}

function resourceInfo(
  request: Request,
  { group, version, segments, verbWord }: ResourcePath,
): ResourceInfo {
  const { namespace, own } = splitNamespace(segments)
  const [plural = '', name = '', subresource = ''] = own
  const verb = verbWord ?? resolveVerb(request, name)
  const isCollection =
    verbWord === undefined && name === '' && (verb === 'list' || verb === 'watch')
  return {
    kind: 'resource',
    verb,
    group,
    version,
    plural,
    subresource: verbWord === 'proxy' ? '' : subresource,
    namespace,
    name: isCollection ? nameInSelector(request.query) : name,
    segments,
    isWatchPath: verbWord === 'watch',
    selectors: verbWord === undefined && isOfMany(verb) ? selectorsOf(request.query) : undefined,
  }
}

const isOfMany = (verb: string): boolean =>
  verb === 'list' || verb === 'watch' || verb === 'deletecollection'

/**
 * Splits off the namespace. `namespaces/x/pods` refers to pods in the namespace x, but
 * `namespaces/x` and `namespaces/x/status` refer to the namespace itself.
 */
function splitNamespace(segments: readonly string[]): {
  namespace: string
  own: readonly string[]
} {
  if (segments[0] !== 'namespaces') return { namespace: '', own: segments }
  const [, namespace = '', next = ''] = segments
  const isInside = segments.length > 2 && !namespaceSubresources.has(next)
  return { namespace, own: isInside ? segments.slice(2) : segments }
}

function resolveVerb({ method, query }: Request, name: string): string {
  const verb = verbOfMethod.get(method) ?? ''
  if (name !== '') return verb
  if (verb === 'get') return parseBoolean(query.get('watch')) ? 'watch' : 'list'
  return verb === 'delete' ? 'deletecollection' : verb
}

/**
 * Returns the name that the field selector requires. If the query cannot be parsed, the name is
 * empty, and the handler of the verb rejects the query later.
 */
function nameInSelector(query: URLSearchParams): string {
  const selector = query.get('fieldSelector') ?? ''
  if (!selector.includes('metadata.name')) return ''
  const labelSelector = query.get('labelSelector') ?? ''
  if (selector.length > SELECTOR_CHARACTERS_MAX || labelSelector.length > SELECTOR_CHARACTERS_MAX)
    return ''
  try {
    const terms = parseFieldSelector(selector)
    const name =
      terms.find(({ field, isEqual }) => field === 'metadata.name' && isEqual)?.value ?? ''
    if (name === '' || checkPathSegment(name).length > 0) return ''
    parseLabelSelector(labelSelector)
    return integerOptions.every((option) => isInteger(query.get(option))) ? name : ''
  } catch (error) {
    if (error instanceof ApiError) return ''
    throw error
  }
}

/**
 * Returns the selectors for authorization. They are left out for the deprecated watch paths,
 * because requests to some of these paths ignore selectors.
 */
const selectorsOf = (query: URLSearchParams): (() => AccessSelectors) | undefined =>
  accessSelectors(query.get('fieldSelector') ?? '', query.get('labelSelector') ?? '')

const integerOptions = ['limit', 'timeoutSeconds'] as const
const isInteger = (text: string | null): boolean =>
  text === null || text === '' || /^[+-]?\d{1,18}$/.test(text)

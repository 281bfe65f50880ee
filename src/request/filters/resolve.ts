/**
 * The router: maps path segments and method to a resource and a verb. In the same order as
 * kube-apiserver, it checks that the path exists, that the path supports the method, and that the
 * names in the path are valid.
 */
import type { ResourceInfo } from '../../api/context.ts'
import {
  badRequest,
  CREATES_FORBIDDEN_SINCE,
  crdTerminating,
  methodNotAllowed,
  noSuchMethod,
  noSuchResource,
  notFound,
  pageNotFound,
} from '../../api/errors.ts'
import { checkPathSegment } from '../../api/names.ts'
import { quote } from '../../api/quote.ts'
import type { Registry } from '../../registry/registry.ts'
import { type Resource, type Verb, type View, viewOf } from '../../registry/resource.ts'
import { namespaceSubresources } from './request-info.ts'

export type Route = {
  readonly resource: Resource
  readonly verb: Verb
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  readonly view: View | undefined
  /**
   * The reason why the request fails although the resource exists. A deprecation warning for the
   * resource is still sent.
   */
  readonly fault?: Error
}

/**
 * Finds the resource and the verb. Fails if the path does not exist or does not support the method.
 */
export function resolve(info: ResourceInfo, method: string, registry: Registry): Route {
  // The old proxy paths of pods and services are not served, but requests for them are still
  // authorized with the `proxy` verb.
  const place = info.verb === 'proxy' ? undefined : findPlace(info, registry)
  if (place === undefined)
    throw hasBuiltIn(registry, info.group) ? noSuchResource() : pageNotFound()
  if (place.resource.isCustom) return resolveCustom(place, info, method)
  const verbs = verbsAt(place, info)
  if (verbs.length === 0) throw noSuchResource()
  const verb = verbFor(method, { place, isWatch: info.isWatchPath || info.verb === 'watch' })
  if (verb === 'watch' && !verbs.includes(verb) && verbs.includes('list'))
    throw methodNotAllowed(place.resource, verb)
  if (verb === undefined || !verbs.includes(verb)) throw noSuchMethod()
  const { resource, namespace, name, subresource, view } = place
  checkSegments(place)
  return { resource, verb, namespace, name, subresource, view }
}

type ResourceTarget = {
  readonly resource: Resource
  readonly scope: 'cluster' | 'namespace' | 'all-namespaces'
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  readonly view: View | undefined
  readonly isNamed: boolean
}

/**
 * Finds the target of a path. The path consists of at most `plural/name/subresource`, optionally
 * after `namespaces/x`. The segments after `proxy` are the path on the proxied server.
 */
function findPlace(
  { group, version, segments }: ResourceInfo,
  registry: Registry,
): ResourceTarget | undefined {
  const [first = '', second = '', third = ''] = segments
  // This code must find the same namespace and resource as request-info.ts, because the RequestInfo
  // was authorized. `namespaces/x/status` is not a resource in the namespace, even if more segments
  // follow.
  const isInside =
    first === 'namespaces' && segments.length > 2 && !namespaceSubresources.has(third)
  const own = isInside ? segments.slice(2) : segments
  const [plural = '', name = '', subresource = ''] = own
  const resource = registry.find({ group, version, plural })
  if (
    resource === undefined ||
    (own.length > 3 && subresource !== 'proxy') ||
    (own.length > 1 && name === '')
  )
    return undefined
  if (isInside !== resource.isNamespaced && (isInside || own.length > 1)) return undefined
  const scope = isInside ? 'namespace' : resource.isNamespaced ? 'all-namespaces' : 'cluster'
  return {
    resource,
    scope,
    namespace: isInside ? second : '',
    name,
    subresource,
    view: viewOf({ resource, subresource }),
    isNamed: own.length > 1,
  }
}

const hasBuiltIn = (registry: Registry, group: string): boolean =>
  registry.inGroup(group).some((resource) => !resource.isCustom)

/**
 * Resolves a request for a custom resource. As in kube-apiserver, custom resources have a separate
 * router with different error messages.
 */
function resolveCustom(place: ResourceTarget, info: ResourceInfo, sent: string): Route {
  // The router of custom resources uses the verb of RequestInfo, which is the same for HEAD and
  // GET. The router of built-in resources uses the method, and does not support HEAD.
  const method = sent === 'HEAD' ? 'GET' : sent
  const { resource, scope, namespace, name, subresource, view, isNamed } = place
  const isWatch = info.isWatchPath || info.verb === 'watch'
  if (isWatch && sent === 'HEAD') throw noSuchMethod()
  // The verb that is executed must be the authorized verb. For the deprecated watch paths, the verb
  // is always watch, regardless of the method.
  const verb = info.isWatchPath
    ? 'watch'
    : method === 'POST' && isNamed
      ? 'create'
      : verbFor(method, { place, isWatch })
  if (scope === 'all-namespaces' && method !== 'GET') throw pageNotFound()
  if (info.isWatchPath && subresource !== '') throw pageNotFound()
  checkSegments(place)
  const fault = subresource === '' ? undefined : customPartFault(place, verb)
  if (fault === undefined && verb === undefined)
    throw method === 'PUT' || method === 'PATCH'
      ? badRequest('name must be provided')
      : noSuchMethod()
  if (verb === undefined) throw fault ?? noSuchMethod()
  const isRefused = resource.release < CREATES_FORBIDDEN_SINCE && !resource.verbs.includes('create')
  if (verb === 'create' && subresource === '' && isRefused) throw crdTerminating(resource)
  const target = { resource, verb, namespace, name: verb === 'create' ? '' : name }
  const route = { ...target, subresource, view }
  return fault === undefined ? route : { ...route, fault }
}

function customPartFault(
  { resource, name, subresource }: ResourceTarget,
  verb: Verb | undefined,
): Error | undefined {
  const part = resource.subresources.find((one) => one.name === subresource)
  if (part === undefined) return notFound(resource, name)
  return verb !== undefined && !part.verbs.includes(verb)
    ? methodNotAllowed(resource, verb)
    : undefined
}

const collectionVerbs: readonly Verb[] = ['list', 'watch', 'create', 'deletecollection']
const objectVerbs: readonly Verb[] = ['get', 'update', 'patch', 'delete']
const none: readonly Verb[] = []

/** Returns the verbs that the path supports, or an empty list if the path does not exist. */
function verbsAt(
  { resource, scope, subresource, isNamed }: ResourceTarget,
  { isWatchPath }: ResourceInfo,
): readonly Verb[] {
  const { verbs } = resource
  if (isWatchPath) return verbs.includes('watch') && subresource === '' ? ['watch'] : none
  if (subresource !== '')
    return resource.subresources.find(({ name }) => name === subresource)?.verbs ?? none
  if (scope === 'all-namespaces') return verbs.filter((verb) => verb === 'list' || verb === 'watch')
  const own = isNamed ? objectVerbs : collectionVerbs
  // Bounded: there are ten verbs, so each search is short.
  return verbs.filter((verb) => own.includes(verb))
}

/**
 * Returns the verb of a method on a collection or an object, or undefined if the collection or the
 * object does not support the method.
 */
function verbFor(
  method: string,
  { place, isWatch }: { readonly place: ResourceTarget; readonly isWatch: boolean },
): Verb | undefined {
  const { isNamed, subresource } = place
  switch (method) {
    case 'GET':
      return isWatch ? 'watch' : isNamed ? 'get' : 'list'
    case 'POST':
      return isNamed && subresource === '' ? undefined : 'create'
    case 'PUT':
      return isNamed ? 'update' : undefined
    case 'PATCH':
      return isNamed ? 'patch' : undefined
    case 'DELETE':
      return isNamed ? 'delete' : 'deletecollection'
    case 'HEAD':
    case 'OPTIONS':
      return subresource === 'proxy' ? 'get' : undefined
    default:
      return undefined
  }
}

function checkSegments({ scope, namespace, name }: ResourceTarget): void {
  if (scope === 'namespace' && namespace === '' && name !== '')
    throw badRequest('Namespace parameter required.')
  const [nameFault] = checkPathSegment(name)
  if (nameFault !== undefined)
    throw badRequest(`Name parameter invalid: ${quote(name)}: ${nameFault}`)
  const [namespaceFault] = checkPathSegment(namespace)
  if (namespaceFault === undefined) return
  throw badRequest(`Namespace parameter invalid: ${quote(namespace)}: ${namespaceFault}`)
}

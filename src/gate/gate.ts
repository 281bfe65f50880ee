/** What each request passes first: what is it about, who asks, may they, and does such a thing exist. */
import { badRequest, noSuchMethod, noSuchResource, pageNotFound } from '../api/errors.ts'
import { checkPathSegment } from '../api/names.ts'
import { quote } from '../api/quote.ts'
import type { ApiRequest } from '../api/request.ts'
import type { Registry } from '../registry/registry.ts'
import type { Resource, ResourceRequest, Verb } from '../registry/resource.ts'
import type { Authenticate } from './authenticate.ts'
import { authorize } from './authorize.ts'
import { requestInfo, type ResourceInfo } from './request-info.ts'

export type Passed =
  | { readonly kind: 'path'; readonly http: ApiRequest }
  | ({ readonly kind: 'resource' } & ResourceRequest)

export type Gate = (request: ApiRequest) => Passed

export function createGate(parts: { readonly authenticate: Authenticate; readonly registry: Registry }): Gate {
  return (request) => {
    const info = requestInfo(request)
    const user = parts.authenticate(request)
    authorize(user, info)
    if (info.kind === 'path') return { kind: 'path', http: request }
    // Authorized like any other path, but the router knows none that begins so.
    if (request.path.startsWith('//')) throw pageNotFound()
    const { resource, verb } = resolve(info, request.method, parts.registry)
    const namespace = resource.isNamespaced ? info.namespace : ''
    const name = info.isNamed ? info.name : ''
    checkSegments(namespace, name)
    return { kind: 'resource', verb, resource, namespace, name, user, http: request }
  }
}

/** The order is that of kube-apiserver's router: is there such a path, then is there such a method on it. */
function resolve(info: ResourceInfo, method: string, registry: Registry): { resource: Resource; verb: Verb } {
  const resource = registry.find(info)
  if (resource === undefined) {
    const isKnownGroup = info.group === '' || registry.all().some(({ group }) => group === info.group)
    throw isKnownGroup ? noSuchResource() : pageNotFound()
  }
  const needsNamespace = resource.isNamespaced && info.isNamed
  if (
    info.subresource !== '' ||
    (info.isInNamespace && !resource.isNamespaced) ||
    (needsNamespace && !info.isInNamespace)
  ) {
    throw noSuchResource()
  }
  const verb = verbFor(info, method)
  const isAcrossNamespaces = resource.isNamespaced && !info.isInNamespace
  if (verb === undefined || !resource.verbs.includes(verb) || (isAcrossNamespaces && verb === 'create')) {
    throw noSuchMethod()
  }
  return { resource, verb }
}

/** Methods lead to verbs on collections and on single objects; what is missing here has no route. */
function verbFor({ verb, isNamed, isWatchPath }: ResourceInfo, method: string): Verb | undefined {
  if (isWatchPath && method !== 'GET') return undefined
  switch (method) {
    case 'GET':
      return isWatchPath || (!isNamed && verb === 'watch') ? 'watch' : isNamed ? 'get' : 'list'
    case 'POST':
      return isNamed ? undefined : 'create'
    case 'PUT':
      return isNamed ? 'update' : undefined
    case 'DELETE':
      return isNamed ? 'delete' : undefined
    default:
      return undefined
  }
}

function checkSegments(namespace: string, name: string): void {
  const [nameFault] = checkPathSegment(name)
  if (nameFault !== undefined) throw badRequest(`Name parameter invalid: ${quote(name)}: ${nameFault}`)
  const [namespaceFault] = checkPathSegment(namespace)
  if (namespaceFault !== undefined) {
    throw badRequest(`Namespace parameter invalid: ${quote(namespace)}: ${namespaceFault}`)
  }
}

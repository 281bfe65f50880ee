/** The paths outside of the resources: documents about the server. */
import { noSuchMethod, noSuchResource, pageNotFound, unhealthy } from '../api/errors.ts'
import { type ApiRequest, type ApiResponse, firstHeader } from '../api/request.ts'
import { printOrdered } from '../codec/json.ts'
import { jsonType, negotiateJson } from '../codec/negotiate.ts'
import type { Registry } from '../registry/registry.ts'
import { coreVersions, type Document, groupDocument, groupList, resourceList } from './groups.ts'
import { type Check, checkHealth } from './health.ts'
import { versionDocument } from './version.ts'

export type DocumentParts = {
  readonly registry: Registry
  /** host:port, where clients outside reach the server. */
  readonly serverAddress: string
  /** For all three endpoints. */
  readonly healthChecks: readonly Check[]
  /** For /readyz alone: whether requests would succeed now. */
  readonly readyChecks: readonly Check[]
}

export type Documents = (request: ApiRequest) => ApiResponse

export function createDocuments(parts: DocumentParts): Documents {
  return (request) => {
    const path = request.path.length > 1 && request.path.endsWith('/') ? request.path.slice(0, -1) : request.path
    const [, root = '', ...rest] = path.split('/')
    switch (root) {
      case 'healthz':
      case 'livez':
      case 'readyz':
        if (request.path !== `/${root}`) throw pageNotFound()
        return health(root, request.query, parts)
      case 'version':
        return version(request, rest)
      case 'api':
        return api(request, rest, parts)
      case 'apis':
        return apis(request, rest, parts)
      default:
        throw pageNotFound()
    }
  }
}

function health(endpoint: 'healthz' | 'livez' | 'readyz', query: URLSearchParams, parts: DocumentParts): ApiResponse {
  const checks = endpoint === 'readyz' ? [...parts.healthChecks, ...parts.readyChecks] : parts.healthChecks
  const { isHealthy, text } = checkHealth(endpoint, checks, query)
  if (!isHealthy) throw unhealthy(text)
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }
  return { status: 200, headers, body: Buffer.from(text) }
}

/** This document is always indented. */
function version(request: ApiRequest, rest: readonly string[]): ApiResponse {
  if (rest.length > 0) throw noSuchResource()
  requireGet(request)
  const body = Buffer.from(JSON.stringify(versionDocument(), null, 2))
  return { status: 200, headers: { 'content-type': jsonType }, body }
}

function api(request: ApiRequest, rest: readonly string[], parts: DocumentParts): ApiResponse {
  requireGet(request)
  if (rest.length === 0) return json(request, coreVersions(parts.serverAddress))
  const document = rest.length === 1 ? resourceList(parts.registry, '', rest[0] ?? '') : undefined
  if (document === undefined) throw noSuchResource()
  return json(request, document)
}

/** /apis and /apis/<group> answer every method alike. */
function apis(request: ApiRequest, rest: readonly string[], parts: DocumentParts): ApiResponse {
  const [groupName, versionName] = rest
  if (groupName === undefined) return json(request, groupList(parts.registry))
  const found = groupDocument(parts.registry, groupName)
  if (found === undefined) throw pageNotFound()
  if (versionName === undefined) return json(request, found)
  requireGet(request)
  const document = resourceList(parts.registry, groupName, versionName)
  if (document === undefined) throw noSuchResource()
  return json(request, document)
}

function requireGet({ method }: ApiRequest): void {
  if (method !== 'GET') throw noSuchMethod()
}

function json(request: ApiRequest, document: Document): ApiResponse {
  negotiateJson(firstHeader(request.headers, 'accept'))
  return { status: 200, headers: { 'content-type': jsonType }, body: Buffer.from(`${printOrdered(document)}\n`) }
}

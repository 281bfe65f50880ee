/** Serves the paths that do not identify resources. Their content is documents about the server. */
import type { RequestContext } from '../../api/context.ts'
import type { Gates } from '../../api/gates.ts'
import {
  noSuchMethod,
  notAcceptableHere,
  noSuchResource,
  pageNotFound,
  unhealthy,
} from '../../api/errors.ts'
import type { Fields } from '../../api/object.ts'
import { type ApiRequest, type ApiResponse, elementsOf, firstHeader } from '../../api/request.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { jsonType } from '../../objects/codec/negotiate.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Metrics } from '../../lib/telemetry/metrics.ts'
import type { Registry } from '../../registry/registry.ts'
import { AggregatedDiscovery, aggregatedForm } from './aggregated.ts'
import { coreVersions, type Document, groupDocument, groupList, resourceList } from './groups.ts'
import { ListedGroups } from './listed-groups.ts'
import { flagsPage, flagsPath } from './flags-page.ts'
import { type HealthCheck, checkHealth, checksOf, type Endpoint, type OnChecked } from './health.ts'
import type { Issuer } from './issuer.ts'
import { OpenApi } from './openapi/answer.ts'
import { printDocument } from './print.ts'
import type { RemoteDocuments } from './remote/remote-documents.ts'
import { noRemoteServers } from './remote/remote-servers.ts'
import { rootIndex } from './root.ts'
import { statusPage, statusPath } from './status-page.ts'
import { versionDocument } from './version.ts'

export type DocumentsOptions = {
  readonly registry: Registry
  /** The address (host:port) at which external clients reach the server. */
  readonly serverAddress: string
  readonly checks: readonly HealthCheck[]
  readonly onChecked: OnChecked
  readonly metrics: Metrics
  /** The issuer of ServiceAccount tokens. Null if the server issues no tokens. */
  readonly issuer: Issuer | null
  /** Metrics with the results of the health checks. They are served at a separate endpoint. */
  readonly sliMetrics: Metrics
  readonly clock: Clock
  readonly gates: Gates
  /**
   * The minor version of Kubernetes whose APIs are served. Absent if it is that of the release.
   */
  readonly emulatedMinor?: number
  /** The value of every flag of the server, by name. */
  readonly flagValues: ReadonlyMap<string, string>
  /** Returns an explanation of why a user has or lacks the access described in the query. */
  readonly explainAccess: (request: ApiRequest) => Promise<Fields>
  /** Returns the state of API Priority and Fairness as text. Undefined for other paths. */
  readonly dumpFlows: (request: ApiRequest) => Promise<string> | undefined
  /** Serves another page under /debug. Returns undefined if the page does not exist. */
  readonly debugPages: (request: ApiRequest) => Promise<ApiResponse> | undefined
  /**
   * Parts of the documents that come from remote servers. Undefined if APIs of remote servers are
   * not served.
   */
  readonly remote?: RemoteDocuments | undefined
}

/** Serves a document. `context` belongs to the client on whose behalf remote servers are called. */
export type Documents = (request: ApiRequest, context: RequestContext) => MaybePromise<ApiResponse>

/** Maximum number of path segments that are read. No document has a path with more segments. */
const SEGMENTS_MAX = 8

export function createDocuments(options: DocumentsOptions): Documents {
  const { registry, remote } = options
  const aggregated = new AggregatedDiscovery(registry, remote?.discovery)
  const listed = new ListedGroups(registry, remote?.servers ?? noRemoteServers)
  const openApi = new OpenApi({ ...options, hasIssuer: options.issuer !== null })
  return (request, context) => {
    const { path } = request
    const [, root = '', ...rest] = withoutSlash(path).split('/', SEGMENTS_MAX)
    switch (root) {
      case 'healthz':
      case 'livez':
      case 'readyz':
        return health(root, request, options)
      case 'version':
        return version(request, rest, options)
      case 'api':
        return api(request, rest, { ...options, aggregated, listed })
      case 'apis':
        return apis(request, rest, { ...options, aggregated, listed })
      case 'openapi':
        return openApi.answer(request, context)
      case 'metrics':
        return metrics(path, options)
      case 'debug':
        return debug(request, withoutSlash(path), options)
      case '.well-known':
      case 'openid':
        return issuer(request, withoutSlash(path), options)
      case 'statusz':
        return status(request, options, listed)
      case 'flagz':
        return flagValues(request, options)
      default:
        if (path !== '/' && path !== '/index.html') throw pageNotFound()
        return indented({ paths: rootPaths(listed, options) })
    }
  }
}

const withoutSlash = (path: string): string =>
  path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path

const textType = 'text/plain; charset=utf-8'

async function health(
  endpoint: Endpoint,
  { path, query }: ApiRequest,
  options: DocumentsOptions,
): Promise<ApiResponse> {
  const checks = checksOf(endpoint, options.checks)
  if (path !== `/${endpoint}`) return singleCheck(path.slice(endpoint.length + 2), checks)
  const { isHealthy, text } = await checkHealth(endpoint, checks, {
    query,
    onChecked: options.onChecked,
  })
  if (!isHealthy) throw unhealthy(text)
  const headers = { 'content-type': textType, 'x-content-type-options': 'nosniff' }
  return { status: 200, headers, body: Buffer.from(text) }
}

/**
 * Runs a single check. If a client is allowed to request the check, it may also see why the check
 * fails.
 */
async function singleCheck(name: string, checks: readonly HealthCheck[]): Promise<ApiResponse> {
  const check = checks.find((candidate) => candidate.name === name)
  if (check === undefined) throw pageNotFound()
  const fault = await check.fault()
  if (fault !== undefined) throw unhealthy(`internal server error: ${fault}\n`)
  return { status: 200, headers: { 'content-type': textType }, body: Buffer.from('ok') }
}

function version(
  request: ApiRequest,
  rest: readonly string[],
  { gates: { release, minCompatibility }, emulatedMinor }: DocumentsOptions,
): ApiResponse {
  if (rest.length > 0) throw noSuchResource()
  requireGet(request)
  requireType(request, jsonType)
  return indented(versionDocument(release, emulatedMinor, minCompatibility))
}

type ListDocumentOptions = Pick<DocumentsOptions, 'registry' | 'serverAddress' | 'gates'> & {
  readonly aggregated: AggregatedDiscovery
  readonly listed: ListedGroups
}

function api(
  request: ApiRequest,
  rest: readonly string[],
  options: ListDocumentOptions,
): ApiResponse {
  const form = rest.length === 0 ? aggregatedForm(request, options.gates) : undefined
  if (form !== undefined) {
    requireGet(request)
    return options.aggregated.answer('core', form, request)
  }
  const document =
    rest.length === 0
      ? coreVersions(options.serverAddress)
      : resourceList(options.registry, { group: '', version: rest.join('/') }, options.gates)
  if (document === undefined) throw noSuchResource()
  requireGet(request)
  return negotiated(document, request)
}

/**
 * Serves /apis and the paths below it. /apis and /apis/<group> return the same response for all
 * methods.
 */
function apis(
  request: ApiRequest,
  rest: readonly string[],
  options: ListDocumentOptions,
): ApiResponse {
  const [groupName, versionName] = rest
  const form = groupName === undefined ? aggregatedForm(request, options.gates) : undefined
  if (form !== undefined) return options.aggregated.answer('others', form, request)
  if (groupName === undefined)
    return negotiated(groupList(options.listed), request, { isAggregator: true })
  const found = options.listed.find(groupName)
  if (found === undefined) throw pageNotFound()
  if (versionName === undefined)
    return negotiated(groupDocument(found), request, { isAggregator: true })
  const document = resourceList(
    options.registry,
    { group: groupName, version: versionName },
    options.gates,
  )
  const isCustom = options.registry.inGroup(groupName).every((resource) => resource.isCustom)
  if (document === undefined) throw isCustom ? pageNotFound() : noSuchResource()
  requireGet(request)
  return negotiated(document, request)
}

async function debug(
  request: ApiRequest,
  path: string,
  options: DocumentsOptions,
): Promise<ApiResponse> {
  const { explainAccess, dumpFlows, debugPages } = options
  const dump = await dumpFlows(request)
  if (dump !== undefined)
    return { status: 200, headers: { 'content-type': textType }, body: Buffer.from(dump) }
  const page = debugPages(request)
  if (page !== undefined) return page
  if (path !== '/debug/authorization') throw pageNotFound()
  requireGet(request)
  return indented(await explainAccess(request))
}

const configurationPath = '/.well-known/openid-configuration'
const keysPath = '/openid/v1/jwks'
const issuerPaths = [configurationPath, keysPath]

/**
 * Serves the documents of the token issuer. They can be stored in public caches. Each document has
 * only one media type.
 */
function issuer(
  request: ApiRequest,
  path: string,
  { issuer: documents }: DocumentsOptions,
): ApiResponse {
  const isKeys = path === keysPath
  if (documents === null || (!isKeys && path !== configurationPath)) throw pageNotFound()
  const type = isKeys ? 'application/jwk-set+json' : jsonType
  requireGet(request)
  requireType(request, type)
  const body = Buffer.from(JSON.stringify(isKeys ? documents.keys() : documents.configuration()))
  const cacheControl = `public, max-age=${documents.cacheSeconds()}`
  return { status: 200, headers: { 'content-type': type, 'cache-control': cacheControl }, body }
}

const rootPaths = (listed: ListedGroups, options: DocumentsOptions): string[] =>
  rootIndex(listed, options.checks, otherPaths(options))

/** Paths that only some servers have. */
const otherPaths = ({ issuer: documents, gates }: DocumentsOptions): string[] => [
  ...(documents === null ? [] : issuerPaths),
  ...(gates.isOn('ComponentStatusz') ? [statusPath] : []),
  ...(gates.isOn('ComponentFlagz') ? [flagsPath] : []),
]

function status(request: ApiRequest, options: DocumentsOptions, listed: ListedGroups): ApiResponse {
  const { gates, clock, emulatedMinor } = options
  if (request.path !== statusPath || !gates.isOn('ComponentStatusz')) throw pageNotFound()
  return statusPage(request, {
    upSeconds: process.uptime(),
    nowMs: clock.wallMs(),
    release: gates.release,
    emulatedMinor,
    paths: rootPaths(listed, options),
  })
}

function flagValues(request: ApiRequest, options: DocumentsOptions): ApiResponse {
  if (request.path !== flagsPath || !options.gates.isOn('ComponentFlagz')) throw pageNotFound()
  return flagsPage(request, options.flagValues, options.gates.release)
}

const metricsType = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores'

async function metrics(path: string, options: DocumentsOptions): Promise<ApiResponse> {
  const all =
    path === '/metrics'
      ? options.metrics
      : path === '/metrics/slis'
        ? options.sliMetrics
        : undefined
  if (all === undefined) throw pageNotFound()
  // Start time, with which a scraper detects that the process was restarted and its counters were
  // reset.
  const start = `${Math.floor(Date.now() / 1000 - process.uptime())}`
  const headers = { 'content-type': metricsType, 'process-start-time-unix': start }
  return { status: 200, headers, body: await all.printInTurns() }
}

function requireGet({ method }: ApiRequest): void {
  if (method !== 'GET') throw noSuchMethod()
}

/** Fails if the client does not accept the only media type of the document. */
function requireType({ headers }: ApiRequest, wanted: string): void {
  const accept = firstHeader(headers, 'accept') ?? ''
  const types = elementsOf(accept).map((clause) => clause.split(';', 1)[0]?.trim())
  if (accept !== '' && !types.some((type) => type === wanted || type === '*/*'))
    throw notAcceptableHere([wanted])
}

function negotiated(
  document: Document,
  request: ApiRequest,
  { isAggregator = false } = {},
): ApiResponse {
  const { type, body } = printDocument(document, request, { isAggregator })
  return { status: 200, headers: { 'content-type': type }, body }
}

/** Returns a document that is always indented, because it is intended for people. */
const indented = (document: Document): ApiResponse => ({
  status: 200,
  headers: { 'content-type': jsonType },
  body: Buffer.from(JSON.stringify(document, null, 2)),
})

/** Metrics of requests, with kube-apiserver's metric names. */
import type { RequestInfo } from '../../api/context.ts'
import { followFrames } from '../../api/follow-frames.ts'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import type { RequestTimings } from '../../api/spent.ts'
import { systemUser } from '../../api/user.ts'
import type { Count, Counter, Gauge, Histogram, Metrics } from '../../lib/telemetry/metrics.ts'
import { Peak } from '../../lib/telemetry/peak.ts'
import type { Resource } from '../../registry/resource.ts'
import type { RoutedRequest } from '../routed-request.ts'
import {
  countedPath,
  type EndedRequestLabels,
  remoteRequest,
  reportedDryRun,
  reportedFieldValidation,
  reportedMethod,
  reportedScope,
  reportedVerb,
} from './reported-request.ts'
import {
  requestLabels,
  type RequestSeries,
  ServedRequestMetrics,
  sliBounds,
} from './served-request-metrics.ts'

const eventBounds = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072]
const filterBounds = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5, 10, 15, 30]

const mutating: ReadonlySet<string> = new Set([
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
])
const mutatingMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** The metrics of one resource. */
class OfResource {
  readonly series = new Map<string, RequestSeries>()
  /**
   * Functions that remove the metric series of the resource that are not in `series`: those of
   * requests that the server ended early, and the gauge of deprecated APIs.
   */
  readonly others = new Map<string, () => void>()
  /**
   * Whether the resource is no longer served. Requests that are still in progress are then not
   * counted, because nothing would remove their series.
   */
  isForgotten = false
}

/** Measures one request from the time when its handler starts. */
export type MeasuredRequest = {
  /**
   * Must be called once, with the response. Returns the response to send. As in kube-apiserver, a
   * stream is counted when it ends.
   */
  readonly answer: (response: ApiResponse) => ApiResponse
  /** Must be called when the request is no longer in progress. */
  readonly end: () => void
}

export type RequestMetricsOptions = {
  readonly monotonicMs: () => number
}

export class RequestMetrics {
  /** Number of requests that are waiting for a seat. */
  readonly inQueue: { readonly readOnly: Count; readonly mutating: Count }
  readonly #monotonicMs: () => number
  readonly #served: ServedRequestMetrics
  readonly #terminated: Counter
  readonly #refused: Counter
  readonly #filters: FilterSeries
  readonly #fieldValidation: Histogram
  readonly #readOnly = new Peak()
  readonly #mutating = new Peak()
  readonly #events: Counter
  readonly #eventBytes: Histogram
  readonly #deprecated: Gauge
  /**
   * Series by resource object. When a CRD changes, a new resource object is created, for which the
   * same series are used.
   */
  readonly #ofResource = new WeakMap<Resource, OfResource>()
  readonly #ofId = new Map<string, OfResource>()
  readonly #ofPath = new Map<string, RequestSeries>()
  /** Joined label values of requests to unavailable aggregated API servers. */
  readonly #ofRemote = new Set<string>()

  constructor(metrics: Metrics, { monotonicMs }: RequestMetricsOptions) {
    this.#monotonicMs = monotonicMs
    this.#served = new ServedRequestMetrics(metrics)
    this.#terminated = metrics.counter({
      name: 'apiserver_request_terminations_total',
      help: 'Number of requests that the server terminated to protect itself, because of an overload or a timeout.',
      labels: ['code', ...requestLabels],
    })
    this.#refused = metrics.counter({
      name: 'keelson_refused_requests_total',
      help: 'Number of requests that were rejected early, because they were not authenticated, were forbidden, exceeded a limit or had no valid path.',
      labels: ['code'],
    })
    this.#filters = addFilters(metrics)
    this.#fieldValidation = metrics.histogram(
      {
        name: 'field_validation_request_duration_seconds',
        help: 'Response time of writes in seconds, by field validation directive.',
        labels: ['field_validation'],
      },
      sliBounds,
    )
    this.inQueue = this.#addInFlight(metrics)
    const ofKind = ['group', 'kind', 'version']
    this.#events = metrics.counter({
      name: 'apiserver_watch_events_total',
      help: 'Number of events sent to watch clients.',
      labels: ofKind,
    })
    this.#eventBytes = metrics.histogram(
      {
        name: 'apiserver_watch_events_sizes',
        help: 'Size of events sent to watch clients, in bytes.',
        labels: ofKind,
      },
      eventBounds,
    )
    this.#deprecated = metrics.gauge({
      name: 'apiserver_requested_deprecated_apis',
      help: 'Deprecated APIs that were requested, with the release that removes them. The value is always 1.',
      stability: 'STABLE',
      labels: ['group', 'removed_release', 'resource', 'subresource', 'version'],
    })
  }

  #addInFlight(metrics: Metrics): RequestMetrics['inQueue'] {
    const inFlight = metrics.gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Maximum number of concurrent requests within the last second.',
      stability: 'STABLE',
      labels: ['request_kind'],
    })
    const inQueue = metrics.gauge({
      name: 'apiserver_current_inqueue_requests',
      help: 'Number of requests that are waiting for a seat.',
      labels: ['request_kind'],
    })
    const [readOnly, changing] = [inFlight.with('readOnly'), inFlight.with('mutating')]
    metrics.onPrint(() => {
      const nowMs = this.#monotonicMs()
      readOnly.value = this.#readOnly.at(nowMs)
      changing.value = this.#mutating.at(nowMs)
    })
    return { readOnly: inQueue.with('readOnly'), mutating: inQueue.with('mutating') }
  }

  /**
   * Records the duration of each filter. Called for a request that passed all filters, and for a
   * request that the last filter rejected with Forbidden.
   */
  filtered({
    authenticationMs,
    auditMs,
    impersonationMs,
    queueMs,
    authorizationMs,
  }: RequestTimings): void {
    const { authentication, audit, impersonation, priorityandfairness, authorization } =
      this.#filters
    authentication.observe(authenticationMs / 1000)
    audit.observe(auditMs / 1000)
    impersonation.observe(impersonationMs / 1000)
    priorityandfairness.observe(queueMs / 1000)
    authorization.observe(authorizationMs / 1000)
  }

  /** Counts a request that ended before `begin` was called. */
  refused(code: number): void {
    this.#refused.with(`${code}`).add()
  }

  /**
   * Counts a request that was rejected because too many requests were in flight. kube-apiserver
   * also includes it in the number of requests.
   */
  dropped(ended: EndedRequestLabels, dryRun: string): void {
    const { group, resource, scope, subresource, verb, version } = ended
    this.#countEnded(this.#served.total, ended, [
      '429',
      'apiserver',
      dryRun,
      group,
      resource,
      scope,
      subresource,
      verb,
      version,
    ])
    this.terminated(ended, 429)
  }

  terminated(ended: EndedRequestLabels, code: number): void {
    this.#countEnded(this.#terminated, ended, [`${code}`, ...terminatedLabels('apiserver', ended)])
  }

  /**
   * Counts a request that ended early. Also registers a function that removes the counted metric
   * series when the resource is removed.
   */
  #countEnded(
    counter: Counter,
    { group, version, resource: plural }: EndedRequestLabels,
    values: readonly string[],
  ): void {
    counter.with(...values).add()
    if (plural === '') return
    const { others } = this.#knownOf({ group, version, plural })
    const key = `${counter.options.name} ${values.join(' ')}`
    if (!others.has(key)) others.set(key, () => counter.remove(...values))
  }

  /**
   * Counts a request whose aggregated API server is unavailable. The resources of that server are
   * unknown, so the labels are derived from the request.
   */
  remoteUnavailable(http: ApiRequest, info: RequestInfo | undefined): void {
    const named = terminatedLabels('aggregator', remoteRequest(http, info))
    const key = named.join(' ')
    if (this.#ofRemote.size < REMOTE_SERIES_MAX && key.length <= REMOTE_CHARACTERS_MAX)
      this.#ofRemote.add(key)
    const labels = this.#ofRemote.has(key) ? named : unnamedRemote
    this.#terminated.with('503', ...labels).add()
  }

  /** Returns a function that counts the frames sent to watch clients of a resource. */
  countEvents({
    group,
    kind,
    version,
  }: Resource): (frames: readonly { readonly length: number }[]) => void {
    const { total, bytes } = {
      total: this.#events.with(group, kind, version),
      bytes: this.#eventBytes.with(group, kind, version),
    }
    return (frames) => {
      total.value += frames.length
      for (const frame of frames) bytes.observe(frame.length)
    }
  }

  /** Removes the metric series of a resource that is no longer served. */
  forget(resource: Resource): void {
    const { group, kind, version } = resource
    const known = this.#knownOf(resource)
    for (const remove of known.others.values()) remove()
    for (const series of known.series.values()) series.remove()
    known.isForgotten = true
    // `begin` can be called later for requests that passed the router before the removal.
    this.#ofResource.set(resource, known)
    this.#ofId.delete(idOf(resource))
    this.#events.remove(group, kind, version)
    this.#eventBytes.remove(group, kind, version)
  }

  begin(passed: RoutedRequest, startMs: number): MeasuredRequest {
    const monotonicMs = this.#monotonicMs
    const { context } = passed
    const isPath = passed.kind === 'path'
    const series = this.#seriesOf(passed)
    const isLong =
      series?.longRunning !== undefined ||
      (passed.kind === 'remote' && context.info.verb === 'watch')
    const peak = isLong ? undefined : this.#peakOf(passed)
    peak?.add(1, startMs)
    const isOwn = context.knownUser === systemUser
    const ended = (response: ApiResponse): void => {
      if (series === undefined) {
        if (response.status >= 400 && isPath) this.refused(response.status)
        return
      }
      series.total(response.status).value++
      const { mutatingWebhooksMs, validatingWebhooksMs, queueMs } = context.spent
      const ms = monotonicMs() - startMs
      const ownMs = ms - mutatingWebhooksMs - validatingWebhooksMs - queueMs
      series.seconds.observe(ms / 1000)
      series.sliSeconds?.observe(ownMs / 1000)
      series.sloSeconds?.observe(ownMs / 1000)
      if (context.bodyBytes >= 0) {
        series.bodyBytes?.observe(context.bodyBytes)
        this.#fieldValidation.with(reportedFieldValidation(passed.http)).observe(ms / 1000)
      }
      if (isOwn) series.own().value++
    }
    return {
      answer: (response) => {
        if (!('body' in response)) return observed(response, { series, ended })
        if (isPath && !isCounted(passed.http.path, response)) return response
        series?.bytes?.observe(lengthOf(response.body))
        ended(response)
        return response
      },
      end: () => {
        peak?.add(-1, monotonicMs())
      },
    }
  }

  #peakOf(passed: RoutedRequest): Peak {
    const isMutating =
      passed.kind === 'resource'
        ? mutating.has(passed.verb)
        : mutatingMethods.has(passed.http.method)
    return isMutating ? this.#mutating : this.#readOnly
  }

  /**
   * Returns the series of a request, or undefined if the request is not counted here. As in
   * kube-apiserver, aggregated API servers count the requests that they serve.
   */
  #seriesOf(passed: RoutedRequest): RequestSeries | undefined {
    if (passed.kind === 'remote') return undefined
    return passed.kind === 'path' ? this.#pathSeries(passed.http) : this.#series(passed)
  }

  /**
   * Returns the series of a request for a resource. Undefined if the resource is no longer served.
   */
  #series(passed: Extract<RoutedRequest, { kind: 'resource' }>): RequestSeries | undefined {
    const { resource, verb, subresource, http, context } = passed
    const scope = reportedScope(passed)
    const dryRun = reportedDryRun(http)
    const shownVerb = reportedVerb(passed, http)
    const key = `${shownVerb} ${scope} ${subresource} ${dryRun}`
    let known = this.#ofResource.get(resource)
    if (known === undefined) this.#ofResource.set(resource, (known = this.#knownOf(resource)))
    const { deprecatedUntil } = context
    if (deprecatedUntil !== undefined) this.#recordDeprecated(known, passed, deprecatedUntil)
    const found = known.series.get(key)
    if (found !== undefined || known.isForgotten) return found
    const { group, plural, version } = resource
    const labels = {
      component: 'apiserver',
      group,
      plural,
      scope,
      subresource,
      verb: shownVerb,
      version,
      dryRun,
    }
    const made = this.#served.series(labels, bodyVerbs[verb], resource.release)
    known.series.set(key, made)
    return made
  }

  #knownOf(resource: ResourceId): OfResource {
    const id = idOf(resource)
    const known = this.#ofId.get(id) ?? new OfResource()
    this.#ofId.set(id, known)
    return known
  }

  /**
   * Records that a deprecated API was requested. A version can become deprecated while the server
   * runs.
   */
  #recordDeprecated(
    { others, isForgotten }: OfResource,
    { resource, subresource }: Extract<RoutedRequest, { kind: 'resource' }>,
    until: string,
  ): void {
    const key = `deprecated ${until} ${subresource}`
    if (isForgotten || others.has(key)) return
    const { group, plural, version } = resource
    const values = [group, until, plural, subresource, version]
    this.#deprecated.with(...values).value = 1
    others.set(key, () => this.#deprecated.remove(...values))
  }

  /**
   * Returns the series of a request for a path without a resource. Undefined for a path that
   * kube-apiserver does not count.
   */
  #pathSeries({ method, path }: ApiRequest): RequestSeries | undefined {
    const counted = countedPath(path)
    if (counted === undefined) return undefined
    const verb = reportedMethod(method)
    const key = `${verb} ${counted.subresource}`
    const found = this.#ofPath.get(key)
    if (found !== undefined) return found
    const made = this.#served.series(
      { ...counted, group: '', plural: '', scope: '', verb, version: '', dryRun: '' },
      undefined,
      0,
    )
    this.#ofPath.set(key, made)
    return made
  }
}

/** Verbs whose request bodies are measured, with their label values in kube-apiserver's metrics. */
const bodyVerbs: { readonly [verb: string]: string } = {
  create: 'create',
  update: 'update',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'delete_collection',
}

/**
 * Maximum number of label combinations for unavailable aggregated API servers. Further combinations
 * are counted under generic labels, because clients can invent any number of names.
 */
const REMOTE_SERIES_MAX = 500
/**
 * Maximum total length of the labels for an unavailable server. No real resource has such long
 * names, but a path can be a megabyte long.
 */
const REMOTE_CHARACTERS_MAX = 512

const terminatedLabels = (component: string, ended: EndedRequestLabels): readonly string[] => {
  const { group, resource, scope, subresource, verb, version } = ended
  return [component, group, resource, scope, subresource, verb, version]
}

const unnamedRemote = ['aggregator', '', '', '', '', 'other', '']

type FilterSeries = ReturnType<typeof addFilters>

function addFilters(metrics: Metrics) {
  const filters = metrics.histogram(
    {
      name: 'apiserver_request_filter_duration_seconds',
      help: 'Time in seconds that requests spent in each filter before the server executed them.',
      labels: ['filter'],
    },
    filterBounds,
  )
  return {
    authentication: filters.with('authentication'),
    audit: filters.with('audit'),
    impersonation: filters.with('impersonation'),
    priorityandfairness: filters.with('priorityandfairness'),
    authorization: filters.with('authorization'),
  }
}

/**
 * Whether a request is counted. For `/api` and `/apis`, only requests for aggregated discovery
 * documents are counted, as in kube-apiserver.
 */
const isCounted = (path: string, { headers }: ApiResponse): boolean =>
  (path !== '/api' && path !== '/apis') ||
  String(headers['content-type']).includes('g=apidiscovery.k8s.io')

type ResourceId = Pick<Resource, 'group' | 'version' | 'plural'>

const idOf = ({ group, version, plural }: ResourceId): string => `${group}/${version}/${plural}`

type RequestObserver = {
  readonly series: RequestSeries | undefined
  readonly ended: (response: ApiResponse) => void
}

/** Counts a stream as open until the server or the client ends it. */
function observed(response: ApiResponse, { series, ended }: RequestObserver): ApiResponse {
  const longRunning = series?.longRunning
  if (longRunning === undefined) {
    ended(response)
    return response
  }
  let isOpen = true
  longRunning.value++
  const onEnd = (): void => {
    if (!isOpen) return
    isOpen = false
    longRunning.value--
    ended(response)
  }
  if ('frames' in response) return { ...response, frames: followFrames(response.frames, onEnd) }
  if ('stream' in response) return { ...response, stream: followStream(response.stream, onEnd) }
  if (!('tunnel' in response)) return response
  const { tunnel } = response
  return {
    ...response,
    tunnel: (connection) => {
      connection.once('close', onEnd)
      tunnel(connection)
    },
  }
}

async function* followStream<T>(stream: AsyncIterable<T>, onEnd: () => void): AsyncIterable<T> {
  try {
    yield* stream
  } finally {
    onEnd()
  }
}

function lengthOf(body: Extract<ApiResponse, { body: unknown }>['body']): number {
  if (!Array.isArray(body)) return 'length' in body ? body.length : 0
  let bytes = 0
  for (const part of body) bytes += part.length
  return bytes
}

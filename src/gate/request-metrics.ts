/** The metrics of requests that have passed the gate, under upstream's names. */
import { followFrames } from '../api/follow-frames.ts'
import type { ApiResponse, FrameSource } from '../api/request.ts'
import type { Count, Counter, Distribution, Gauge, Histogram, Metrics } from '../lib/metrics.ts'
import type { Resource } from '../registry/resource.ts'
import type { Passed } from './gate.ts'

const secondsBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]
const sliBounds = secondsBounds.slice(2)
const eventBounds = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072]
const sizeBounds = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]

const common = ['component', 'group', 'resource', 'scope', 'subresource', 'verb', 'version']
const withDryRun = ['component', 'dry_run', 'group', 'resource', 'scope', 'subresource', 'verb', 'version']

/** Verbs that upstream's metrics name otherwise. */
const reported: { readonly [verb: string]: string } = { create: 'POST', update: 'PUT' }
const mutating: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection'])
/** Paths with series of their own; all others share one, so that a client cannot create series without bound. */
const toldApart: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/metrics', '/metrics/slis'])

/** The series of one kind of request: looked up once, then only added to. */
type Series = {
  readonly seconds: Distribution
  readonly sliSeconds: Distribution
  readonly bytes: Distribution
  readonly totals: Map<number, Count>
  readonly total: (code: number) => Count
  readonly longRunning: Count
  readonly inFlight: Count
  readonly remove: () => void
}

/** One request, from when it has passed the gate. */
export type Measured = {
  /** Is to be called once, with the response, and returns the response to send. */
  readonly answer: (response: ApiResponse) => ApiResponse
  /** It is no longer under way. */
  readonly end: () => void
}

export class RequestMetrics {
  readonly #total: Counter
  readonly #seconds: Histogram
  readonly #sliSeconds: Histogram
  readonly #bytes: Histogram
  readonly #longRunning: Gauge
  readonly #inFlight: Gauge
  readonly #events: Counter
  readonly #eventBytes: Histogram
  readonly #deprecated: Gauge
  /** A custom resource becomes a new object with each change of its CRD, but keeps its series. */
  readonly #ofResource = new WeakMap<Resource, Map<string, Series>>()
  readonly #ofId = new Map<string, Map<string, Series>>()
  readonly #ofPath = new Map<string, Series>()

  constructor(metrics: Metrics) {
    const stability = 'STABLE'
    const labels = common
    this.#total = metrics.counter({
      name: 'apiserver_request_total',
      help: 'Requests that were answered, by what they asked for and by the code of the answer.',
      stability,
      labels: ['code', ...withDryRun],
    })
    const seconds = { name: 'apiserver_request_duration_seconds', help: 'Time to an answer.', stability } as const
    this.#seconds = metrics.histogram({ ...seconds, labels: withDryRun }, secondsBounds)
    const sli = { name: 'apiserver_request_sli_duration_seconds', help: 'Time to an answer, webhooks not counted.' }
    this.#sliSeconds = metrics.histogram({ ...sli, labels }, sliBounds)
    const bytes = { name: 'apiserver_response_sizes', help: 'Bytes of answers.', stability } as const
    this.#bytes = metrics.histogram({ ...bytes, labels }, sizeBounds)
    const longRunning = {
      name: 'apiserver_longrunning_requests',
      help: 'Watches and other streams now.',
      stability,
    } as const
    this.#longRunning = metrics.gauge({ ...longRunning, labels })
    const inFlight = {
      name: 'apiserver_current_inflight_requests',
      help: 'Requests under way now.',
      stability,
    } as const
    this.#inFlight = metrics.gauge({ ...inFlight, labels: ['request_kind'] })
    const ofKind = ['group', 'kind', 'version']
    const events = { name: 'apiserver_watch_events_total', help: 'Events that left for watchers.', labels: ofKind }
    this.#events = metrics.counter(events)
    const eventBytes = { name: 'apiserver_watch_events_sizes', help: 'Bytes of such events.', labels: ofKind }
    this.#eventBytes = metrics.histogram(eventBytes, eventBounds)
    this.#deprecated = metrics.gauge({
      name: 'apiserver_requested_deprecated_apis',
      help: 'Deprecated APIs that were requested, with the release in which they are gone.',
      stability,
      labels: ['group', 'removed_release', 'resource', 'subresource', 'version'],
    })
    this.#inFlight.with('mutating')
    this.#inFlight.with('readOnly')
  }

  /** Counts the frames that are sent to watchers of a resource. */
  countEvents({ group, kind, version }: Resource): (frames: readonly Buffer[]) => void {
    const { total, bytes } = {
      total: this.#events.with(group, kind, version),
      bytes: this.#eventBytes.with(group, kind, version),
    }
    return (frames) => {
      total.value += frames.length
      for (const frame of frames) bytes.observe(frame.length)
    }
  }

  /** Removes the series of a resource that is no longer served. */
  forget(resource: Resource): void {
    const { group, kind, version } = resource
    const id = idOf(resource)
    for (const series of this.#ofId.get(id)?.values() ?? []) series.remove()
    this.#ofId.delete(id)
    this.#events.remove(group, kind, version)
    this.#eventBytes.remove(group, kind, version)
  }

  begin(passed: Passed, startMs: number, monotonicMs: () => number): Measured {
    const series =
      passed.kind === 'path' ? this.#pathSeries(passed.context.info.verb, passed.http.path) : this.#series(passed)
    series.inFlight.value++
    return {
      answer: (response) => {
        series.total(response.status).value++
        if ('frames' in response) return { ...response, frames: follow(response.frames, series.longRunning) }
        if (!('body' in response)) return response
        const seconds = (monotonicMs() - startMs) / 1000
        series.seconds.observe(seconds)
        series.sliSeconds.observe(seconds)
        series.bytes.observe(lengthOf(response.body))
        return response
      },
      end: () => {
        series.inFlight.value--
      },
    }
  }

  #series({
    resource,
    verb,
    subresource,
    namespace,
    name,
    http,
    context,
  }: Extract<Passed, { kind: 'resource' }>): Series {
    const scope = name !== '' || verb === 'create' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster'
    const dryRun = mutating.has(verb) ? (http.query.get('dryRun') ?? '') : ''
    const shownDryRun = dryRun === '' || dryRun === 'All' ? dryRun : 'invalid'
    const key = `${verb} ${scope} ${subresource} ${shownDryRun}`
    const known = this.#ofResource.get(resource) ?? this.#knownOf(resource)
    const found = known.get(key)
    if (found !== undefined) return found
    const { group, plural, version } = resource
    const shownVerb = reported[verb] ?? verb.toUpperCase()
    const made = this.#make({ group, plural, scope, subresource, verb: shownVerb, version, dryRun: shownDryRun })
    known.set(key, made)
    const { deprecatedUntil } = context
    if (deprecatedUntil !== undefined)
      this.#deprecated.with(group, deprecatedUntil, plural, subresource, version).value = 1
    return made
  }

  #knownOf(resource: Resource): Map<string, Series> {
    const id = idOf(resource)
    const known = this.#ofId.get(id) ?? new Map<string, Series>()
    this.#ofId.set(id, known)
    this.#ofResource.set(resource, known)
    return known
  }

  #pathSeries(method: string, path: string): Series {
    const subresource = toldApart.has(path) ? path : ''
    const verb = method === 'get' ? 'GET' : 'other'
    const key = `${verb} ${subresource}`
    const found = this.#ofPath.get(key)
    if (found !== undefined) return found
    const made = this.#make({ group: '', plural: '', scope: '', subresource, verb, version: '', dryRun: '' })
    this.#ofPath.set(key, made)
    return made
  }

  #make(
    labels: { readonly [name in 'group' | 'plural' | 'scope' | 'subresource' | 'verb' | 'version' | 'dryRun']: string },
  ): Series {
    const { group, plural, scope, subresource, verb, version, dryRun } = labels
    const values = ['apiserver', group, plural, scope, subresource, verb, version]
    const valuesWithDryRun = ['apiserver', dryRun, ...values.slice(1)]
    const totals = new Map<number, Count>()
    const isMutating = /^(POST|PUT|PATCH|APPLY|DELETE|DELETECOLLECTION)$/.test(verb)
    return {
      seconds: this.#seconds.with(...valuesWithDryRun),
      sliSeconds: this.#sliSeconds.with(...values),
      bytes: this.#bytes.with(...values),
      totals,
      total: (code) => {
        const known = totals.get(code)
        if (known !== undefined) return known
        const count = this.#total.with(`${code}`, ...valuesWithDryRun)
        totals.set(code, count)
        return count
      },
      // The series is created only for requests that it counts, since a series is printed even if it is 0.
      longRunning: verb === 'WATCH' ? this.#longRunning.with(...values) : notShown(),
      inFlight: verb === 'WATCH' ? notShown() : this.#inFlight.with(isMutating ? 'mutating' : 'readOnly'),
      remove: () => {
        this.#seconds.remove(...valuesWithDryRun)
        for (const metric of [this.#sliSeconds, this.#bytes, this.#longRunning]) metric.remove(...values)
        for (const code of totals.keys()) this.#total.remove(`${code}`, ...valuesWithDryRun)
      },
    }
  }
}

const idOf = ({ group, version, plural }: Resource): string => `${group}/${version}/${plural}`

/** Counts a stream until it ends, whichever side ends it. */
function follow(frames: FrameSource, longRunning: Count): FrameSource {
  let isOpen = true
  longRunning.value++
  return followFrames(frames, () => {
    if (isOpen) longRunning.value--
    isOpen = false
  })
}

const notShown = (): Count => ({ value: 0, add: () => undefined })

function lengthOf(body: Extract<ApiResponse, { body: unknown }>['body']): number {
  if (!Array.isArray(body)) return 'length' in body ? body.length : 0
  let bytes = 0
  for (const part of body) bytes += part.length
  return bytes
}

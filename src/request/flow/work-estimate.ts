/**
 * Estimates how many seats a request needs, and for how long after its response. A list needs one
 * seat for every hundred objects that it reads. A write needs one seat for every 256 KB that it
 * sends. It holds its seats a little longer if it has to notify many watches.
 */
import type { RequestInfo, ResourceInfo } from '../../api/context.ts'
import type { FlowSeries } from './flow-schema-metrics.ts'
import { oneSeat, type Work } from './flow-request.ts'
import type { WatchCounts } from './watch-counts.ts'

/**
 * Returns the approximate number of stored objects of a resource, without reading them. Returns
 * undefined if the number is unknown.
 */
export type CountObjects = (info: ResourceInfo) => number | undefined

const OBJECTS_PER_SEAT = 100
const WATCHES_PER_SEAT = 10
/**
 * Body size per seat of a write. Almost all bodies are far smaller and take one seat, as in
 * kube-apiserver.
 */
const BODY_BYTES_PER_SEAT = 256 * 1024
/** Assumed time in milliseconds to send one event to one watch. */
const EVENT_MS = 5
/** Maximum number of seats of a request, regardless of its priority level. */
export const SEATS_MAX = 10
/** Body size that takes the maximum number of seats. Bodies can be slightly longer. */
export const LONG_BODY_BYTES = SEATS_MAX * BODY_BYTES_PER_SEAT

const mutatingVerbs: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete'])

export type EstimateOptions = {
  readonly countObjects: CountObjects
  readonly watches: WatchCounts
  /** Whether a watch that begins with the existing objects takes as many seats as a list. */
  readonly countsInitialObjects: boolean
}

export type EstimateInput = {
  readonly info: RequestInfo
  readonly query: URLSearchParams
  /** Maximum number of seats that the priority level allows for a request. */
  readonly seatsMax: number
  /** Length of the body according to the request headers. */
  readonly bodyBytes?: number
  readonly series: FlowSeries
}

export function estimateWork(
  { countObjects, watches, countsInitialObjects }: EstimateOptions,
  asked: EstimateInput,
): Work {
  const { info, query, series } = asked
  if (info.kind !== 'resource') return oneSeat
  const seatsMax = Math.min(asked.seatsMax, SEATS_MAX)
  if (info.verb === 'list') return seatsOnly(listSeats(info, query, countObjects), seatsMax)
  if (info.verb === 'watch') {
    const readsAll =
      isTrue(query.get('sendInitialEvents')) || (countsInitialObjects && startsAnywhere(query))
    return readsAll ? seatsOnly(listSeats(info, query, countObjects), seatsMax) : oneSeat
  }
  if (!mutatingVerbs.has(info.verb) || isTokenRequest(info)) return oneSeat
  const count = watches.of(info)
  series.watchCounts().observe(count)
  const bodySeats = Math.ceil((asked.bodyBytes ?? 0) / BODY_BYTES_PER_SEAT)
  if (count < WATCHES_PER_SEAT) return seatsOnly(bodySeats, seatsMax)
  const { initialSeats } = seatsOnly(bodySeats, seatsMax)
  return { ...lingering(Math.ceil(count / WATCHES_PER_SEAT), seatsMax), initialSeats }
}

const startsAnywhere = (query: URLSearchParams): boolean =>
  ['', '0'].includes(query.get('resourceVersion') ?? '')

/**
 * Returns the estimated work of notifying watches, as a number of seats and a duration. With fewer
 * seats, the same work takes longer.
 */
function lingering(seats: number, seatsMax: number): Work {
  const finalSeats = Math.min(seats, seatsMax)
  return { initialSeats: 1, finalSeats, lingerMs: (seats * EVENT_MS) / finalSeats }
}

function seatsOnly(seats: number, seatsMax: number): Work {
  const initialSeats = Math.max(1, Math.min(seats, seatsMax))
  return initialSeats === 1 ? oneSeat : { initialSeats, finalSeats: 0, lingerMs: 0 }
}

/** Returns the number of seats of a list. A list that selects one name is treated like a get. */
function listSeats(info: ResourceInfo, query: URLSearchParams, countObjects: CountObjects): number {
  if (info.name !== '') return 1
  const stored = countObjects(info)
  if (stored === undefined) return 1
  return Math.ceil(objectsRead(stored, query, info.verb === 'watch') / OBJECTS_PER_SEAT)
}

/**
 * Returns the number of objects that kube-apiserver would count. If kube-apiserver reads from its
 * cache, it reads all objects of a resource. If it reads from etcd, it reads pages, and counts both
 * the objects that it reads and the objects that it returns.
 */
function objectsRead(stored: number, query: URLSearchParams, isWatch: boolean): number {
  if (isWatch || !isFromStore(query)) return stored
  const limit = Number(query.get('limit') ?? 0)
  const page = limit > 0 && limit < stored ? limit : stored
  const isFiltered =
    (query.get('labelSelector') ?? '') !== '' || (query.get('fieldSelector') ?? '') !== ''
  return isFiltered ? stored + page : 2 * page
}

/**
 * Whether kube-apiserver reads the list from etcd instead of its cache: pages with a limit or a
 * continue token, and lists at an exact version.
 */
function isFromStore(query: URLSearchParams): boolean {
  const match = query.get('resourceVersionMatch') ?? ''
  if (match !== '') return match !== 'NotOlderThan'
  if ((query.get('continue') ?? '') !== '') return true
  const version = query.get('resourceVersion') ?? ''
  return Number(query.get('limit') ?? 0) > 0 && version !== '0' && version !== ''
}

const isTrue = (text: string | null): boolean => text === 'true' || text === '1'

/** Whether the request creates a token, which changes no object that can be watched. */
const isTokenRequest = ({ plural, subresource }: ResourceInfo): boolean =>
  plural === 'serviceaccounts' && subresource === 'token'

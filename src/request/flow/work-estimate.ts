/**
 * How many seats a request needs, and for how long after its answer. A list needs one for each
 * hundred objects that it reads, a write one for each quarter of a megabyte that it sends. A write
 * holds its seats for a moment longer where many watches have to be told of it.
 */
import type { RequestInfo, ResourceInfo } from '../../api/context.ts'
import type { FlowSeries } from './flow-schema-metrics.ts'
import { oneSeat, type Work } from './flow-request.ts'
import type { WatchCounts } from './watch-counts.ts'

/**
 * The objects of a resource that are stored, as far as it is known without reading them. Undefined:
 * it is not known.
 */
export type CountObjects = (info: ResourceInfo) => number | undefined

const OBJECTS_PER_SEAT = 100
const WATCHES_PER_SEAT = 10
/** Of the body of a write. Nearly all are far smaller, and take one seat as in kube-apiserver. */
const BODY_BYTES_PER_SEAT = 256 * 1024
/** How long a watch is taken to be busy with an event. */
const EVENT_MS = 5
/** No request needs more, whatever its level has. */
export const SEATS_MAX = 10

const mutatingVerbs: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete'])

export type EstimateOptions = { readonly countObjects: CountObjects; readonly watches: WatchCounts }

export type EstimateInput = {
  readonly info: RequestInfo
  readonly query: URLSearchParams
  /** What its level allows one request. */
  readonly seatsMax: number
  /** The length of its body, as far as the client has said it. */
  readonly bodyBytes?: number
  readonly series: FlowSeries
}

export function estimateWork(
  { countObjects, watches }: EstimateOptions,
  asked: EstimateInput,
): Work {
  const { info, query, series } = asked
  if (info.kind !== 'resource') return oneSeat
  const seatsMax = Math.min(asked.seatsMax, SEATS_MAX)
  if (info.verb === 'list') return seatsOnly(listSeats(info, query, countObjects), seatsMax)
  if (info.verb === 'watch') {
    const isStreamed = isTrue(query.get('sendInitialEvents'))
    return isStreamed ? seatsOnly(listSeats(info, query, countObjects), seatsMax) : oneSeat
  }
  if (!mutatingVerbs.has(info.verb) || isTokenRequest(info)) return oneSeat
  const count = watches.of(info)
  series.watchCounts().observe(count)
  const bodySeats = Math.ceil((asked.bodyBytes ?? 0) / BODY_BYTES_PER_SEAT)
  if (count < WATCHES_PER_SEAT) return seatsOnly(bodySeats, seatsMax)
  const { initialSeats } = seatsOnly(bodySeats, seatsMax)
  return { ...lingering(Math.ceil(count / WATCHES_PER_SEAT), seatsMax), initialSeats }
}

/** The same work in fewer seats takes longer. */
function lingering(seats: number, seatsMax: number): Work {
  const finalSeats = Math.min(seats, seatsMax)
  return { initialSeats: 1, finalSeats, lingerMs: (seats * EVENT_MS) / finalSeats }
}

function seatsOnly(seats: number, seatsMax: number): Work {
  const initialSeats = Math.max(1, Math.min(seats, seatsMax))
  return initialSeats === 1 ? oneSeat : { initialSeats, finalSeats: 0, lingerMs: 0 }
}

/** A list of one name is a lookup. */
function listSeats(info: ResourceInfo, query: URLSearchParams, countObjects: CountObjects): number {
  if (info.name !== '') return 1
  const stored = countObjects(info)
  if (stored === undefined) return 1
  return Math.ceil(objectsRead(stored, query, info.verb === 'watch') / OBJECTS_PER_SEAT)
}

/**
 * As upstream counts what it reads: all of a resource from its cache, or pages of the store, where
 * what is read is filtered and shown.
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
 * Which lists upstream's cache leaves to the store: pages that continue or have a limit, and exact
 * versions.
 */
function isFromStore(query: URLSearchParams): boolean {
  const match = query.get('resourceVersionMatch') ?? ''
  if (match !== '') return match !== 'NotOlderThan'
  if ((query.get('continue') ?? '') !== '') return true
  const version = query.get('resourceVersion') ?? ''
  return Number(query.get('limit') ?? 0) > 0 && version !== '0' && version !== ''
}

const isTrue = (text: string | null): boolean => text === 'true' || text === '1'

/** It changes nothing that a watch could see. */
const isTokenRequest = ({ plural, subresource }: ResourceInfo): boolean =>
  plural === 'serviceaccounts' && subresource === 'token'

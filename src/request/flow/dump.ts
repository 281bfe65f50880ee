/**
 * The dump pages of API Priority and Fairness: a row for each priority level, queue or request,
 * with kube-apiserver's columns.
 */
import type { RequestInfo } from '../../api/context.ts'
import { formatDuration } from '../../lib/time/duration.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import { type FlowRequest, type Queue } from './flow-request.ts'
import type { Level } from './level.ts'

export type DumpTime = { readonly wallMs: number; readonly monotonicMs: number }

const pages = '/debug/api_priority_and_fairness/'

/** Returns the dump page at a path, or undefined if there is no dump page at this path. */
export function dumpFlows(
  path: string,
  query: URLSearchParams,
  { levels, now }: { readonly levels: () => readonly Level[]; readonly now: DumpTime },
): Promise<string> | undefined {
  if (!path.startsWith(pages)) return undefined
  switch (path.slice(pages.length)) {
    case 'dump_priority_levels':
      return table(levelColumns, byName(levels()).map(levelRow))
    case 'dump_queues':
      return table(queueColumns, rowsOf(levels(), queueRows))
    case 'dump_requests': {
      const hasDetails = (query.get('includeRequestDetails') ?? '') !== ''
      const columns = hasDetails ? [...requestColumns, ...detailColumns] : requestColumns
      return table(
        columns,
        rowsOf(levels(), (level) => requestRows(level, hasDetails, now)),
      )
    }
    default:
      return undefined
  }
}

function* rowsOf(
  levels: readonly Level[],
  rows: (level: Level) => Iterable<string[]>,
): Generator<string[], void, void> {
  for (const level of byName(levels)) yield* rows(level)
}

const byName = (levels: readonly Level[]): Level[] =>
  levels.toSorted(({ spec: one }, { spec: other }) => (one.name < other.name ? -1 : 1))

const levelColumns = [
  'PriorityLevelName',
  'ActiveQueues',
  'IsIdle',
  'IsQuiescing',
  'WaitingRequests',
  'ExecutingRequests',
  'DispatchedRequests',
  'RejectedRequests',
  'TimedoutRequests',
  'CancelledRequests',
]

function levelRow({ spec, queues, isQuiescing }: Level): string[] {
  const { dispatched, refused, timedOut, cancelled } = queues.totals
  const active = queues.queues().filter(({ length }) => length > 0).length
  const values = [active, queues.isIdle, isQuiescing, queues.waiting, queues.executing]
  return [spec.name, ...[...values, dispatched, refused, timedOut, cancelled].map(String)]
}

const queueColumns = [
  'PriorityLevelName',
  'Index',
  'PendingRequests',
  'ExecutingRequests',
  'SeatsInUse',
  'NextDispatchR',
  'InitialSeatsSum',
  'MaxSeatsSum',
  'TotalWorkSum',
]

/**
 * Returns a row for each queue that has requests. kube-apiserver has a row for each configured
 * queue. Keelson does not create empty queues, because a priority level can have millions of
 * queues.
 */
const queueRows = ({ spec, queues }: Level): string[][] =>
  queues.queues().map((queue) => {
    const { index, length, executing, seatsInUse, nextR, initialSeatsSum, seatsSum, workSum } =
      queue
    const counts = [index, length, executing.length, seatsInUse].map(String)
    return [
      spec.name,
      ...counts,
      seatSeconds(nextR),
      `${initialSeatsSum}`,
      `${seatsSum}`,
      seatSeconds(workSum),
    ]
  })

const requestColumns = [
  'PriorityLevelName',
  'FlowSchemaName',
  'QueueIndex',
  'RequestIndexInQueue',
  'FlowDistingsher',
  'ArriveTime',
  'InitialSeats',
  'FinalSeats',
  'AdditionalLatency',
  'StartTime',
]
const detailColumns = [
  'UserName',
  'Verb',
  'APIPath',
  'Namespace',
  'Name',
  'APIVersion',
  'Resource',
  'SubResource',
]

/** Yields a row for each request. Executing requests have no position in their queue. */
function* requestRows(
  { spec, queues }: Level,
  hasDetails: boolean,
  now: DumpTime,
): Generator<string[], void, void> {
  const wallAt = (ms: number): string => shownTime(now.wallMs - (now.monotonicMs - ms))
  const row = (request: FlowRequest, queue: Queue | undefined, place: number): string[] => {
    const { series, distinguisher, work, arrivedMs, startedMs, state, asked } = request
    const started = state === 'waiting' ? '0001-01-01T00:00:00Z' : wallAt(startedMs)
    const places = [queue?.index ?? -1, place].map(String)
    const seats = [`${work.initialSeats}`, `${work.finalSeats}`, formatDuration(work.lingerMs)]
    const columns = [
      spec.name,
      series.schema,
      ...places,
      distinguisher,
      wallAt(arrivedMs),
      ...seats,
      started,
    ]
    return hasDetails ? [...columns, asked.user.name, ...detailsOf(asked.info)] : columns
  }
  for (const queue of queues.queues()) {
    // Copy the requests, because the queue changes while the page is created in slices.
    for (const [place, request] of [...queue.waiting].entries()) yield row(request, queue, place)
    for (const request of [...queue.executing]) yield row(request, queue, -1)
  }
  for (const request of [...queues.executingAlone()]) yield row(request, undefined, -1)
}

function detailsOf(info: RequestInfo): string[] {
  if (info.kind === 'path') return [info.verb, info.path, '', '', '', '', '']
  const { verb, namespace, name, group, version, plural, subresource } = info
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const path = `${root}${namespace === '' ? '' : `/namespaces/${namespace}`}/${plural}${name === '' ? '' : `/${name}`}`
  return [
    verb,
    path,
    namespace,
    name,
    group === '' ? version : `${group}/${version}`,
    plural,
    subresource,
  ]
}

const MS_PER_SECOND = 1000
const seatSeconds = (seatMs: number): string => `${(seatMs / MS_PER_SECOND).toFixed(8)}ss`

/** Formats a time like Go's format with nanoseconds: without trailing zeros. */
const shownTime = (wallMs: number): string => new Date(wallMs).toISOString().replace(/\.?0*Z$/, 'Z')

/** Minimum width of a column, as in kube-apiserver. */
const CELL_MIN = 8
/** Maximum length of a cell. User names can be as long as a header. */
const CELL_MAX = 256

/**
 * Formats a table. Each cell except the last is followed by a comma and spaces, so that columns are
 * aligned. There can be thousands of rows, so they are formatted in slices, between which the event
 * loop runs other work.
 */
async function table(
  header: readonly string[],
  rows: Iterable<readonly string[]>,
): Promise<string> {
  const slices = new Slices()
  const lines: string[][] = [[...header]]
  const widths = header.map((title) => Math.max(CELL_MIN, title.length + 2))
  for (const row of rows) {
    const cells = row.map(shownCell)
    cells.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, widthOf(cell) + 2)))
    lines.push(cells)
    if (slices.isOver) await slices.turn()
  }
  let text = ''
  for (const line of lines) {
    text += `${line.map((cell, at) => (at === header.length - 1 ? cell : padded(`${cell},`, widths[at] ?? 0))).join('')}\n`
    if (slices.isOver) await slices.turn()
  }
  return text
}

const padded = (cell: string, width: number): string =>
  cell + ' '.repeat(Math.max(0, width - widthOf(cell)))

// oxlint-disable-next-line no-control-regex -- the pattern must match every ASCII character
const ascii = /^[\x00-\x7f]*$/
// oxlint-disable-next-line no-control-regex -- the pattern must match control characters
const controls = /[\x00-\x1f\x7f]/g

const widthOf = (cell: string): number => (ascii.test(cell) ? cell.length : Array.from(cell).length)

/**
 * Truncates a string and replaces control characters, because user names can contain any
 * characters.
 */
function shownCell(text: string): string {
  const short = text.length > CELL_MAX ? `${text.slice(0, CELL_MAX)}…` : text
  return short.replaceAll(controls, ' ')
}

/**
 * Table of Pods. It shows the number of ready containers, and summarizes the status in one word.
 */
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  numberOf,
  textOf,
} from '../../api/object.ts'
import type { Cell, TableKind } from '../../api/table.ts'
import {
  columnsOf,
  createdAgo,
  hasCondition,
  type LaterTable,
  nameOf,
  orNone,
  specOf,
  statusOf,
} from './columns.ts'

/**
 * The first release that shows the reason of a failed container if another container has completed.
 */
const FAILURES_SHOWN_SINCE = 35

const podTableOf = (showsFailures: boolean): TableKind => ({
  columns: columnsOf(
    'Name | Ready | Status | Restarts | Age | IP* | Node* | Nominated Node* | Readiness Gates*',
  ),
  cells: (pod) => {
    const spec = specOf(pod)
    const status = statusOf(pod)
    const { word, ready, total, restarts } = summary(pod, showsFailures)
    const ips = itemsOf(status['podIPs']).map((one) => textOf(one['ip']))
    return [
      nameOf(pod),
      `${ready}/${total}`,
      word,
      restarts,
      createdAgo(pod),
      orNone(ips[0] ?? textOf(status['podIP'])),
      orNone(textOf(spec['nodeName'])),
      orNone(textOf(status['nominatedNodeName'])),
      gates(spec, status),
    ]
  },
  conditions: (pod) => {
    const { phase } = statusOf(pod)
    if (phase === 'Succeeded')
      return [completed('Succeeded', 'The pod has completed successfully.')]
    return phase === 'Failed' ? [completed('Failed', 'The pod failed.')] : []
  },
})

export const podTable = podTableOf(false)

export const laterPodTable: LaterTable = { since: FAILURES_SHOWN_SINCE, table: podTableOf(true) }

const completed = (reason: string, message: string): Fields => ({
  type: 'Completed',
  status: 'True',
  reason,
  message,
})

function gates(spec: Fields, { conditions }: Fields): string {
  const types = itemsOf(spec['readinessGates']).map((gate) => textOf(gate['conditionType']))
  if (types.length === 0) return '<none>'
  const held = new Set(
    itemsOf(conditions).flatMap(({ type, status }) => (status === 'True' ? [textOf(type)] : [])),
  )
  return `${types.filter((type) => held.has(type)).length}/${types.length}`
}

type Summary = {
  readonly word: string
  readonly ready: number
  readonly total: number
  readonly restarts: Cell
}

/**
 * Summarizes a Pod. While init containers run, only their status is shown. After that, only
 * containers and sidecars are considered.
 */
function summary(pod: KubeObject, showsFailures: boolean): Summary {
  const spec = specOf(pod)
  const status = statusOf(pod)
  const initContainers = itemsOf(spec['initContainers'])
  const sidecars = new Set(
    initContainers.filter((one) => one['restartPolicy'] === 'Always').map(containerName),
  )
  const total = itemsOf(spec['containers']).length + sidecars.size
  const begin = initialisation(
    itemsOf(status['initContainerStatuses']),
    sidecars,
    initContainers.length,
  )
  const isThrough = begin.word === undefined || hasCondition(status['conditions'], 'Initialized')
  const base = begin.word ?? phaseWord(status)
  const main = isThrough
    ? mainContainers(status, base, showsFailures)
    : { word: base, ready: 0, restarts: noRestarts }
  const restarts = isThrough ? sum(begin.sidecarRestarts, main.restarts) : begin.restarts
  return {
    word: deletionWord(pod, main.word),
    ready: begin.ready + main.ready,
    total,
    restarts: shownRestarts(restarts),
  }
}

type Restarts = { readonly count: number; readonly lastAt: string }

const noRestarts: Restarts = { count: 0, lastAt: '' }

/** Adds restarts. All timestamps have the same format, so they can be compared as strings. */
const sum = (a: Restarts, b: Restarts): Restarts => ({
  count: a.count + b.count,
  lastAt: a.lastAt > b.lastAt ? a.lastAt : b.lastAt,
})

const restartsOf = (status: Fields): Restarts => ({
  count: numberOf(status['restartCount']),
  lastAt: textOf(fieldsOf(fieldsOf(status['lastState'])['terminated'])['finishedAt']),
})

function shownRestarts({ count, lastAt }: Restarts): Cell {
  if (count === 0 || lastAt === '') return `${count}`
  return { parts: [`${count} (`, { sinceMs: Date.parse(lastAt) }, ' ago)'] }
}

const containerName = (container: Fields): string => textOf(container['name'])

type Initialisation = {
  /** The status to show, such as `Init:0/2`. Undefined after initialization has finished. */
  readonly word: string | undefined
  readonly ready: number
  readonly restarts: Restarts
  readonly sidecarRestarts: Restarts
}

function initialisation(
  statuses: readonly Fields[],
  sidecars: ReadonlySet<string>,
  containers: number,
): Initialisation {
  let restarts = noRestarts
  let sidecarRestarts = noRestarts
  let ready = 0
  for (const [at, status] of statuses.entries()) {
    const isSidecar = sidecars.has(containerName(status))
    restarts = sum(restarts, restartsOf(status))
    if (isSidecar) sidecarRestarts = sum(sidecarRestarts, restartsOf(status))
    const { terminated, waiting } = fieldsOf(status['state'])
    const isEnded = terminated !== undefined && numberOf(fieldsOf(terminated)['exitCode']) === 0
    const isStarted = isSidecar && status['started'] === true
    if (!isEnded && !isStarted) {
      const word = `Init:${initWord(terminated, waiting) ?? `${at}/${containers}`}`
      return { word, ready, restarts, sidecarRestarts }
    }
    if (!isEnded && status['ready'] === true) ready++
  }
  return { word: undefined, ready, restarts, sidecarRestarts }
}

function initWord(terminated: Json | undefined, waiting: Json | undefined): string | undefined {
  if (terminated !== undefined) return endWord(fieldsOf(terminated))
  const reason = textOf(fieldsOf(waiting)['reason'])
  return reason === '' || reason === 'PodInitializing' ? undefined : reason
}

function endWord({ reason, signal, exitCode }: Fields): string {
  if (textOf(reason) !== '') return textOf(reason)
  return numberOf(signal) === 0 ? `ExitCode:${numberOf(exitCode)}` : `Signal:${numberOf(signal)}`
}

type Main = { readonly word: string; readonly ready: number; readonly restarts: Restarts }

/**
 * Summarizes the containers. If several containers have a reason, the first one is shown. With
 * `showsFailures`, the reason of a failed container is shown instead of the word Completed.
 */
function mainContainers(
  { containerStatuses, conditions }: Fields,
  base: string,
  showsFailures: boolean,
): Main {
  let word = base
  let failure = ''
  let ready = 0
  let restarts = noRestarts
  for (const status of itemsOf(containerStatuses).toReversed()) {
    restarts = sum(restarts, restartsOf(status))
    const { waiting, terminated, running } = fieldsOf(status['state'])
    const reason = textOf(fieldsOf(waiting)['reason'])
    if (reason !== '') word = reason
    else if (terminated !== undefined) {
      word = endWord(fieldsOf(terminated))
      if (numberOf(fieldsOf(terminated)['exitCode']) !== 0) failure = word
    } else if (status['ready'] === true && running !== undefined) ready++
  }
  if (word === 'Completed') {
    if (ready > 0 && hasCondition(conditions, 'Ready')) word = 'Running'
    else if (showsFailures && failure !== '') word = failure
    else if (ready > 0) word = 'NotReady'
  }
  return { word, ready, restarts }
}

function phaseWord({ phase, reason, conditions }: Fields): string {
  const isGated = itemsOf(conditions).some(
    (one) => one['type'] === 'PodScheduled' && one['reason'] === 'SchedulingGated',
  )
  if (isGated) return 'SchedulingGated'
  return textOf(reason) === '' ? textOf(phase) : textOf(reason)
}

function deletionWord(pod: KubeObject, word: string): string {
  if (pod.metadata.deletionTimestamp === undefined) return word
  const { reason, phase } = statusOf(pod)
  if (reason === 'NodeLost') return 'Unknown'
  return phase === 'Succeeded' || phase === 'Failed' ? word : 'Terminating'
}

/**
 * Measures what flow control costs a request, with the flow schemas and priority levels of a new
 * cluster: classifying it, assigning seats, counting it and releasing the seats. Covers two cases:
 * no request waits; or all seats of the level are taken and hundreds of requests wait.
 */
import type { RequestInfo } from '../../../src/api/context.ts'
import { fieldsOf, type KubeObject, textOf } from '../../../src/api/object.ts'
import { defaultMinor } from '../../../src/api/releases.ts'
import type { User } from '../../../src/api/user.ts'
import { flowControlObjects } from '../../../src/controllers/bootstrap-flow-control.ts'
import {
  type FlowControlRequest,
  FlowControl,
  type Seat,
} from '../../../src/request/flow/flow-control.ts'
import { readSchema } from '../../../src/request/flow/flow-schema.ts'
import { FlowRequest, oneSeat } from '../../../src/request/flow/flow-request.ts'
import { FlowMetrics } from '../../../src/request/flow/metrics.ts'
import { readLevel } from '../../../src/request/flow/priority-level.ts'
import { Hand, handOf, hashOfFlow } from '../../../src/request/flow/shuffle-sharding.ts'
import { Metrics } from '../../../src/lib/telemetry/metrics.ts'
import { systemTime } from '../../../src/lib/time/timers.ts'
import type { Figure } from '../../report/figure.ts'

const ROUNDS = 300_000
const WARM_UP_ROUNDS = 50_000
/** Maximum cost of flow control per request. A get takes about 60 µs in total. */
const MICROS_MAX = 3
/**
 * Maximum cost per request while most requests of the priority level are queued. The end of each
 * request then also selects the next request from the queues, which costs additional time.
 */
const CROWDED_MICROS_MAX = 12
const WAITING = 280

const account = (name: string): User => ({
  name: `system:serviceaccount:default:${name}`,
  uid: '',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
})
const admin: User = { name: 'admin', uid: '', groups: ['system:masters', 'system:authenticated'] }

const info = (verb: string): RequestInfo => ({
  kind: 'resource',
  verb,
  group: '',
  version: 'v1',
  plural: 'pods',
  subresource: '',
  namespace: 'default',
  name: verb === 'list' || verb === 'create' ? '' : 'one',
  segments: [],
  isWatchPath: false,
})

function createFlows(): FlowControl {
  const flows = new FlowControl({
    countsInitialObjects: false,
    // Run deferred work immediately. If it ran in a later tick of the event loop, the measured time
    // would include the wait for this tick.
    time: { ...systemTime, defer: (run) => run() },
    metrics: new FlowMetrics(new Metrics(), 0),
    seats: 600,
    countObjects: () => 10_000,
    requestTimeoutMs: 60_000,
  })
  for (const { object } of flowControlObjects(defaultMinor)) {
    const name = textOf(fieldsOf(object['metadata'])['name'])
    const read: KubeObject = {
      ...object,
      apiVersion: '',
      kind: textOf(object['kind']),
      metadata: { name, uid: name },
    }
    if (read['kind'] === 'FlowSchema') flows.setSchema(name, readSchema(read))
    else flows.setLevel(name, readLevel(read))
  }
  return flows
}

const query = new URLSearchParams()
const never = new AbortController()
const entering = (user: User, asked: RequestInfo): FlowControlRequest => ({
  user,
  info: asked,
  timeoutMs: 60_000,
  nowMs: systemTime.monotonicMs(),
  request: { query, signal: never.signal, connection: never },
})

function enter(flows: FlowControl, user: User, asked: RequestInfo): Seat | Promise<Seat> {
  const flow = flows.classify(user, asked)
  if (flow === undefined) throw new Error('no flow schema of a new cluster matches the request')
  return flows.enter(flow, entering(user, asked))
}

/** Returns CPU time of this thread, which other load on the machine does not affect. */
function microsOf(round: () => void): number {
  for (let at = 0; at < WARM_UP_ROUNDS; at++) round()
  const before = process.threadCpuUsage()
  for (let at = 0; at < ROUNDS; at++) round()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / ROUNDS
}

const figure = (name: string, value: number, below = MICROS_MAX): Figure => ({
  name,
  value,
  unit: 'µs',
  target: { below },
})

export function benchFlow(): Figure[] {
  using flows = createFlows()
  const once = (user: User, verb: string) => {
    const asked = info(verb)
    return (): void => {
      const seat = enter(flows, user, asked)
      if (seat instanceof Promise)
        throw new Error('the request waited although there are free seats')
      seat.leave()
    }
  }
  return [
    figure('flow control: a get by a ServiceAccount', microsOf(once(account('a'), 'get'))),
    figure('flow control: a get by an administrator, exempt', microsOf(once(admin, 'get'))),
    figure('flow control: a create', microsOf(once(account('a'), 'create'))),
    figure('flow control: a list of 10,000 objects', microsOf(once(account('a'), 'list'))),
    figure(`flow control: a get while ${WAITING} wait`, crowded(), CROWDED_MICROS_MAX),
  ]
}

/**
 * Measures requests while all seats of a priority level are taken. Whenever a request ends, a
 * queued request starts, and a new request joins the queue.
 */
function crowded(): number {
  using flows = createFlows()
  const flow = flows.classify(account('a'), info('get'))
  if (flow === undefined) throw new Error('no flow schema of a new cluster matches the request')
  const { level, series } = flow
  const { queuing } = level.spec
  if (queuing === undefined) throw new Error('the level of service accounts has no queues')
  const hands = Array.from({ length: 20 }, (_, at) =>
    handOf(hashOfFlow('service-accounts', `user-${at}`), queuing),
  )
  const seated: FlowRequest[] = []
  let next = 0
  const ask = (): void => {
    const asked = { user: { name: '' }, info: info('get') }
    const request = new FlowRequest({ series, distinguisher: '', work: oneSeat, asked })
    request.onSeated = () => void seated.push(request)
    if (level.queues.enter(request, hands[next++ % hands.length] ?? new Hand([0])) === 'seated')
      seated.push(request)
  }
  while (level.queues.waiting < WAITING) ask()
  let ended = 0
  return microsOf(() => {
    const first = seated[ended++]
    if (first !== undefined) level.queues.finish(first)
    ask()
  })
}

/**
 * What flow control costs a request, with the schemas and levels of a new cluster: to be
 * classified, seated and counted, and to leave. When nothing waits, and when every seat of the
 * level is taken and hundreds wait.
 */
import type { RequestInfo } from '../../../src/api/context.ts'
import { fieldsOf, type KubeObject, textOf } from '../../../src/api/object.ts'
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
/** "A few microseconds at most" (issue 20), of a get of some 60. */
const MICROS_MAX = 3
/** Where most of the level waits, each request also looks for the next one among the queues. */
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
    // Everything begins in its own turn: what is measured is not how much a turn takes.
    time: { ...systemTime, defer: (run) => run() },
    metrics: new FlowMetrics(new Metrics(), 0),
    seats: 600,
    countObjects: () => 10_000,
    requestTimeoutMs: 60_000,
  })
  for (const { object } of flowControlObjects) {
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
  if (flow === undefined) throw new Error('a new cluster has a schema for everybody')
  return flows.enter(flow, entering(user, asked))
}

/** CPU of this thread: what others do on the machine does not count. */
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
      if (seat instanceof Promise) throw new Error('there are seats')
      seat.leave()
    }
  }
  return [
    figure('flow control: a get of an account', microsOf(once(account('a'), 'get'))),
    figure('flow control: a get of an administrator, exempt', microsOf(once(admin, 'get'))),
    figure('flow control: a create', microsOf(once(account('a'), 'create'))),
    figure('flow control: a list of 10,000 objects', microsOf(once(account('a'), 'list'))),
    figure(`flow control: a get while ${WAITING} wait`, crowded(), CROWDED_MICROS_MAX),
  ]
}

/** Each request that ends lets another one begin, and one more comes to wait. */
function crowded(): number {
  using flows = createFlows()
  const flow = flows.classify(account('a'), info('get'))
  if (flow === undefined) throw new Error('a new cluster has a schema for everybody')
  const { level, series } = flow
  const { queuing } = level.spec
  if (queuing === undefined) throw new Error('accounts wait in queues')
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

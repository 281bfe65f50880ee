import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldBytes } from '../../../test/support/harness/held-bytes.ts'
import { SteppedTime } from '../../../test/support/harness/stepped-time.ts'
import type { RequestInfo } from '../../api/context.ts'
import { TextError } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { User } from '../../api/user.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { dumpFlows } from './dump.ts'
import { type EnteringRequest, FlowControl, type Seat } from './flow-control.ts'
import { readSchema } from './flow-schema.ts'
import { FlowMetrics } from './metrics.ts'
import { readLevel } from './priority-level.ts'

const level: KubeObject = {
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'PriorityLevelConfiguration',
  metadata: { name: 'all', uid: 'uid-level' },
  spec: {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: 95,
      limitResponse: { type: 'Queue', queuing: { queues: 8, handSize: 4, queueLengthLimit: 50 } },
    },
  },
}
const schema: KubeObject = {
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'FlowSchema',
  metadata: { name: 'all', uid: 'uid-schema' },
  spec: {
    matchingPrecedence: 1000,
    priorityLevelConfiguration: { name: 'all' },
    distinguisherMethod: { type: 'ByUser' },
    rules: [
      {
        subjects: [{ kind: 'User', user: { name: '*' } }],
        resourceRules: [
          {
            verbs: ['*'],
            apiGroups: ['*'],
            resources: ['*'],
            namespaces: ['*'],
            clusterScope: true,
          },
        ],
      },
    ],
  },
}

type EnterOptions = Partial<Pick<EnteringRequest, 'headers' | 'hasBody'>> & {
  readonly timeoutMs?: number
}

class FlowControlFixture implements Disposable {
  readonly time = new SteppedTime()
  readonly flows: FlowControl
  readonly gone = new AbortController()

  constructor({ seats = 600, objects = 0 } = {}) {
    const metrics = new FlowMetrics(new Metrics(), 0)
    const countObjects = (): number => objects
    this.flows = new FlowControl({
      countsInitialObjects: false,
      time: this.time,
      metrics,
      seats,
      countObjects,
      requestTimeoutMs: 60_000,
    })
    this.flows.setLevel('all', readLevel(level))
    this.flows.setSchema('all', readSchema(schema))
  }

  [Symbol.dispose](): void {
    this.flows[Symbol.dispose]()
  }

  enter(
    name: string,
    verb = 'get',
    { timeoutMs = 60_000, ...sent }: EnterOptions = {},
  ): MaybePromise<Seat> {
    const user: User = { name, uid: '', groups: ['system:authenticated'] }
    const place = {
      group: '',
      version: 'v1',
      plural: 'pods',
      subresource: '',
      namespace: 'a',
      name: 'x',
    }
    const info: RequestInfo = {
      kind: 'resource',
      verb,
      ...place,
      name: verb === 'list' ? '' : 'x',
      segments: [],
      isWatchPath: false,
    }
    const flow = this.flows.classify(user, info) ?? assert.fail()
    assert.equal(flow.schema.name, 'all')
    const request = {
      query: new URLSearchParams(),
      signal: this.gone.signal,
      connection: name,
      ...sent,
    }
    return this.flows.enter(flow, {
      user,
      info,
      timeoutMs,
      nowMs: this.time.monotonicMs(),
      request,
    })
  }
}

test('the next request of a flow does not wait behind queued requests of another flow', async () => {
  for (let other = 0; other < 30; other++) {
    using world = new FlowControlFixture()
    const began: string[] = []
    const begin = (name: string): void => {
      const seat = world.enter(name, 'update')
      if (seat instanceof Promise) void seat.then(() => began.push(name))
      else began.push(name)
    }
    for (let at = 0; at < 200; at++) begin('bully')
    began.length = 0
    begin(`user-${other}`)
    world.time.advance(0)
    await new Promise((resolve) => setImmediate(resolve))
    assert.ok(
      began.indexOf(`user-${other}`) >= 0 && began.indexOf(`user-${other}`) <= 1,
      `user-${other}: ${began.join()}`,
    )
  }
})

test('a request waits for seats for at most a quarter of its timeout', async () => {
  using world = new FlowControlFixture({ seats: 1 })
  const first = world.enter('a')
  assert.ok(!(first instanceof Promise))
  const late = world.enter('a', 'get', { timeoutMs: 8_000 })
  const patient = world.enter('a')
  assert.ok(late instanceof Promise && patient instanceof Promise)
  world.time.advance(2_000)
  await assert.rejects(late, (error) => error instanceof TextError && error.code === 429)
  first.leave()
  const seat = await patient
  assert.equal(seat.state, 'executing')
})

test('if a flow continues to send rejected requests, later rejections are delayed', async () => {
  using world = new FlowControlFixture({ seats: 1 })
  void world.enter('flood')
  const outcomes = { atOnce: 0, late: 0 }
  const refusals: Promise<unknown>[] = []
  for (let at = 0; at < 260; at++) {
    try {
      const entered = world.enter('flood', 'get')
      if (entered instanceof Promise) refusals.push(entered.catch(() => outcomes.late++))
    } catch {
      outcomes.atOnce++
    }
  }
  // Four queues hold 200 of the 260 requests, 50 in each queue. Of the other 60, 20 are rejected
  // immediately.
  assert.equal(outcomes.atOnce, 20)
  world.time.advance(2_000)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(outcomes.late, 40)
})

test('the number of seats that a list acquires depends on the number of objects that it reads', () => {
  using world = new FlowControlFixture({ objects: 450 })
  const seat = world.enter('a', 'list')
  assert.ok(!(seat instanceof Promise))
  assert.equal(seat.seats, 5)
  using larger = new FlowControlFixture({ objects: Infinity })
  const widest = larger.enter('a', 'list')
  assert.ok(!(widest instanceof Promise))
  assert.equal(widest.seats, 10)
})

test('each column of a flow control dump is as wide as its widest cell', async () => {
  using world = new FlowControlFixture({ seats: 1 })
  for (let at = 0; at < 40; at++)
    void world.enter(at === 5 ? 'x'.repeat(50_000) : `user-${at % 3}\n`)
  const options = { levels: () => world.flows.levels(), now: { wallMs: 0, monotonicMs: 0 } }
  const page = '/debug/api_priority_and_fairness/dump_requests'
  const text = await dumpFlows(page, new URLSearchParams('includeRequestDetails=1'), options)
  const lines = (text ?? '').trimEnd().split('\n')
  assert.equal(lines.length, 41)
  assert.ok((text ?? '').length < 50_000, `${text?.length}`)
  assert.equal(
    dumpFlows('/debug/api_priority_and_fairness/nope', new URLSearchParams(), options),
    undefined,
  )
})

test('a cached flow does not retain the path of its request', async () => {
  using world = new FlowControlFixture()
  const byNamespace = {
    ...schema,
    spec: { ...Object(schema['spec']), distinguisherMethod: { type: 'ByNamespace' } },
  }
  world.flows.setSchema('all', readSchema(byNamespace))
  const user: User = { name: 'a', uid: '', groups: ['system:authenticated'] }
  const held = await heldBytes(() => {
    for (let at = 0; at < 50; at++) {
      const path = `namespace-of-request-${at}/${Buffer.alloc(1 << 20, 'a').toString('latin1')}`
      const [namespace = ''] = Buffer.from(path).toString('latin1').split('/')
      const place = {
        group: '',
        version: 'v1',
        plural: 'pods',
        subresource: '',
        namespace,
        name: 'x',
      }
      const info: RequestInfo = {
        kind: 'resource',
        verb: 'get',
        ...place,
        segments: [],
        isWatchPath: false,
      }
      const flow = world.flows.classify(user, info) ?? assert.fail()
      const request = { query: new URLSearchParams(), signal: world.gone.signal }
      const seat = world.flows.enter(flow, { user, info, timeoutMs: 60_000, nowMs: 0, request })
      if (seat instanceof Promise) assert.fail()
      seat.leave()
      world.time.advance(1)
    }
  })
  assert.ok(held < 10 << 20, `${held} bytes are held`)
})

function seatsOf(sent: EnterOptions): number {
  using world = new FlowControlFixture()
  const seat = world.enter('alice', 'update', sent)
  assert(!(seat instanceof Promise))
  return seat.work.initialSeats
}

test('a request with a body of unknown length takes as many seats as a request with the longest body', () => {
  assert.equal(seatsOf({ hasBody: true, headers: {} }), 10)
  assert.equal(seatsOf({ hasBody: true, headers: { 'content-length': '300000' } }), 2)
  assert.equal(seatsOf({ hasBody: false, headers: {} }), 1)
})

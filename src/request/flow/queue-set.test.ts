import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { FlowRequest, oneSeat, type Work } from './flow-request.ts'
import { FlowMetrics } from './metrics.ts'
import { QueueSet, type QueueSetConfig } from './queue-set.ts'
import { SeatDemand } from './seat-demand.ts'
import { Hand, handOf, hashOfFlow } from './shuffle-sharding.ts'
import { SteppedTime } from '../../../test/support/harness/stepped-time.ts'
import { Random } from '../../../test/chaos/simulation/random.ts'

const info = { kind: 'path', verb: 'get', path: '/' } as const

class QueueSetFixture {
  readonly time = new SteppedTime()
  readonly metrics = new FlowMetrics(new Metrics(), 0)
  readonly set: QueueSet
  readonly #config: QueueSetConfig
  readonly #hands = new Map<string, Hand>()

  constructor(config: Partial<QueueSetConfig> & { readonly seats: number }) {
    this.#config = {
      isExempt: false,
      queuing: { queues: 64, handSize: 4, lengthMax: 50 },
      ...config,
    }
    const series = this.metrics.levels.series('level', 0)
    this.set = new QueueSet(this.#config, { time: this.time, series, demand: new SeatDemand(0) })
  }

  request(work: Work = oneSeat, flow = 'a'): FlowRequest {
    const series = this.metrics.flows.series('schema', 'level')
    return new FlowRequest({
      series,
      distinguisher: flow,
      work,
      asked: { user: { name: flow }, info },
    })
  }

  enter(request: FlowRequest): ReturnType<QueueSet['enter']> {
    const { queuing } = this.#config
    const { distinguisher } = request
    const known = this.#hands.get(distinguisher)
    const hand =
      known ??
      (queuing === undefined ? new Hand([0]) : handOf(hashOfFlow('schema', distinguisher), queuing))
    this.#hands.set(distinguisher, hand)
    return this.set.enter(request, hand)
  }
}

test('a request gets seats if seats are free, otherwise waits in a queue, and is rejected when the queue is full', () => {
  const world = new QueueSetFixture({ seats: 2, queuing: { queues: 1, handSize: 1, lengthMax: 2 } })
  const all = Array.from({ length: 5 }, () => world.request())
  assert.deepEqual(
    all.map((one) => world.enter(one)),
    ['seated', 'seated', 'waiting', 'waiting', 'queue-full'],
  )
  const [first, , third, fourth] = all
  assert.ok(first !== undefined && third !== undefined && fourth !== undefined)
  let seated = ''
  third.onSeated = () => (seated += '3')
  fourth.onSeated = () => (seated += '4')
  world.set.finish(first)
  assert.equal(seated, '3')
  world.set.finish(first)
  assert.equal(seated, '3', 'a request ends once')
  world.set.finish(third)
  assert.equal(seated, '34')
})

test('a priority level without queues rejects requests if no seat is free', () => {
  const world = new QueueSetFixture({ seats: 1, queuing: undefined })
  const [one, other] = [world.request(), world.request()]
  assert.equal(world.enter(one), 'seated')
  assert.equal(world.enter(other), 'concurrency-limit')
  world.set.finish(one)
  assert.equal(world.enter(world.request()), 'seated')
})

test('an exempt priority level never rejects a request', () => {
  const world = new QueueSetFixture({ seats: 0, isExempt: true, queuing: undefined })
  for (let at = 0; at < 1000; at++) assert.equal(world.enter(world.request()), 'seated')
  assert.equal(world.set.seatsInUse, 1000)
})

test('a request can be removed from its queue only while it is waiting', () => {
  const world = new QueueSetFixture({ seats: 1, queuing: { queues: 1, handSize: 1, lengthMax: 5 } })
  const [first, second, third] = [world.request(), world.request(), world.request()]
  for (const one of [first, second, third]) world.enter(one)
  assert.equal(world.set.giveUp(first, 'timedOut'), false, 'it is executing')
  assert.equal(world.set.giveUp(second, 'timedOut'), true)
  assert.equal(world.set.giveUp(second, 'timedOut'), false)
  let isSeated = false
  third.onSeated = () => (isSeated = true)
  world.set.finish(first)
  assert.ok(isSeated)
  assert.deepEqual(world.set.totals, { dispatched: 2, refused: 1, timedOut: 1, cancelled: 0 })
})

test('a request that needs several seats waits until all of them are free, and no other request overtakes it', () => {
  const world = new QueueSetFixture({
    seats: 4,
    queuing: { queues: 1, handSize: 1, lengthMax: 10 },
  })
  const small = [world.request(), world.request()]
  for (const one of small) world.enter(one)
  const wide = world.request({ initialSeats: 3, finalSeats: 0, lingerMs: 0 })
  const late = world.request()
  assert.equal(world.enter(wide), 'waiting')
  assert.equal(world.enter(late), 'waiting')
  const [first] = small
  assert.ok(first !== undefined)
  world.set.finish(first)
  assert.deepEqual([wide.state, late.state], ['executing', 'waiting'])
  assert.equal(world.set.seatsInUse, 4)
})

test('a request that needs more seats than the priority level has starts when no other request is executing', () => {
  const world = new QueueSetFixture({
    seats: 2,
    queuing: { queues: 1, handSize: 1, lengthMax: 10 },
  })
  const wide = world.request({ initialSeats: 10, finalSeats: 0, lingerMs: 0 })
  assert.equal(world.enter(wide), 'seated')
  assert.equal(world.enter(world.request()), 'waiting')
})

test('requests that need several seats leave some seats free for other requests', () => {
  const world = new QueueSetFixture({ seats: 16 })
  const list: Work = { initialSeats: 4, finalSeats: 0, lingerMs: 0 }
  const lists = Array.from({ length: 10 }, () => world.request(list, 'lister'))
  for (const one of lists) world.enter(one)
  assert.equal(lists.filter(({ state }) => state === 'executing').length, 3)
  assert.equal(world.enter(world.request(oneSeat, 'other')), 'seated', 'although lists are waiting')
  const [first] = lists
  assert.ok(first !== undefined)
  world.set.finish(first)
  assert.equal(lists.filter(({ state }) => state === 'executing').length, 3)
})

test('a queue is charged for a long request during its execution, so another flow does not wait behind many queued requests', () => {
  const world = new QueueSetFixture({ seats: 4 })
  const flood = Array.from({ length: 60 }, () => world.request(oneSeat, 'flood'))
  const endOne = (): void => {
    const oldest = flood.find(({ state }) => state === 'executing')
    assert.ok(oldest !== undefined)
    world.set.finish(oldest)
  }
  for (const one of flood) world.enter(one)
  // Each request takes one second, and one of them ends every 250 ms.
  for (let at = 0; at < 8; at++) {
    world.time.advance(250)
    endOne()
  }
  world.time.advance(100)
  const polite = world.request(oneSeat, 'polite')
  assert.equal(world.enter(polite), 'waiting')
  world.time.advance(150)
  endOne()
  assert.equal(polite.state, 'executing', 'it is next')
})

test('even with only one seat, a single request does not wait behind all queued requests of another flow', () => {
  const world = new QueueSetFixture({ seats: 1 })
  const flood = Array.from({ length: 100 }, () => world.request(oneSeat, 'flood'))
  for (const one of flood) world.enter(one)
  const endOne = (): void => {
    world.time.advance(250)
    const served = flood.find(({ state }) => state === 'executing')
    assert.ok(served !== undefined)
    world.set.finish(served)
  }
  for (let at = 0; at < 7; at++) endOne()
  const polite = world.request(oneSeat, 'polite')
  assert.equal(world.enter(polite), 'waiting')
  endOne()
  assert.equal(polite.state, 'executing')
})

test('the seats of a write remain in use while many watches are notified', () => {
  const world = new QueueSetFixture({
    seats: 4,
    queuing: { queues: 1, handSize: 1, lengthMax: 10 },
  })
  const write = world.request({ initialSeats: 1, finalSeats: 4, lingerMs: 5 })
  world.enter(write)
  const next = world.request()
  assert.equal(world.enter(next), 'waiting')
  world.set.finish(write)
  assert.deepEqual([write.state, next.state], ['lingering', 'waiting'])
  world.time.advance(4)
  assert.equal(next.state, 'waiting')
  world.time.advance(1)
  assert.deepEqual([write.state, next.state], ['over', 'executing'])
})

test('added seats start waiting requests, and removed seats do not interrupt executing requests', () => {
  const queuing = { queues: 1, handSize: 1, lengthMax: 10 }
  const world = new QueueSetFixture({ seats: 1, queuing })
  const all = Array.from({ length: 4 }, () => world.request())
  for (const one of all) world.enter(one)
  world.set.configure({ isExempt: false, queuing, seats: 3 })
  assert.equal(world.set.executing, 3)
  world.set.configure({ isExempt: false, queuing, seats: 1 })
  assert.equal(world.set.executing, 3)
})

test('requests in the queues of a priority level are executed even after its queues are removed', () => {
  const world = new QueueSetFixture({ seats: 1 })
  const [first, second] = [world.request(), world.request()]
  world.enter(first)
  world.enter(second)
  world.set.configure({ isExempt: false, queuing: undefined, seats: 1 })
  assert.equal(second.state, 'waiting')
  world.set.finish(first)
  assert.equal(second.state, 'executing')
  world.set.finish(second)
  assert.ok(world.set.isIdle)
})

test('empty queues use no memory, even if a priority level is configured with many queues', () => {
  const world = new QueueSetFixture({
    seats: 5,
    queuing: { queues: 10_000_000, handSize: 2, lengthMax: 50 },
  })
  for (let at = 0; at < 5_000; at++) {
    const request = world.request(oneSeat, `flow-${at}`)
    world.enter(request)
    world.set.finish(request)
  }
  assert.ok(world.set.queues().length <= 300, `${world.set.queues().length}`)
})

/**
 * Simulates clients that always have `atOnce` concurrent requests, each of which takes `serviceMs`.
 * Returns the seat-milliseconds that each flow got.
 */
function serveFor(
  world: QueueSetFixture,
  totalMs: number,
  flows: readonly {
    readonly name: string
    readonly atOnce: number
    readonly serviceMs: number
    readonly work?: Work
  }[],
): Map<string, number> {
  const got = new Map<string, number>()
  const endMs = world.time.monotonicMs() + totalMs
  for (const { name, atOnce, serviceMs, work } of flows) {
    const send = (): void => {
      if (world.time.monotonicMs() >= endMs) return
      const request = world.request(work, name)
      const serve = (): void => {
        world.time.after(serviceMs, () => {
          got.set(name, (got.get(name) ?? 0) + serviceMs * request.work.initialSeats)
          world.set.finish(request)
          send()
        })
      }
      request.onSeated = serve
      const outcome = world.enter(request)
      if (outcome === 'seated') serve()
      else if (outcome !== 'waiting') world.time.after(1, send)
    }
    for (let at = 0; at < atOnce; at++) send()
  }
  world.time.advance(totalMs)
  return got
}

/** Two flows without a common queue. */
const apart = ['a', 'b'] as const

test('a flow with many requests gets no more seats than a flow with few requests, if both need their share', () => {
  const world = new QueueSetFixture({ seats: 10 })
  const [busy, other] = apart
  const got = serveFor(world, 20_000, [
    { name: busy, atOnce: 200, serviceMs: 10 },
    { name: other, atOnce: 10, serviceMs: 10 },
  ])
  // Each flow uses four queues, and all active queues get the same share of the seats.
  const share = (got.get(other) ?? 0) / ((got.get(busy) ?? 0) + (got.get(other) ?? 0))
  assert.ok(share > 0.45 && share < 0.55, `${share}`)
})

test('a queue is charged for the actual duration of long requests instead of the estimated duration', () => {
  const world = new QueueSetFixture({ seats: 10 })
  const got = serveFor(world, 60_000, [
    { name: 'a', atOnce: 40, serviceMs: 100 },
    { name: 'b', atOnce: 40, serviceMs: 2 },
  ])
  const share = (got.get('b') ?? 0) / ((got.get('a') ?? 0) + (got.get('b') ?? 0))
  assert.ok(share > 0.4 && share < 0.6, `${share}`)
})

test('a queue is charged for all seats of a request that needs several seats', () => {
  const world = new QueueSetFixture({ seats: 20 })
  const got = serveFor(world, 60_000, [
    { name: 'a', atOnce: 40, serviceMs: 10, work: { initialSeats: 5, finalSeats: 0, lingerMs: 0 } },
    { name: 'b', atOnce: 40, serviceMs: 10 },
  ])
  const share = (got.get('b') ?? 0) / ((got.get('a') ?? 0) + (got.get('b') ?? 0))
  assert.ok(share > 0.4 && share < 0.6, `${share}`)
})

test('the requests of a flow that needs less than its share of seats start immediately', () => {
  const world = new QueueSetFixture({ seats: 10 })
  const waits: number[] = []
  const ask = (): void => {
    const request = world.request(oneSeat, 'b')
    const atMs = world.time.monotonicMs()
    const serve = (): void => {
      waits.push(world.time.monotonicMs() - atMs)
      world.time.after(3, () => world.set.finish(request))
    }
    request.onSeated = serve
    if (world.enter(request) === 'seated') serve()
    world.time.after(50, ask)
  }
  world.time.after(100, ask)
  serveFor(world, 10_000, [{ name: 'a', atOnce: 190, serviceMs: 10 }])
  assert.ok(waits.length > 100)
  assert.ok(
    Math.max(...waits) <= 10,
    `a seat becomes free within the duration of one request: ${Math.max(...waits)} ms`,
  )
})

test('a queue cannot save its unused share of the seats for later', () => {
  const world = new QueueSetFixture({ seats: 4 })
  serveFor(world, 10_000, [{ name: 'a', atOnce: 40, serviceMs: 10 }])
  world.time.advance(1000)
  const got = serveFor(world, 2_000, [
    { name: 'a', atOnce: 40, serviceMs: 10 },
    { name: 'b', atOnce: 40, serviceMs: 10 },
  ])
  const share = (got.get('b') ?? 0) / ((got.get('a') ?? 0) + (got.get('b') ?? 0))
  assert.ok(share > 0.4 && share < 0.6, `${share}`)
})

test('after requests with random arrivals, durations and cancellations, all seats and queues are released', () => {
  for (let seed = 1; seed <= 30; seed++) {
    const generator = new Random(seed)
    const random = (): number => generator.next()
    const world = new QueueSetFixture({
      seats: 1 + Math.floor(random() * 12),
      queuing: { queues: 8, handSize: 3, lengthMax: 4 },
    })
    const waiting: FlowRequest[] = []
    for (let at = 0; at < 600; at++) {
      const wide = random() < 0.2 ? 1 + Math.floor(random() * 10) : 1
      const work: Work = {
        initialSeats: wide,
        finalSeats: random() < 0.1 ? 6 : 0,
        lingerMs: random() < 0.1 ? 7 : 0,
      }
      const request = world.request(work, `flow-${Math.floor(random() * 5)}`)
      const serve = (): void =>
        void world.time.after(random() * 30, () => world.set.finish(request))
      request.onSeated = serve
      const outcome = world.enter(request)
      if (outcome === 'seated') serve()
      if (outcome === 'waiting') waiting.push(request)
      if (random() < 0.1) {
        const gone = waiting[Math.floor(random() * waiting.length)]
        if (gone !== undefined) world.set.giveUp(gone, 'cancelled')
      }
      world.time.advance(random() * 6)
    }
    world.time.advance(60_000)
    assert.ok(
      world.set.isIdle,
      `seed ${seed}: ${world.set.waiting} wait, ${world.set.executing} execute`,
    )
    assert.equal(world.set.seatsInUse, 0, `seed ${seed}`)
    for (const queue of world.set.queues())
      assert.deepEqual([queue.isActive, queue.seatsInUse], [false, 0])
    const series = world.metrics.flows.series('schema', 'level')
    for (const gauge of [
      'executingRequests',
      'executingSeats',
      'waitingRequests',
      'waitingSeats',
    ] as const) {
      assert.equal(series[gauge].value, 0, `seed ${seed}: ${gauge}`)
    }
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SteppedTime } from '../../../test/support/harness/stepped-time.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { FlowRequest, oneSeat } from './flow-request.ts'
import type { Level } from './level.ts'
import { Levels } from './levels.ts'
import { FlowMetrics } from './metrics.ts'
import type { LevelSpec } from './priority-level.ts'
import { Hand } from './shuffle-sharding.ts'

const limited = (name: string, shares: number, more: Partial<LevelSpec> = {}): LevelSpec => ({
  name,
  uid: `uid-${name}`,
  isExempt: false,
  shares,
  lendablePercent: 0,
  borrowingLimitPercent: undefined,
  queuing: { queues: 64, handSize: 6, lengthMax: 50 },
  ...more,
})

/** The priority levels of a new cluster. */
const suggested: readonly LevelSpec[] = [
  limited('system', 30, { lendablePercent: 33 }),
  limited('node-high', 40, { lendablePercent: 25 }),
  limited('leader-election', 10, { queuing: { queues: 16, handSize: 4, lengthMax: 50 } }),
  limited('workload-high', 40, { lendablePercent: 50 }),
  limited('workload-low', 100, { lendablePercent: 90 }),
  limited('global-default', 20, { lendablePercent: 50 }),
]

function worldOf(...specs: readonly LevelSpec[]) {
  const time = new SteppedTime()
  const metrics = new FlowMetrics(new Metrics(), 0)
  const levels = new Levels({ time, metrics, seats: 600 })
  for (const spec of specs) levels.set(spec.name, spec)
  levels.apply()
  const level = (name: string): Level => levels.get(name) ?? assert.fail(name)
  const use = (name: string, count: number): FlowRequest[] =>
    Array.from({ length: count }, (_, at) => {
      const info = { kind: 'path', verb: 'get', path: '/' } as const
      const series = metrics.flows.series('schema', name)
      const request = new FlowRequest({
        series,
        distinguisher: '',
        work: oneSeat,
        asked: { user: { name: '' }, info },
      })
      level(name).queues.enter(request, new Hand([at % 64]))
      return request
    })
  return { time, levels, level, use }
}

test('the priority levels of a new cluster have the same numbers of seats as in kube-apiserver', () => {
  const { level } = worldOf(...suggested)
  const shown = (name: string): number[] => {
    const { nominal, lower, upper, requestSeatsMax } = level(name)
    return [nominal, lower, upper, requestSeatsMax]
  }
  assert.deepEqual(shown('exempt'), [0, 0, 600, 10])
  assert.deepEqual(shown('catch-all'), [13, 13, 613, 10])
  assert.deepEqual(shown('system'), [74, 50, 674, 12])
  assert.deepEqual(shown('node-high'), [98, 73, 698, 15])
  assert.deepEqual(shown('leader-election'), [25, 25, 625, 4])
  assert.deepEqual(shown('workload-high'), [98, 49, 698, 15])
  assert.deepEqual(shown('workload-low'), [245, 24, 845, 37])
  assert.deepEqual(shown('global-default'), [49, 24, 649, 8])
})

test('a priority level that needs more seats borrows unused seats of others, and returns them when they are needed', () => {
  const { time, levels, level, use } = worldOf(...suggested)
  const held = use('global-default', 400)
  time.advance(10_000)
  levels.divide()
  const borrowed = level('global-default').current ?? 0
  assert.ok(borrowed > 200, `${borrowed}`)
  assert.ok((level('workload-low').current ?? 0) >= level('workload-low').lower)
  const total = levels.all().reduce((sum, { current = 0 }) => sum + current, 0)
  assert.ok(Math.abs(total - 602) <= 3, `${total}`)
  use('workload-low', 250)
  time.advance(10_000)
  levels.divide()
  assert.equal(level('workload-low').current, 245, 'it gets its own seats back within one period')
  for (const request of held) level('global-default').queues.finish(request)
})

test('bursts of exempt requests take no seats from other priority levels', () => {
  const { time, levels, level, use } = worldOf(...suggested)
  const before = level('workload-low').current
  for (let burst = 0; burst < 4; burst++) {
    const held = use('exempt', 1_000)
    time.advance(5)
    for (const request of held) level('exempt').queues.finish(request)
    time.advance(2_495)
  }
  levels.divide()
  assert.equal(level('workload-low').current, before)
  use('exempt', 400)
  time.advance(10_000)
  levels.divide()
  assert.ok((level('workload-low').current ?? 0) < (before ?? 0), 'exempt requests that last do')
})

test('priority levels stay within their limits for borrowing and lending', () => {
  const { time, levels, level, use } = worldOf(
    limited('a', 50, { borrowingLimitPercent: 10 }),
    limited('b', 50, { lendablePercent: 40 }),
  )
  use('a', 500)
  time.advance(10_000)
  levels.divide()
  const { current, nominal } = level('a')
  assert.equal(current, nominal + Math.round(nominal * 0.1))
  assert.ok((level('b').current ?? 0) >= level('b').lower)
})

test('a priority level whose object was deleted is removed when its last request ends', () => {
  const { levels, level, use } = worldOf(...suggested)
  const [request] = use('system', 1)
  const { queues } = level('system')
  levels.set('system', undefined)
  levels.apply()
  assert.equal(levels.get('system'), undefined)
  assert.ok(levels.all().some(({ spec, isQuiescing }) => spec.name === 'system' && isQuiescing))
  assert.ok(request !== undefined)
  queues.finish(request)
  assert.ok(levels.all().every(({ spec }) => spec.name !== 'system'))
})

test('the mandatory priority levels exist even without their objects', () => {
  const { levels } = worldOf()
  assert.deepEqual(
    levels.all().map(({ spec, nominal }) => [spec.name, nominal]),
    [
      ['exempt', 0],
      ['catch-all', 600],
    ],
  )
})

import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { systemTime } from '../lib/time/timers.ts'
import { Subscription } from './subscription.ts'
import { identity } from './transform.ts'

const nothing = (): void => undefined

test('readers that wait for the same revision share one wait only if their deadlines are close together', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    let nowMs = 0
    const pass = (ms: number): void => {
      nowMs += ms
      mock.timers.tick(ms)
    }
    const subscription = new Subscription({
      prefix: '/registry/pods/',
      revision: 1,
      feedRevision: () => 1,
      transformer: identity,
      time: { ...systemTime, monotonicMs: () => nowMs },
      onWait: nothing,
      onEnd: nothing,
    })
    const outcomes: string[] = []
    const reach = (name: string, timeoutMs: number): Promise<boolean> => {
      const reaching = subscription.receive(5, timeoutMs)
      void reaching.then((isReached) => outcomes.push(`${name} ${isReached} at ${nowMs}`))
      return reaching
    }
    const first = reach('first', 3_000)
    pass(20)
    assert.equal(reach('second', 3_000), first)
    const brief = reach('brief', 500)
    pass(2_900)
    const late = reach('late', 3_000)
    assert.equal(await brief, false)
    pass(100)
    assert.equal(await first, false)
    assert.equal(subscription.isWaiting, true)
    pass(1_000)
    subscription.emitGap(5)
    assert.equal(await late, true)
    assert.deepEqual(outcomes, [
      'brief false at 2920',
      'first false at 3020',
      'second false at 3020',
      'late true at 4020',
    ])
    assert.equal(subscription.isWaiting, false)
  } finally {
    mock.timers.reset()
  }
})

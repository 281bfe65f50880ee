import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWeight, TickScheduler } from './tick-scheduler.ts'

function harness(shortensContended = true) {
  const began: string[] = []
  const due: (() => void)[] = []
  const scheduler = new TickScheduler({ defer: (call) => void due.push(call), shortensContended })
  /** Sends a request. `low/a` stands for the group `low` and its flow `a`. */
  const ask = (name: string, { isWrite = true, isGone = false, seats = 1 } = {}): void => {
    const weight = startWeight(isWrite, seats)
    if (scheduler.tryStart(weight)) began.push(name)
    else {
      const [group, flow] = name.split('/')
      const start = (): boolean => {
        if (!isGone) began.push(name)
        return !isGone
      }
      scheduler.enqueue({ group, flow, weight, start })
    }
  }
  const nextTick = (): string[] => {
    began.length = 0
    due.shift()?.()
    return [...began]
  }
  return { scheduler, ask, began, nextTick, due }
}

const countOf = (names: readonly string[], name: string): number =>
  names.filter((one) => one === name).length

test('a tick starts 32 writes or 256 reads, and the next tick starts the rest', () => {
  const { ask, began, nextTick } = harness()
  for (let at = 0; at < 80; at++) ask('low/a')
  assert.equal(began.length, 32)
  assert.equal(nextTick().length, 32)
  assert.equal(nextTick().length, 16)
  assert.equal(nextTick().length, 0)
  const reads = harness()
  for (let at = 0; at < 300; at++) reads.ask('low/a', { isWrite: false })
  assert.equal(reads.began.length, 256)
})

test('if several flows have requests, a tick starts fewer requests, and groups and their flows take turns', () => {
  const { ask, nextTick } = harness()
  for (let at = 0; at < 400; at++) ask('low/bully')
  ask('low/polite')
  ask('high/lease')
  const next = nextTick()
  assert.equal(next.length, 8)
  assert.equal(countOf(next, 'high/lease'), 1)
  assert.equal(countOf(next, 'low/polite'), 1)
  assert.ok(next.indexOf('low/polite') <= 2, next.join())
})

test('ticks start fewer requests for a while after requests of two flows have arrived', () => {
  const { ask, began, nextTick, scheduler } = harness()
  ask('low/polite')
  nextTick()
  scheduler.markContended()
  began.length = 0
  for (let at = 0; at < 80; at++) ask('low/bully')
  assert.equal(began.length, 8, 'the tick that has begun')
  assert.equal(nextTick().length, 8)
  for (let at = 0; at < 1000; at++) {
    nextTick()
    ask('low/bully')
  }
  nextTick()
  for (let at = 0; at < 80; at++) ask('low/bully')
  assert.equal(nextTick().length, 32)
})

test('a list request that takes several seats counts as several reads of a tick', () => {
  const { ask, began } = harness()
  for (let at = 0; at < 300; at++) ask('low/a', { isWrite: false, seats: 8 })
  assert.equal(began.length, 32)
})

test('requests that ended while waiting do not use up the capacity of a tick', () => {
  const { ask, nextTick, scheduler } = harness()
  for (let at = 0; at < 32; at++) ask('low/a')
  for (let at = 0; at < 100; at++) ask('low/a', { isGone: true })
  ask('low/a')
  let served: string[] = []
  while (scheduler.waiting > 0) served = nextTick()
  assert.deepEqual(served, ['low/a'])
})

test('queued requests that have ended do not use up the turn of their flow', () => {
  const { ask, nextTick } = harness(false)
  for (let at = 0; at < 32; at++) ask('any/busy')
  for (let at = 0; at < 100; at++) ask('any/retrying', { isGone: true })
  ask('any/retrying')
  for (let at = 0; at < 100; at++) ask('any/busy')
  assert.ok(nextTick().includes('any/retrying'))
})

test('no tick is scheduled while no requests arrive', () => {
  const { ask, nextTick, due } = harness()
  ask('low/a')
  nextTick()
  assert.equal(due.length, 0)
})

test('a client that sends one request waits at most one tick, even if another client sends hundreds of requests', () => {
  const { ask, nextTick } = harness(false)
  for (let at = 0; at < 200; at++) ask('any/busy')
  ask('any/small', { isWrite: false })
  const next = nextTick()
  assert.equal(countOf(next, 'any/small'), 1)
  assert.equal(countOf(next, 'any/busy'), 32)
})

test('requests of one flow start in the order of arrival', () => {
  const { scheduler, nextTick, due } = harness(false)
  const seen: number[] = []
  for (let at = 0; at < 80; at++) {
    const start = (): boolean => seen.push(at) > 0
    const weight = startWeight(true)
    if (scheduler.tryStart(weight)) start()
    else scheduler.enqueue({ flow: 'a', weight, start })
  }
  while (due.length > 0) nextTick()
  assert.deepEqual(
    seen,
    Array.from({ length: 80 }, (_, at) => at),
  )
})

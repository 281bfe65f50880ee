import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Timers } from '../lib/time/timers.ts'
import { RetriedStart } from './retried-start.ts'

class Waits {
  readonly asked: number[] = []
  #run: (() => void) | undefined
  readonly after: Timers['after'] = (ms, run) => {
    this.asked.push(ms)
    this.#run = run
    return { close: () => (this.#run = undefined) }
  }

  pass(): boolean {
    const run = this.#run
    this.#run = undefined
    run?.()
    return run !== undefined
  }
}

test('a failed start is logged and retried with increasing delays until it succeeds', async () => {
  const timers = new Waits()
  const logged: string[] = []
  let isBroken = true
  let running = 0
  const start = (): AsyncDisposable => {
    if (isBroken) throw new Error('of the test')
    running++
    return { [Symbol.asyncDispose]: async () => void running-- }
  }
  const one = new RetriedStart({
    name: 'it',
    start,
    log: (level, text) => logged.push(`${level} ${text}`),
    timers,
  })
  for (let tries = 0; tries < 8; tries++) assert.ok(timers.pass())
  assert.deepEqual(timers.asked.slice(0, 3), [1_000, 2_000, 4_000])
  assert.equal(timers.asked.at(-1), 60_000)
  assert.equal(logged[0], 'error failed to start it; retrying')
  isBroken = false
  assert.ok(timers.pass())
  assert.equal(running, 1)
  assert.ok(!timers.pass())
  await one[Symbol.asyncDispose]()
  assert.equal(running, 0)
})

const fail = (): AsyncDisposable => {
  throw new Error('of the test')
}

test('a failed start is not retried after the RetriedStart object was disposed of', async () => {
  const timers = new Waits()
  await new RetriedStart({ name: 'it', start: fail, log: () => undefined, timers })[
    Symbol.asyncDispose
  ]()
  assert.ok(!timers.pass())
})

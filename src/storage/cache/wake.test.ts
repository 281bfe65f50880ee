import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { type WaitingWatcher, Waker } from './wake.ts'

const sleeperOf = (woken: string[], name: string): WaitingWatcher => ({
  place: -1,
  wake: () => woken.push(name),
})

/** Waits longer than the waker's interval, and then until all scheduled calls have run. */
async function rest(): Promise<void> {
  await sleep(10)
  for (let i = 0; i < 3; i++) await turn()
}

test('each sleeping watcher is woken once per event, and a closed watcher is not woken', async () => {
  const waker = new Waker()
  const woken: string[] = []
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => sleeperOf(woken, name))
  assert.ok(a && b && c && d)
  for (const sleeper of [a, b, c, d, a, b]) waker.sleep(sleeper)
  waker.forget(b)
  waker.forget(b)
  waker.forget(d)
  waker.wake()
  await rest()
  assert.deepEqual(woken, ['a', 'c'])
  waker.wake()
  await rest()
  assert.deepEqual(woken, ['a', 'c'], 'nobody is asleep')
})

test('a watcher with an outdated queue index does not remove another watcher from the queue', async () => {
  const waker = new Waker()
  const woken: string[] = []
  const first = sleeperOf(woken, 'first')
  const second = sleeperOf(woken, 'second')
  waker.sleep(first)
  waker.wake()
  await rest()
  waker.sleep(second)
  waker.forget(first)
  waker.wake()
  await rest()
  assert.deepEqual(woken, ['first', 'second'])
})

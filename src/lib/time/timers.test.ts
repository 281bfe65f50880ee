import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measureFootprint } from '../../../test/support/harness/leaks.ts'
import { withTimeout, withOwnTimeout, systemTimers, type Timers } from './timers.ts'

/** Timers that fire when the test calls them. */
function fakeTimers(): {
  readonly timers: Pick<Timers, 'after'>
  readonly open: Map<number, () => void>
} {
  const open = new Map<number, () => void>()
  const after = (ms: number, run: () => void): { close(): void } => {
    open.set(ms, run)
    return { close: () => void open.delete(ms) }
  }
  return { timers: { after }, open }
}

const refuse = (): never => {
  throw new Error('too late')
}

test('a delay that exceeds the maximum of setTimeout does not fire immediately', async () => {
  for (const start of [systemTimers.after, systemTimers.every]) {
    let isOver = false
    const timer = start(2 ** 31, () => (isOver = true))
    await new Promise((resolve) => void setTimeout(resolve, 20))
    timer.close()
    assert.ok(!isOver)
  }
})

test('work that settles in time returns its result or error', async () => {
  for (const wait of [withTimeout, withOwnTimeout]) {
    const { timers, open } = fakeTimers()
    assert.equal(
      await wait(Promise.resolve('done'), 5, { onTimeout: () => 'late', timers }),
      'done',
    )
    await assert.rejects(
      wait(Promise.reject(new Error('failed')), 5, { onTimeout: () => 'late', timers }),
      /failed/,
    )
    assert.equal(open.size, 0, 'no timer is left')
  }
})

const isLate = (): boolean => true

test("a result that arrives after the work's own deadline counts as a timeout", async () => {
  const { timers, open } = fakeTimers()
  assert.equal(
    await withOwnTimeout(Promise.resolve('ended'), 5, {
      onTimeout: () => 'late',
      isTimedOut: isLate,
      timers,
    }),
    'late',
  )
  const failed = Promise.reject(new Error('aborted'))
  await assert.rejects(
    withOwnTimeout(failed, 5, { onTimeout: refuse, isTimedOut: isLate, timers }),
    /too late/,
  )
  assert.equal(open.size, 0, 'no timer is left')
})

test('work that takes longer than the limit times out', async () => {
  for (const wait of [withTimeout, withOwnTimeout]) {
    const { timers, open } = fakeTimers()
    const { promise: work, reject } = Promise.withResolvers<string>()
    const waiting = [
      wait(work, 4.2, { onTimeout: () => 'late', timers }),
      wait(work, 6, { onTimeout: refuse, timers }),
    ]
    assert.deepEqual([...open.keys()], [5, 6], 'whole milliseconds')
    for (const fire of open.values()) fire()
    assert.equal(await waiting[0], 'late')
    await assert.rejects(waiting[1] ?? Promise.resolve(), /too late/)
    reject(new Error('ignored'))
    await new Promise<void>((resolve) => systemTimers.defer(resolve))
  }
})

test('a caller that times out leaves no callbacks behind on work that never ends', async () => {
  const { timers, open } = fakeTimers()
  const { promise: work } = Promise.withResolvers<string>()
  const giveUp = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time++) {
      const waiting = withTimeout(work, 1, { onTimeout: () => 'late', timers })
      open.get(1)?.()
      await waiting
    }
  }
  await giveUp(1_000)
  const before = measureFootprint().memoryBytes
  await giveUp(50_000)
  assert.ok(measureFootprint().memoryBytes - before < 5_000_000)
})

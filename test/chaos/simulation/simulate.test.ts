import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from './random.ts'
import { guardRealTime } from './virtual/real-time-guard.ts'
import { simulateSeed } from './virtual/simulate-seed.ts'
import { VirtualTime } from './virtual/virtual-time.ts'

describe('a simulation is deterministic', () => {
  test('two simulations with the same seed run the same steps', async () => {
    for (const seed of [3, 4, 51]) {
      const lines: string[][] = [[], []]
      const [first, second] = [
        await simulateSeed(seed, { onLine: (line) => lines[0]?.push(line) }),
        await simulateSeed(seed, { onLine: (line) => lines[1]?.push(line) }),
      ]
      assert.ok(first.steps > 500, `${first.steps} steps`)
      assert.deepEqual(first.faults, [])
      assert.equal(
        lines[0]?.find((line, i) => line !== lines[1]?.[i]),
        undefined,
      )
      assert.equal(first.digest, second.digest)
    }
  })

  test('two simulations with different seeds run different steps', async () => {
    assert.notEqual((await simulateSeed(1)).digest, (await simulateSeed(2)).digest)
  })
})

test('the guard of a simulation blocks access to real time and randomness until it is disposed of', async () => {
  const touched: string[] = []
  {
    using guard = guardRealTime((what) => touched.push(what))
    void guard
    const uses = [
      () => setTimeout(() => undefined, 1),
      () => setImmediate(() => undefined),
      () => setInterval(() => undefined, 1),
      () => sleep(1),
      () => Date.now(),
      () => performance.now(),
      () => Math.random(),
      () => AbortSignal.timeout(1),
      () => crypto.randomUUID(),
    ]
    for (const use of uses) assert.throws(use, /real time or chance/)
    assert.equal(touched.length, uses.length)
  }
  await sleep(1)
  assert.ok(Date.now() > 0)
})

describe('timers run in virtual time', () => {
  const limits = { msMax: 1e6, stepsMax: 1000 }

  test('timers of the virtual clock run when they are due, and promises settle between two timers', async () => {
    const time = new VirtualTime(new Random(1))
    const seen: string[] = []
    const done = new Promise<void>((resolve) => time.after(30, resolve))
    time.after(20, () => seen.push('20'))
    time.after(10, () => {
      seen.push('10')
      time.defer(() => seen.push('soon'))
      void (async () => {
        for (let i = 0; i < 100; i++) await Promise.resolve()
        seen.push('settled')
      })()
    })
    const every = time.every(12, () => seen.push('every'))
    time.after(15, () => seen.push('closed')).close()
    await time.run(done, limits)
    every.close()
    assert.deepEqual(seen, ['10', 'settled', 'soon', 'every', '20', 'every'])
    assert.equal(time.pending, 0)
  })

  test('if a simulated task waits although no timer is pending, the task is reported', async () => {
    const time = new VirtualTime(new Random(1))
    await assert.rejects(time.run(new Promise(() => undefined), limits), /no timers are left/)
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GarbageSimulation } from './virtual/garbage-simulation.ts'
import { guardRealTime } from './virtual/real-time-guard.ts'

/** Limits of virtual time and of steps. A run that reaches them is in an endless loop. */
const limits = { msMax: 10 * 60_000, stepsMax: 400_000 }
/**
 * Seeds of the run. `GARBAGE_SEEDS=from-to` selects other seeds. The default seeds take a few
 * seconds.
 */
const [from = 0, to = 12] = (process.env['GARBAGE_SEEDS'] ?? '')
  .split('-')
  .filter(Boolean)
  .map(Number)

async function simulate(seed: number) {
  const touched: string[] = []
  using guard = guardRealTime((what) => touched.push(what))
  void guard
  const world = new GarbageSimulation(seed)
  const faults = await world.time.run(world.run(), limits)
  return {
    faults: [...faults, ...touched],
    collected: world.collected,
    digest: world.time.digest(),
  }
}

test('the garbage collector deletes no object that has a live owner, and leaves no garbage', async () => {
  let collected = 0
  for (let seed = from; seed < to; seed++) {
    const verdict = await simulate(seed)
    assert.deepEqual(
      verdict.faults,
      [],
      `GARBAGE_SEEDS=${seed}-${seed + 1} node --test test/chaos/simulation/garbage.test.ts`,
    )
    collected += verdict.collected
  }
  assert.ok(collected > to - from, `${collected} objects were collected`)
})

test('two simulation runs with the same seed are identical', async () => {
  assert.equal((await simulate(from)).digest, (await simulate(from)).digest)
})

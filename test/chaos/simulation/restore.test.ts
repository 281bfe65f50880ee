import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulateSeed } from './virtual/simulate-seed.ts'

/** Number of seeds, which take some seconds. `npm run simulate -- --world restore` runs others. */
const SEEDS = 12

test('a restore discards the pending work of controllers and clients, and returns when all parts have the restored state', async () => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const { faults } = await simulateSeed(seed, { world: 'restore' })
    assert.deepEqual(faults, [], `npm run simulate -- --world restore --seed ${seed}`)
  }
})

test('the same seed gives the same run', async () => {
  const [one, other] = [
    await simulateSeed(1, { world: 'restore' }),
    await simulateSeed(1, { world: 'restore' }),
  ]
  assert.equal(one.digest, other.digest)
})

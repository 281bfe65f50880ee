import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulateSeed } from './virtual/simulate-seed.ts'

/**
 * Number of seeds. They take a few seconds. `npm run simulate -- --world restore` runs other seeds.
 */
const SEEDS = 12

test('a restore discards pending work of controllers and clients, and ends when all components have the restored state', async () => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const { faults } = await simulateSeed(seed, { world: 'restore' })
    assert.deepEqual(faults, [], `npm run simulate -- --world restore --seed ${seed}`)
  }
})

test('two simulation runs with the same seed are identical', async () => {
  const [one, other] = [
    await simulateSeed(1, { world: 'restore' }),
    await simulateSeed(1, { world: 'restore' }),
  ]
  assert.equal(one.digest, other.digest)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulateSeed } from './virtual/simulate-seed.ts'

/** `npm run simulate -- --world restore` runs others than these, which take some seconds. */
const SEEDS = 12

test('a restore drops the work of controllers and clients, and returns when all parts follow it', async () => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const { faults } = await simulateSeed(seed, { world: 'restore' })
    assert.deepEqual(faults, [], `npm run simulate -- --world restore --seed ${seed}`)
  }
})

test('the same seed is the same world', async () => {
  const [one, other] = [
    await simulateSeed(1, { world: 'restore' }),
    await simulateSeed(1, { world: 'restore' }),
  ]
  assert.equal(one.digest, other.digest)
})

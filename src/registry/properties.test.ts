import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRegistry } from '../../test/chaos/properties/registry.ts'
import { loadSeeds } from '../../test/chaos/properties/seeds.ts'

/**
 * Number of random objects. They take about a second; test/chaos/properties/main.ts checks more.
 */
const RUNS = 2_000

test('the properties of all rules hold for random objects', async () => {
  const { decoded, accepted } = checkRegistry(await loadSeeds(), { runs: RUNS, seed: 1 })
  assert.ok(decoded > RUNS / 4 && accepted > RUNS / 20, `${decoded} decoded, ${accepted} accepted`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRegistry } from '../../test/chaos/properties/registry.ts'
import { loadSeeds } from '../../test/chaos/properties/seeds.ts'

/**
 * Number of random objects. Testing them takes about a second. test/chaos/properties/main.ts tests
 * more objects.
 */
const RUNS = 2_000

test('for random objects, defaulting is idempotent, validation never throws, and all encodings of an object agree', async () => {
  const { decoded, accepted } = checkRegistry(await loadSeeds(), { runs: RUNS, seed: 1 })
  assert.ok(decoded > RUNS / 4 && accepted > RUNS / 20, `${decoded} decoded, ${accepted} accepted`)
})

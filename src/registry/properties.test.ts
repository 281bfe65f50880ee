import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRegistry } from '../../test/chaos/properties/registry.ts'
import { loadSeeds } from '../../test/chaos/properties/seeds.ts'

/** A second of it; test/chaos/properties/main.ts does more. */
const RUNS = 2_000

test('rules hold for whatever is sent', async () => {
  const { decoded, accepted } = checkRegistry(await loadSeeds(), { runs: RUNS, seed: 1 })
  assert.ok(decoded > RUNS / 4 && accepted > RUNS / 20, `${decoded} decoded, ${accepted} accepted`)
})

/**
 * Checks the rules in registry.ts with 100,000 randomly changed objects of all kinds: `node
 * test/chaos/properties/main.ts [--runs N] [--seed S]`.
 */
import { parseArgs } from 'node:util'
import { checkRegistry } from './registry.ts'
import { loadSeeds } from './seeds.ts'

const RUNS = '100000'

const { values } = parseArgs({
  options: { runs: { type: 'string', default: RUNS }, seed: { type: 'string' } },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const { runs, decoded, accepted, kinds } = checkRegistry(await loadSeeds(), {
  runs: Number(values.runs),
  seed,
})
console.log(
  `seed ${seed}: ${runs} objects, ${decoded} decoded, ${accepted} accepted of ${kinds.size} kinds; all rules hold`,
)

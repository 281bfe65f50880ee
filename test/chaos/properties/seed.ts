/**
 * Loaded before the unit tests. Property tests use the same values in each run, so that a failure
 * in CI is caused by the change and not by chance. `KEELSON_SEED=random npm test` tries other
 * values; each failure reports the seed that reproduces it.
 *
 * Work in parts that is not the same each time throws an error here. Outside of tests it is
 * repeated at once, without a pause.
 */
import fc from 'fast-check'
import { unsteadyWork } from '../../../src/lib/scheduling/parts.ts'

const seed = process.env['KEELSON_SEED'] ?? '20261115'
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) })

unsteadyWork.report = (message) => {
  throw new Error(message)
}
